//! `hand-back`: removes from statuses what OLM v0 does not know and would leave as it is for ever.

use std::fmt::Debug;

use anyhow::{Context, Result};
use k8s_openapi::NamespaceResourceScope;
use kube::api::{Patch, PatchParams};
use kube::{Resource, ResourceExt};
use olm_client::Cluster;
use olm_types::api::{CatalogSource, Subscription};
use olm_types::conditions::{catalog_source, subscription};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::Outcome;
use crate::output::Output;

/// Who writes, for the API server's records.
const MANAGER: &str = "kubectl-olm";

/// Takes the conditions that only olm-rs keeps up to date out of all Subscriptions and CatalogSources.
pub async fn run(cluster: &Cluster, home: Option<&str>, output: Output) -> Result<Outcome> {
    let subscriptions = clean::<Subscription>(cluster, home, &subscription::OURS).await?;
    let catalogs = clean::<CatalogSource>(cluster, home, &catalog_source::OURS).await?;
    let text = format!(
        "{subscriptions} Subscriptions and {catalogs} CatalogSources say only what OLM v0 keeps up to date.\n"
    );
    output.print(&text)?;
    Ok(Outcome::Fine)
}

/// How many were changed.
async fn clean<K>(cluster: &Cluster, home: Option<&str>, ours: &[&str]) -> Result<usize>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    K: Clone + Debug + DeserializeOwned + Serialize,
{
    let mut changed = 0;
    for object in cluster.list(&cluster.api::<K>(home)).await? {
        let value = serde_json::to_value(&object).context("an object cannot be written")?;
        let Some(status) = without(&value, ours) else { continue };
        let namespace = object.namespace().unwrap_or_default();
        let patch = Patch::Merge(json!({
            "metadata": {"resourceVersion": object.resource_version()},
            "status": status,
        }));
        let parameters =
            PatchParams { field_manager: Some(MANAGER.to_owned()), ..Default::default() };
        let api = cluster.api::<K>(Some(&namespace));
        let name = object.name_any();
        let written = cluster.answer(api.patch_status(&name, &parameters, &patch)).await;
        written.with_context(|| format!("cannot change {} {namespace}/{name}", K::kind(&())))?;
        changed += 1;
    }
    Ok(changed)
}

/// The fields of the status that have to be others; none if nothing of ours is there.
fn without(object: &Value, ours: &[&str]) -> Option<Value> {
    let status = object.get("status")?;
    let conditions = status.get("conditions").and_then(Value::as_array);
    let is_ours =
        |condition: &Value| condition["type"].as_str().is_some_and(|kind| ours.contains(&kind));
    let all = conditions.into_iter().flatten();
    let left: Vec<Value> = all.clone().filter(|condition| !is_ours(condition)).cloned().collect();
    let is_there = left.len() < all.count() || status.get("observedGeneration").is_some();
    is_there.then(|| json!({"conditions": left, "observedGeneration": null}))
}

#[cfg(test)]
mod tests {
    use olm_types::conditions::readiness;
    use rstest::rstest;

    use super::*;

    fn of(kinds: &[&str]) -> Value {
        let conditions: Vec<Value> = kinds.iter().map(|kind| json!({"type": kind})).collect();
        json!({"status": {"conditions": conditions}})
    }

    #[test]
    fn only_what_v0_knows_is_left() {
        let known = ["CatalogSourcesUnhealthy", "ResolutionFailed"];
        assert_eq!(without(&of(&known), &subscription::OURS), None);
        let all =
            of(&["CatalogSourcesUnhealthy", "Ready", "UpgradeHeld", "ResolutionFailed", "Stalled"]);
        let left = without(&all, &subscription::OURS).unwrap();
        assert_eq!(left["conditions"], of(&known)["status"]["conditions"]);
        assert_eq!(without(&json!({"metadata": {}}), &subscription::OURS), None);
    }

    /// Of Subscriptions and of CatalogSources each condition that says how ready they are, and each other one of ours.
    #[rstest]
    #[case::subscriptions(&subscription::OURS, "ResolutionFailed")]
    #[case::catalog_sources(&catalog_source::OURS, "ResolvedImage")]
    fn each_condition_of_ours_goes(#[case] ours: &[&str], #[case] known: &str) {
        for kind in readiness::ALL.iter().chain(ours) {
            let left = without(&of(&[known, *kind]), ours).unwrap();
            assert_eq!(left["conditions"], of(&[known])["status"]["conditions"], "{kind}");
        }
        assert_eq!(without(&of(&[known]), ours), None);
        let generation = json!({"status": {"observedGeneration": 3}});
        let left = without(&generation, ours).unwrap();
        assert_eq!(left, json!({"conditions": [], "observedGeneration": null}));
    }
}
