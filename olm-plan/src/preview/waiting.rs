//! InstallPlans of the Subscription that are there already.
//!
//! One that waits for approval was made before and is approved as it is: what it brings once more, because it has been
//! installed since, is shown with the rest. One that is being executed comes before the next version is planned.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use olm_lifecycle::install_plan::request::PlanRequest;
use olm_lifecycle::subscription::resolution::{
    Namespace, Selection, unfinished, waits_for_its_plan,
};
use olm_lifecycle::unpack::BundleReference;
use olm_types::api::{InstallPlan, Step, StepStatus, Subscription};

use super::PreviewRequest;
use super::forward::own_csvs;
use super::namespace::namespace;
use super::result::Preview;
use super::world::World;
use crate::observed::name;
use crate::settings::Flavour;

/// Subscriptions that wait for their InstallPlans, and the CSVs that they get by them, whatever their catalogs have by
/// now. OLM v0 resolves all of a namespace anew unless all of them wait.
pub(super) fn pending(asked: &PreviewRequest, world: &World<'_>) -> BTreeMap<String, String> {
    let namespace = namespace(asked, world, &own_csvs(world, &asked.namespace));
    let waits = |one: &&Arc<Subscription>| waits_for_its_plan(&namespace, one);
    let all = &namespace.subscriptions;
    if asked.settings.flavour == Flavour::V0 && !all.iter().all(|one| waits(&one)) {
        return BTreeMap::new();
    }
    let waiting = all.iter().filter(waits).filter_map(|one| {
        let csv = one.status.as_ref()?.current_csv.clone()?;
        Some((name(&one.metadata).to_owned(), csv))
    });
    waiting.collect()
}

/// Adds to the request what the Subscription's plan that waits brings once more, and says so. Steps whose manifests OLM
/// reads in the ConfigMap of an unpacked bundle are returned instead: they are about what is installed, and are listed
/// without being executed.
pub(super) fn repeat(
    namespace: &Namespace,
    request: &mut PlanRequest,
    preview: &mut Preview,
) -> Vec<Step> {
    let Some(plan) = waiting(namespace, &preview.subscription) else { return Vec::new() };
    let repeated = repeated(namespace, plan, request);
    let csvs: BTreeSet<&str> = repeated.iter().map(|step| step.resolving.as_str()).collect();
    if !csvs.is_empty() {
        let csvs = csvs.into_iter().collect::<Vec<_>>().join(", ");
        preview.notes.push(format!(
            "InstallPlan {} was made before {csvs} was installed, and brings it once more",
            name(&plan.metadata)
        ));
    }
    let (referring, inline): (Vec<Step>, Vec<Step>) = repeated.into_iter().partition(refers);
    request.steps.extend(inline);
    referring
}

/// The steps of a plan about CSVs that are installed already, where it otherwise brings what the request does.
fn repeated(namespace: &Namespace, plan: &InstallPlan, request: &PlanRequest) -> Vec<Step> {
    let is_there = |csv: &String| namespace.csvs.contains_key(csv);
    let open = |plan: &InstallPlan| -> BTreeSet<String> {
        let names = plan.spec.cluster_service_version_names.iter();
        names.filter(|&csv| !is_there(csv)).cloned().collect()
    };
    if open(plan) != open(&request.object(&[])) {
        return Vec::new();
    }
    let key = |step: &Step| (step.resource.kind.clone(), step.resource.name.clone());
    let resolved: BTreeSet<(String, String)> = request.steps.iter().map(key).collect();
    let steps = plan.status.iter().flat_map(|status| &status.plan);
    let more = steps.filter(|&step| is_there(&step.resolving) && !resolved.contains(&key(step)));
    more.map(|step| Step { status: StepStatus::Unknown, ..step.clone() }).collect()
}

/// The plan of the Subscription, if it waits for approval.
fn waiting<'a>(namespace: &'a Namespace, subscription: &str) -> Option<&'a InstallPlan> {
    let mut all = namespace.subscriptions.iter();
    let own = all.find(|one| name(&one.metadata) == subscription)?;
    let reference = own.status.as_ref()?.install_plan_ref.as_ref()?.name.as_deref()?;
    let mut plans = namespace.plans.iter().map(AsRef::as_ref);
    plans.find(|plan: &&InstallPlan| name(&plan.metadata) == reference && plan.waits_for_approval())
}

fn refers(step: &Step) -> bool {
    step.resource.manifest.as_deref().is_some_and(|text| BundleReference::parse(text).is_some())
}

/// Why the plan for a selection is not made yet: another one, which does not bring what is selected, is executed.
pub(super) fn comes_first(
    asked: &PreviewRequest,
    namespace: &Namespace,
    selection: &Selection,
) -> Option<String> {
    let first = unfinished(namespace, selection, Duration::MAX, asked.now)?;
    if selection.updates.values().any(|csv| first.to_come.contains(csv)) {
        return None;
    }
    let (plan, csvs) = (first.plan, first.to_come.join(", "));
    Some(format!(
        "InstallPlan {plan} is being executed and still brings {csvs}: the next version is planned when that is there"
    ))
}
