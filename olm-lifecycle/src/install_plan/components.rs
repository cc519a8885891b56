//! Which component labels the CSVs of a plan get: those of the Subscriptions that will have installed
//! them (spec olm-operator 6.2).
//!
//! A plan may be executed before its Subscriptions say that they follow it. So a Subscription to the
//! package of a CSV counts as well, as does one that the plan itself generates.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use olm_types::api::{ClusterServiceVersion, Step, Subscription};
use olm_types::document::{Budget, json_as};
use olm_types::labels::{component, is_label_key};
use serde::Deserialize;

use super::package;
use crate::operator::operator_name;

/// The keys of the labels, by name of the CSV; CSVs without any are left out.
pub fn keys(
    steps: &[Step],
    subscriptions: &[Arc<Subscription>],
    namespace: &str,
) -> BTreeMap<String, BTreeSet<String>> {
    let staying: Vec<&Subscription> =
        subscriptions.iter().map(AsRef::as_ref).filter(|one| stays(one)).collect();
    let csvs = steps.iter().filter(|step| step.resource.kind == ClusterServiceVersion::KIND);
    let labelled = csvs.map(|csv| {
        let packages = packages(csv, steps, &staying);
        let keys = packages.iter().filter_map(|package| key_of(package, namespace));
        (csv.resource.name.clone(), keys.collect::<BTreeSet<_>>())
    });
    labelled.filter(|(_, keys)| !keys.is_empty()).collect()
}

/// The key of the label of the Operator of a package; nothing when an API server would refuse it.
pub(crate) fn key_of(package: &str, namespace: &str) -> Option<String> {
    let key = component(&operator_name(package, namespace)).ok()?;
    (!package.is_empty() && is_label_key(&key)).then_some(key)
}

/// The packages of the Subscriptions that will have installed a CSV.
fn packages(csv: &Step, steps: &[Step], subscriptions: &[&Subscription]) -> BTreeSet<String> {
    let following = subscriptions.iter().filter(|one| follows(one, &csv.resource.name));
    let following: BTreeSet<String> = following.map(|one| one.spec.name.clone()).collect();
    if !following.is_empty() {
        return following;
    }
    let generated = steps
        .iter()
        .filter(|step| step.resource.kind == Subscription::KIND && step.resolving == csv.resolving);
    let generated = generated.filter_map(generated_package);
    let of_csv = package::all_of_step(csv)
        .into_iter()
        .filter(|package| subscriptions.iter().any(|one| one.spec.name == *package));
    generated.chain(of_csv).collect()
}

fn stays(subscription: &Subscription) -> bool {
    subscription.metadata.deletion_timestamp.is_none()
}

fn follows(subscription: &Subscription, csv: &str) -> bool {
    subscription.status.as_ref().is_some_and(|status| {
        [&status.current_csv, &status.installed_csv].iter().any(|name| name.as_deref() == Some(csv))
    })
}

/// The package of the Subscription that a step creates.
fn generated_package(step: &Step) -> Option<String> {
    #[derive(Deserialize)]
    struct Manifest {
        spec: Spec,
    }
    #[derive(Deserialize)]
    struct Spec {
        name: String,
    }
    let manifest = step.resource.manifest.as_deref()?;
    json_as::<Manifest>(manifest, &Budget::OBJECT).ok().map(|manifest| manifest.spec.name)
}

#[cfg(test)]
mod tests {
    use olm_types::api::StepResource;
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn step(kind: &str, name: &str, manifest: &Value) -> Step {
        let resource = StepResource {
            kind: kind.to_owned(),
            name: name.to_owned(),
            manifest: Some(manifest.to_string()),
            ..StepResource::default()
        };
        Step { resolving: "hen.v1".to_owned(), resource, ..Step::default() }
    }

    fn hen(package: &str) -> Step {
        let properties =
            json!([{"type": "olm.package", "value": {"packageName": package, "version": "1.0.0"}}]);
        let text = json!({ "properties": properties }).to_string();
        let annotations = json!({"operatorframework.io/properties": text});
        step("ClusterServiceVersion", "hen.v1", &json!({"metadata": {"annotations": annotations}}))
    }

    fn generated(package: &str) -> Step {
        step("Subscription", "s", &json!({"spec": {"name": package}}))
    }

    fn subscription(package: &str, status: Value, metadata: Value) -> Arc<Subscription> {
        let spec = json!({"name": package, "source": "c", "sourceNamespace": "ns"});
        let object = json!({"metadata": metadata, "spec": spec, "status": status});
        Arc::new(serde_json::from_value(object).unwrap())
    }

    fn found(steps: &[Step], subscriptions: &[Arc<Subscription>]) -> String {
        let keys = keys(steps, subscriptions, "ns");
        let keys: Vec<String> = keys.into_values().flatten().collect();
        keys.join(" ").replace("operators.coreos.com/", "")
    }

    #[rstest]
    #[case::follows(json!({"currentCSV": "hen.v1", "lastUpdated": null}), "egg", "egg.ns")]
    #[case::installed(json!({"installedCSV": "hen.v1", "lastUpdated": null}), "egg", "egg.ns")]
    #[case::to_its_package(json!(null), "hen", "hen.ns")]
    #[case::to_another(json!(null), "egg", "")]
    #[case::no_label_for_an_api_server(json!(null), "a/b", "")]
    fn labels_are_those_of_subscriptions(
        #[case] status: Value,
        #[case] package: &str,
        #[case] expected: &str,
    ) {
        let csv = hen(if package == "a/b" { package } else { "hen" });
        let one = subscription(package, status, json!({"name": "s"}));
        assert_eq!(found(&[csv], &[one]), expected);
    }

    #[test]
    fn a_generated_subscription_counts_and_one_that_goes_does_not() {
        assert_eq!(found(&[hen("hen"), generated("hen")], &[]), "hen.ns");
        let going = json!({"name": "s", "deletionTimestamp": "2026-01-01T00:00:00Z"});
        let going = subscription("hen", json!(null), going);
        assert_eq!(found(&[hen("hen")], &[going]), "");
        assert_eq!(found(&[hen("hen")], &[]), "", "a plan that a tool wrote has no Subscription");
    }
}
