//! CSVs that cannot work: the status says why, nothing panics, nothing loops.

use super::fixtures::*;
use super::world::World;
use rstest::rstest;
use serde_json::{Value, json};

/// Passes until the state stays, which must be soon; the state.
fn converge(world: &mut World, name: &str) -> String {
    for _ in 0..12 {
        let before = world.get("ClusterServiceVersion", name).unwrap().clone();
        world.next(name);
        if world.get("ClusterServiceVersion", name) == Some(&before) {
            return world.state(name);
        }
    }
    panic!("still changing: {}", world.state(name));
}

#[rstest]
#[case::crd_without_dot(
    |csv: &mut Value| own(csv, &["good.g", "nodot"]),
    "Failed/InvalidInstallStrategy install strategy invalid: \
     spec.customresourcedefinitions.owned[1].name: CRD name \"nodot\" is malformed: it must be \
     <plural>.<group>, for example \"widgets.example.com\"")]
#[case::required_crd_without_dot(
    |csv: &mut Value| require(csv, &["nodot"]),
    "Failed/InvalidInstallStrategy install strategy invalid: \
     spec.customresourcedefinitions.required[0].name: CRD name \"nodot\" is malformed: it must be \
     <plural>.<group>, for example \"widgets.example.com\"")]
#[case::spec_is_a_text(
    |csv: &mut Value| csv["spec"]["install"]["spec"]["deployments"][0]["spec"] = json!("x"),
    "Failed/InvalidInstallStrategy install strategy invalid: \
     spec.install.spec.deployments[csv-dep].spec: must be an object, not a text")]
#[case::containers_are_an_object(
    |csv: &mut Value| {
        let deployment = &mut csv["spec"]["install"]["spec"]["deployments"][0];
        deployment["spec"]["template"]["spec"]["containers"] = json!({});
    },
    "Failed/InvalidInstallStrategy install strategy invalid: \
     spec.install.spec.deployments[csv-dep].spec.template.spec.containers: must be a list, not an \
     object")]
#[case::container_is_a_number(
    |csv: &mut Value| {
        let deployment = &mut csv["spec"]["install"]["spec"]["deployments"][0];
        deployment["spec"]["template"]["spec"]["containers"] = json!([7]);
    },
    "Failed/InvalidInstallStrategy install strategy invalid: \
     spec.install.spec.deployments[csv-dep].spec.template.spec.containers[0]: must be an object, \
     not a number")]
#[case::rule_without_verbs(
    |csv: &mut Value| {
        csv["spec"]["install"]["spec"]["permissions"] =
            json!([{"serviceAccountName": "sa", "rules": [{"verbs": [], "resources": ["a"]}]}]);
    },
    "Failed/InvalidInstallStrategy install strategy invalid: rule invalid: policy rule must have at \
     least one verb")]
#[case::webhook_without_type(
    |csv: &mut Value| csv["spec"]["webhookdefinitions"] = json!([{"generateName": "w"}]),
    "Failed/InvalidWebhookDescription spec.webhookdefinitions[w].type: there is no webhook of type \
     \"\"; write ValidatingAdmissionWebhook, MutatingAdmissionWebhook or ConversionWebhook")]
#[case::webhook_without_deployment(
    |csv: &mut Value| {
        csv["spec"]["webhookdefinitions"] = json!([
            {"generateName": "w", "type": "ConversionWebhook", "deploymentName": "absent"}
        ]);
    },
    "Failed/InvalidWebhookDescription spec.webhookdefinitions[w].deploymentName: the install \
     strategy has no deployment \"absent\"; name one of spec.install.spec.deployments")]
#[case::api_service_without_deployment(
    |csv: &mut Value| {
        csv["spec"]["apiservicedefinitions"]["owned"] = json!([
            {"name": "as", "group": "g", "version": "v1", "kind": "A", "deploymentName": "absent"}
        ]);
    },
    "Pending/RequirementsNotMet one or more requirements couldn't be found")]
fn the_status_names_field_and_remedy(#[case] harm: fn(&mut Value), #[case] expected: &str) {
    let mut world = World::new();
    world.put(json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "sa"}}));
    world.put(mk_crd("good.g"));
    world.edit("OperatorGroup", "default", |group| {
        group["metadata"]["annotations"] = json!({"olm.providedAPIs": "A.v1.g,K.v1.g"});
    });
    let mut csv = mk_csv("csv");
    harm(&mut csv);
    world.put(csv);
    assert_eq!(converge(&mut world, "csv"), expected);
    assert_eq!(world.get("Deployment", "csv-dep"), None);
}

#[test]
fn a_huge_csv_is_an_ordinary_one() {
    let mut world = World::new();
    let mut csv = mk_csv("csv");
    csv["metadata"]["annotations"]["alm-examples"] = json!("x".repeat(200_000));
    csv["spec"]["description"] = json!("y".repeat(700_000));
    world.put(csv);
    for _ in 0..4 {
        world.next("csv");
    }
    world.set_available("csv-dep", "True", "");
    assert!(world.next("csv").starts_with("Succeeded/"));
    let written = world.get("ClusterServiceVersion", "csv").unwrap();
    assert_eq!(written["spec"]["description"].as_str().unwrap().len(), 700_000);
}

#[test]
fn thousands_of_deployments_are_installed() {
    let mut world = World::new();
    let mut csv = mk_csv_in("csv", "InstallReady", "AllRequirementsMet");
    let deployments: Vec<Value> = (0..2000)
        .map(|index| json!({"name": format!("d{index}"), "spec": mk_deployment_spec()}))
        .collect();
    csv["spec"]["install"]["spec"]["deployments"] = json!(deployments);
    world.put(csv);
    assert!(world.next("csv").starts_with("Installing/"));
    assert!(world.get("Deployment", "d1999").is_some());
}

#[test]
fn an_unknown_phase_starts_anew() {
    let mut world = World::new();
    world.put(mk_csv_in("csv", "Nonsense", "X"));
    assert!(world.next("csv").starts_with("Pending/RequirementsUnknown"));
}

#[test]
fn an_empty_object_is_survived() {
    let observed = crate::csv::Observed::default();
    let step = crate::csv::decide(&observed, jiff::Timestamp::UNIX_EPOCH);
    assert!(matches!(step, crate::csv::Step::Decided(_)));
}
