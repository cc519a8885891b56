//! What is made of a CSV and of what its operator says (spec olm-operator 6.3, 6.4, 8.30).

use std::sync::Arc;

use jiff::Timestamp;
use olm_effect::{Action, Effect};
use rstest::rstest;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Observed, decide};

fn object<K: DeserializeOwned>(value: Value) -> Arc<K> {
    Arc::new(serde_json::from_value(value).unwrap())
}

fn csv(strategy: Value) -> Value {
    json!({
        "metadata": {"name": "a.v1", "namespace": "ns", "uid": "csv-uid"},
        "spec": {"install": {"strategy": "deployment", "spec": strategy}},
    })
}

fn condition(spec: Value, status: Value) -> Value {
    json!({
        "metadata": {"name": "a.v1", "namespace": "ns", "uid": "oc-uid", "generation": 3},
        "spec": spec,
        "status": status,
    })
}

fn said(status: &str, message: &str) -> Value {
    json!({
        "type": "Upgradeable", "status": status, "reason": "R", "message": message,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    })
}

fn pass(observed: &Observed) -> Vec<Effect> {
    decide(observed, Timestamp::UNIX_EPOCH)
}

/// The object that is created, or the patch, or the status.
fn body(effect: &Effect) -> Value {
    match &effect.action {
        Action::Create(object) => object.clone(),
        Action::MergePatch { patch, .. } => patch.clone(),
        Action::Status { object, .. } => object["status"].clone(),
        other => panic!("not expected: {other:?}"),
    }
}

#[test]
fn every_csv_has_one() {
    let strategy = json!({
        "deployments": [{"name": "d1", "spec": {}}, {"name": "d2", "spec": {}}],
        "permissions": [{"serviceAccountName": "a", "rules": []}, {"serviceAccountName": "b", "rules": []}],
        "clusterPermissions": [{"serviceAccountName": "b", "rules": []}],
    });
    let effects = pass(&Observed { csv: Some(object(csv(strategy))), ..Observed::default() });
    insta::assert_json_snapshot!(effects.iter().map(body).collect::<Vec<_>>());
}

#[rstest]
#[case::no_accounts(csv(json!({})), Some(json!(["default"])))]
#[case::copied({
    let mut copy = csv(json!({}));
    copy["metadata"]["labels"] = json!({"olm.copiedFrom": "home"});
    copy
}, None)]
#[case::going({
    let mut going = csv(json!({}));
    going["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    going
}, None)]
fn accounts_that_may_write_it(#[case] csv: Value, #[case] expected: Option<Value>) {
    let effects = pass(&Observed { csv: Some(object(csv)), ..Observed::default() });
    let found = effects.first().map(|effect| body(effect)["spec"]["serviceAccounts"].clone());
    assert_eq!(found, expected);
}

#[test]
fn what_people_put_into_it_stays() {
    let spec = json!({
        "deployments": ["old"], "serviceAccounts": ["default"],
        "overrides": [said("True", "forced")], "conditions": [said("False", "busy")],
    });
    let observed = Observed {
        csv: Some(object(csv(json!({"deployments": [{"name": "new", "spec": {}}]})))),
        condition: Some(object(condition(spec, json!({})))),
        ..Observed::default()
    };
    let patch = body(&pass(&observed)[0]);
    assert_eq!(patch["spec"], json!({"deployments": ["new"], "serviceAccounts": ["default"]}));
    assert_eq!(patch["metadata"]["ownerReferences"][0]["controller"], true);
}

#[test]
fn its_accounts_may_write_it_and_nothing_is_written_twice() {
    let spec = json!({"deployments": ["d"], "serviceAccounts": ["a", "b", "a"]});
    let condition = object(condition(spec, json!({})));
    let observed = Observed { condition: Some(condition), ..Observed::default() };
    let effects = pass(&observed);
    let bodies: Vec<Value> = effects.iter().map(body).collect();
    insta::assert_json_snapshot!(bodies);
    let converged = Observed {
        role: Some(object(bodies[0].clone())),
        role_binding: Some(object(bodies[1].clone())),
        ..observed.clone()
    };
    assert_eq!(pass(&converged), []);
    let mut drifted = bodies[0].clone();
    drifted["rules"][0]["verbs"] = json!(["get"]);
    let drifted = Observed { role: Some(object(drifted)), ..converged.clone() };
    assert_eq!(body(&pass(&drifted)[0])["rules"], bodies[0]["rules"]);
    let mut elsewhere = bodies[1].clone();
    elsewhere["roleRef"]["name"] = json!("other");
    let elsewhere = Observed { role_binding: Some(object(elsewhere)), ..converged };
    assert!(matches!(pass(&elsewhere)[0].action, Action::Delete { .. }));
}

#[rstest]
#[case::new(json!([]), Some(3), "2026-01-01T00:00:00Z")]
#[case::other_status(json!([acknowledged("True", 3)]), Some(3), "2026-01-01T00:00:00Z")]
#[case::stale(json!([acknowledged("False", 2)]), Some(3), "2025-01-01T00:00:00Z")]
#[case::known(json!([acknowledged("False", 3)]), None, "")]
fn acknowledged_conditions(
    #[case] known: Value,
    #[case] generation: Option<i64>,
    #[case] since: &str,
) {
    let spec = json!({"conditions": [said("False", "busy")]});
    let condition = object(condition(spec, json!({"conditions": known})));
    let effects = pass(&Observed { condition: Some(condition), ..Observed::default() });
    let status = effects.iter().find(|effect| matches!(effect.action, Action::Status { .. }));
    assert_eq!(status.is_some(), generation.is_some());
    if let Some(status) = status.map(body) {
        assert_eq!(status["conditions"][0]["observedGeneration"], json!(generation));
        assert_eq!(status["conditions"][0]["lastTransitionTime"], since);
        assert_eq!(status["conditions"][0]["message"], "busy");
    }
}

fn acknowledged(status: &str, generation: i64) -> Value {
    let mut condition = said(status, "earlier");
    condition["observedGeneration"] = json!(generation);
    condition["lastTransitionTime"] = json!("2025-01-01T00:00:00Z");
    condition
}
