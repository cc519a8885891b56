//! What OpenShift's pages on OperatorGroups and their intersection promise about the sync of a group
//! (spec olm-operator 4.4 to 4.6).

use std::sync::Arc;

use jiff::Timestamp;
use olm_effect::{Action, Effect};
use olm_types::api::{ClusterServiceVersion, OperatorGroup};
use rstest::rstest;
use serde_json::{Value, json};

use crate::operator_group::{Decision, Observed, decide};

/// A group in `op` that lists `apis`, with the targets that it had.
fn mk_observed(spec: Value, namespaces: Value, apis: &str) -> Observed {
    let group: OperatorGroup = serde_json::from_value(json!({
        "metadata": {
            "name": "og", "namespace": "op", "uid": "u",
            "annotations": {"olm.providedAPIs": apis},
        },
        "spec": spec,
        "status": {"namespaces": namespaces, "lastUpdated": "2026-01-01T00:00:00Z"},
    }))
    .unwrap();
    Observed {
        group: Arc::new(group),
        groups_in_namespace: 1,
        is_oldest: true,
        ..Observed::default()
    }
}

fn mk_member(crd: &str) -> Arc<ClusterServiceVersion> {
    let owned = json!([{"name": crd, "version": "v1", "kind": "A"}]);
    let csv = json!({
        "metadata": {"name": "csv", "namespace": "op"},
        "spec": {"customresourcedefinitions": {"owned": owned}},
        "status": {"phase": "Succeeded"},
    });
    Arc::new(serde_json::from_value(csv).unwrap())
}

/// What is decided once the roles are there.
fn converged(mut observed: Observed) -> Decision {
    let now = Timestamp::UNIX_EPOCH;
    let role = |effect: Effect| match effect.action {
        Action::Create(role) => Some(Arc::new(serde_json::from_value(role).unwrap())),
        _ => None,
    };
    observed.roles = decide(&observed, now).effects.into_iter().filter_map(role).collect();
    decide(&observed, now)
}

/// "A global OperatorGroup's status.namespace contains the empty string".
#[test]
fn a_global_group_lists_the_empty_string() {
    let observed = mk_observed(json!({}), json!([]), "");
    let decision = decide(&observed, Timestamp::UNIX_EPOCH);
    let [Effect { action: Action::Status { object, .. }, .. }] = decision.effects.as_slice() else {
        panic!("{decision:?}")
    };
    assert_eq!(object["status"]["namespaces"], json!([""]));
}

/// "When an OperatorGroup is created, three ClusterRoles are generated."
#[test]
fn a_group_gets_three_roles() {
    let observed = mk_observed(json!({"targetNamespaces": ["op"]}), json!(["op"]), "");
    let decision = decide(&observed, Timestamp::UNIX_EPOCH);
    let created = decision.effects.iter().filter(|effect| {
        matches!(effect.action, Action::Create(_)) && effect.target.resource.kind == "ClusterRole"
    });
    assert_eq!(created.count(), 3);
}

/// "The set of provided APIs from active member CSVs is calculated from the cluster … if
/// olm.providedAPIs contains any extra APIs, then those APIs are pruned." Of a static group they
/// are not.
#[rstest]
#[case::extra(json!({"targetNamespaces": ["op"]}), Some("A.v1.g.io"))]
#[case::of_a_static_group(json!({"targetNamespaces": ["op"], "staticProvidedAPIs": true}), None)]
fn extra_apis_are_pruned(#[case] spec: Value, #[case] written: Option<&str>) {
    let mut observed = mk_observed(spec, json!(["op"]), "A.v1.g.io,Extra.v1.g.io");
    observed.members = vec![mk_member("as.g.io")];
    let decision = converged(observed);
    let found = decision.effects.iter().find_map(|effect| match &effect.action {
        Action::MergePatch { patch, .. } => {
            patch["metadata"]["annotations"]["olm.providedAPIs"].as_str()
        }
        _ => None,
    });
    assert_eq!(found, written);
}
