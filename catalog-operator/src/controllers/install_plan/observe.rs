//! What is known about an InstallPlan.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use kube::ResourceExt;
use olm_lifecycle::crd;
use olm_lifecycle::install_plan::phase::Observed;
use olm_lifecycle::tenancy::StepTrust;
use olm_types::api::InstallPlan;

use super::surroundings;
use crate::catalogs::Catalogs;
use crate::stores::Stores;

/// What the command line says about plans.
pub(super) struct PlanSettings<'a> {
    pub(super) operator_namespace: &'a str,
    pub(super) retry_timeout: Duration,
    pub(super) keeps_stored_versions: bool,
}

/// Gathers the plan's surroundings.
pub(super) fn observe(
    plan: Arc<InstallPlan>,
    stores: &Stores,
    catalogs: &Catalogs,
    settings: PlanSettings<'_>,
    rights_changed: bool,
    trust: StepTrust,
) -> Observed {
    let namespace = plan.namespace().unwrap_or_default();
    let csvs = stores.csvs.list();
    let names = csvs.iter().map(|csv| (csv.namespace().unwrap_or_default(), csv.name_any()));
    let names: BTreeSet<_> = names.collect();
    let here = csvs.iter().filter(|csv| csv.namespace().as_deref() == Some(&*namespace));
    let replaced = here.filter_map(|csv| csv.spec.replaces.clone());
    let is_gone = |name: &String| !names.contains(&(namespace.clone(), name.clone()));
    Observed {
        siblings: stores.plans.list_in(&namespace),
        around: surroundings::stored(&plan, stores, catalogs),
        groups: stores.groups.list_in(&namespace),
        replaced: replaced.filter(is_gone).collect(),
        csvs: names,
        crd_owners: crd::owners(&csvs),
        guarded: BTreeSet::new(),
        rights_changed,
        operator_namespace: settings.operator_namespace.to_owned(),
        retry_timeout: settings.retry_timeout,
        keeps_stored_versions: settings.keeps_stored_versions,
        trust,
        plan,
    }
}
