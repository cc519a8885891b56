//! Manifests in the steps of an InstallPlan that was made and not executed yet: exactly what an approval
//! approves.

use std::sync::Arc;

use olm_lifecycle::install_plan::steps::{BundleInput, bundle_steps};
use olm_lifecycle::unpack::{BundleReference, UnpackedBundle};
use olm_plan::preview::Known;
use olm_types::api::{ClusterServiceVersion, InstallPlan, InstallPlanPhase, Step, Subscription};
use olm_types::bundle::Entry;

/// The bundle in the steps of a plan of the namespace, if they hold its manifests.
pub(super) fn bundle(known: &Known, entry: &Entry) -> Option<UnpackedBundle> {
    let plans = known.objects.iter().filter(|(key, _)| key.kind == InstallPlan::KIND);
    let mut plans = plans.filter_map(|(_, object)| {
        let plan: InstallPlan = serde_json::from_value(object.clone()).ok()?;
        is_ahead(&plan).then_some(plan)
    });
    plans.find_map(|plan| of_plan(&plan, entry))
}

fn is_ahead(plan: &InstallPlan) -> bool {
    !matches!(plan.phase(), InstallPlanPhase::Complete | InstallPlanPhase::Failed)
}

fn of_plan(plan: &InstallPlan, entry: &Entry) -> Option<UnpackedBundle> {
    let steps = plan.status.iter().flat_map(|status| &status.plan);
    let is_own = |step: &&Step| {
        let source = &step.resource;
        step.resolving == *entry.name
            && source.source_name == *entry.catalog.name
            && source.source_namespace == *entry.catalog.namespace
            && source.kind != Subscription::KIND
    };
    let own: Vec<&Step> = steps.filter(is_own).collect();
    let csv = own.iter().find(|step| step.resource.kind == ClusterServiceVersion::KIND)?;
    let csv_json = manifest(csv)?.to_owned();
    let generated = generated(plan, entry, &csv_json)?;
    let objects: Option<Vec<String>> =
        created(&own, generated).iter().map(|step| manifest(step).map(str::to_owned)).collect();
    Some(UnpackedBundle { csv_name: entry.name.to_string(), csv_json, objects: objects? })
}

/// What stands in a step; none where that refers to a ConfigMap.
fn manifest(step: &Step) -> Option<&str> {
    let manifest = step.resource.manifest.as_deref()?;
    BundleReference::parse(manifest).is_none().then_some(manifest)
}

/// The steps that hold objects of the bundle. A bundle may bring an object that OLM makes, too, such as the account
/// of its permissions: OLM's step is the later one.
fn created<'a>(own: &[&'a Step], mut generated: Vec<StepObject>) -> Vec<&'a Step> {
    let mut created = Vec::new();
    for step in own.iter().rev() {
        match generated.iter().position(|one| *one == place(step)) {
            Some(found) => drop(generated.swap_remove(found)),
            None => created.push(*step),
        }
    }
    created.reverse();
    created
}

/// Kind and name.
type StepObject = (String, String);

fn place(step: &Step) -> StepObject {
    (step.resource.kind.clone(), step.resource.name.clone())
}

/// The steps that OLM makes of the CSV alone: they are no objects of the bundle.
fn generated(plan: &InstallPlan, entry: &Entry, csv_json: &str) -> Option<Vec<StepObject>> {
    let input = BundleInput {
        entry: Arc::new(entry.clone()),
        replaces: None,
        csv_json: csv_json.to_owned(),
        objects: vec![csv_json.to_owned()],
    };
    let namespace = plan.metadata.namespace.as_deref().unwrap_or_default();
    let steps = bundle_steps(&input, namespace).ok()?;
    let made = steps.iter().filter(|step| step.resource.kind != ClusterServiceVersion::KIND);
    Some(made.map(place).collect())
}

#[cfg(test)]
mod tests {
    use olm_types::bundle::CatalogKey;
    use serde_json::{Value, json};

    use super::*;

    fn entry() -> Entry {
        Entry {
            in_default_channel: true,
            ..Entry::new(CatalogKey::new("ns", "c"), "a", "stable", "a.v1")
        }
    }

    fn csv() -> Value {
        let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
        json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
            "metadata": {"name": "a.v1"}, "spec": {"install": {"strategy": "deployment", "spec": {
                "deployments": [], "permissions": [{"serviceAccountName": "a", "rules": rules}]}}}})
    }

    fn known(phase: &str, objects: &[Value]) -> Known {
        let input = BundleInput {
            entry: Arc::new(entry()),
            replaces: None,
            csv_json: csv().to_string(),
            objects: objects.iter().map(Value::to_string).collect(),
        };
        let steps = bundle_steps(&input, "ns").unwrap();
        let mut known = Known::default();
        known.add(json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "InstallPlan",
            "metadata": {"name": "p", "namespace": "ns"}, "spec": {"clusterServiceVersionNames": []},
            "status": {"phase": phase, "plan": steps}}));
        known
    }

    fn config_map() -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}})
    }

    #[test]
    fn a_bundle_has_what_its_steps_bring_and_not_what_olm_makes() {
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount",
            "metadata": {"name": "a", "annotations": {"of": "the-bundle"}}});
        let known = known("RequiresApproval", &[csv(), account.clone(), config_map()]);
        let found = bundle(&known, &entry()).unwrap();
        let objects: Vec<Value> =
            found.objects.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
        let mut kinds: Vec<&str> =
            objects.iter().filter_map(|object| object["kind"].as_str()).collect();
        kinds.sort_unstable();
        assert_eq!(kinds, ["ClusterServiceVersion", "ConfigMap", "ServiceAccount"]);
        assert!(found.objects.iter().any(|text| text.contains("the-bundle")), "not the one of OLM");
        let other = Entry { catalog: CatalogKey::new("ns", "other"), ..entry() };
        assert_eq!(bundle(&known, &other), None);
    }

    #[test]
    fn a_plan_that_is_done_says_nothing_of_what_comes() {
        assert_eq!(bundle(&known("Complete", &[csv()]), &entry()), None);
        assert_eq!(bundle(&known("Failed", &[csv()]), &entry()), None);
    }
}
