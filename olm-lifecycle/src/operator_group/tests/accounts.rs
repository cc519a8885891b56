//! The account that a group names: missing, found and labelled, named no more.

use super::*;

fn mk_account(labels: Value) -> Arc<ServiceAccount> {
    let metadata = json!({"name": "sa", "namespace": "op", "uid": "u-sa", "resourceVersion": "3", "labels": labels});
    Arc::new(serde_json::from_value(json!({ "metadata": metadata })).unwrap())
}

fn with_account(status: Option<Value>) -> Observed {
    let spec = json!({"targetNamespaces": ["op"], "serviceAccountName": "sa"});
    mk_observed(mk_group(spec, status, ""))
}

#[test]
fn a_missing_account_is_reported_until_it_is_there() {
    let mut observed = with_account(None);
    let decision = decide(&observed, now());
    let status = written_status(&decision).unwrap();
    assert_eq!(
        status["conditions"],
        json!([{
            "type": "OperatorGroupServiceAccount",
            "status": "True",
            "reason": "ServiceAccountNotFound",
            "message": "ServiceAccount sa not found",
            "lastTransitionTime": "2026-01-02T03:04:05Z",
        }])
    );
    assert_eq!(
        decision.notes,
        ["failed to get service account, sa=sa serviceaccounts \"sa\" not found"]
    );
    observed = with_account(Some(status));
    observed.service_account = Some(mk_account(json!({"olm.managed": "true"})));
    let status = written_status(&decide(&observed, now())).unwrap();
    assert_eq!(status.get("conditions"), None);
    assert_eq!(
        status["serviceAccountRef"],
        json!({"kind": "ServiceAccount", "apiVersion": "v1", "namespace": "op", "name": "sa",
            "uid": "u-sa", "resourceVersion": "3"})
    );
    let converged = Observed { group: with_account(Some(status)).group, ..observed };
    assert!(written_status(&decide(&converged, now())).is_none());
}

#[test]
fn an_account_is_labelled_before_it_is_referred_to() {
    let mut observed = with_account(None);
    observed.service_account = Some(mk_account(json!({})));
    let effects = decide(&observed, now()).effects;
    let [Effect { action: Action::Apply { object, manager, force }, .. }] = effects.as_slice()
    else {
        panic!("{effects:?}")
    };
    assert_eq!((manager.as_str(), force), ("operator-lifecycle-manager", &false));
    assert_eq!(object["metadata"]["labels"], json!({"olm.managed": "true"}));
}

#[test]
fn an_account_that_is_named_no_more_leaves_nothing_behind() {
    let status = json!({
        "namespaces": ["op"], "lastUpdated": "2020-01-01T00:00:00Z",
        "serviceAccountRef": {"kind": "ServiceAccount", "name": "sa"},
        "conditions": [{"type": "OperatorGroupServiceAccount", "status": "True", "reason": "ServiceAccountNotFound",
            "message": "x", "lastTransitionTime": "2020-01-01T00:00:00Z"}],
    });
    let group = mk_group(json!({"targetNamespaces": ["op"]}), Some(status), "");
    let written = written_status(&decide(&mk_observed(group), now())).unwrap();
    let expected = json!({"namespaces": ["op"], "lastUpdated": "2026-01-02T03:04:05Z"});
    assert_eq!(written, expected);
}
