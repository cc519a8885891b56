//! What was resolved and why, read from the InstallPlan.

use anyhow::{Context, Result, ensure};
use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt};
use olm_types::annotations;
use olm_types::api::{ClusterServiceVersion, CrdDescription, InstallPlan, Subscription};

use super::timeline::Timeline;

/// Prints every ClusterServiceVersion of a plan with the reason for it.
pub(super) async fn resolution(
    timeline: &Timeline,
    client: &Client,
    namespace: &str,
    plan: &InstallPlan,
) -> Result<()> {
    let subscriptions: Api<Subscription> = Api::namespaced(client.clone(), namespace);
    let subscriptions =
        subscriptions.list(&ListParams::default()).await.context("cannot list Subscriptions")?;
    let csvs = csvs(plan)?;
    timeline
        .event("InstallPlan", format!("{}: {} operators resolved", plan.name_any(), csvs.len()));
    for csv in &csvs {
        let reason = asked_for(csv, &subscriptions.items).or_else(|| needed_by(csv, &csvs));
        let reason = reason.with_context(|| format!("nothing explains {}", csv.name_any()))?;
        timeline.detail(format!("{:<18} {reason}", csv.name_any()));
    }
    Ok(())
}

/// The ClusterServiceVersions in the steps of a plan.
fn csvs(plan: &InstallPlan) -> Result<Vec<ClusterServiceVersion>> {
    let steps = plan.status.as_ref().map_or(&[][..], |status| &status.plan);
    let wanted = steps.iter().filter(|step| step.resource.kind == "ClusterServiceVersion");
    let parsed = wanted.map(|step| {
        let manifest = step.resource.manifest.as_deref().unwrap_or_default();
        serde_json::from_str(manifest).context("a step holds no ClusterServiceVersion")
    });
    let csvs: Vec<ClusterServiceVersion> = parsed.collect::<Result<_>>()?;
    ensure!(!csvs.is_empty(), "the plan installs nothing");
    Ok(csvs)
}

/// A Subscription that a person made and that this version answers.
fn asked_for(csv: &ClusterServiceVersion, subscriptions: &[Subscription]) -> Option<String> {
    let by_a_person = |subscription: &&Subscription| {
        !subscription.annotations().contains_key(annotations::GENERATED_BY)
    };
    let answers = |subscription: &&Subscription| {
        let current = subscription.status.as_ref().and_then(|status| status.current_csv.as_deref());
        current == csv.metadata.name.as_deref()
    };
    let subscription = subscriptions.iter().filter(by_a_person).find(answers)?;
    let channel = subscription.spec.channel.as_deref().unwrap_or("default");
    Some(format!("because Subscription {} asks for channel {channel}", subscription.name_any()))
}

/// Another version of the plan that requires what this one owns.
fn needed_by(csv: &ClusterServiceVersion, plan: &[ClusterServiceVersion]) -> Option<String> {
    let owned = crds(csv, |crds| &crds.owned);
    plan.iter().find_map(|other| {
        let required = crds(other, |crds| &crds.required);
        let api = required.iter().find(|need| {
            owned.iter().any(|have| (&have.name, &have.version) == (&need.name, &need.version))
        })?;
        let name = other.name_any();
        Some(format!("because {name} requires {} {} ({})", api.kind, api.version, api.name))
    })
}

fn crds(
    csv: &ClusterServiceVersion,
    list: impl Fn(&olm_types::api::CustomResourceDefinitions) -> &Vec<CrdDescription>,
) -> &[CrdDescription] {
    csv.spec.customresourcedefinitions.as_ref().map_or(&[], |crds| list(crds))
}
