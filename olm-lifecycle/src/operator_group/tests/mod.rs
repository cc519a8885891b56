//! Status, conditions, pruning and namespace labels of groups.
//!
//! The tables of spec olm-operator 8 that are about groups are in:
//! - 8.5 olm-opgroup `namespace_labels.rs`, and here; 8.6 here, `csv/tests/{groups,rights}.rs` and,
//!   on a real API server, `tenancy::targets`, `tenancy::selector`, `tenancy::everywhere`; 8.7 here;
//! - 8.15, 8.17 and 8.18 olm-opgroup `intersection/tests.rs`, texts of APIs in olm-types `gvk.rs`;
//!   8.16 olm-opgroup `namespace_set.rs`;
//! - 8.19 `copied_csv/fingerprint.rs` (which writes) and `copied_csv/tests.rs` (of what, where);
//! - 8.20 olm-rbac `group_roles.rs` selectors_ascend; 8.26 olm-rbac `grants/tests.rs`;
//! - 8.29 `operator_group/service_account/attenuation.rs`, tokens in olm-kit `interpreter/tests/accounts.rs`.

mod accounts;
mod sync;

use super::*;
use k8s_openapi::api::core::v1::Namespace;
use olm_effect::Action;
use olm_opgroup::TenantPolicy;
use olm_types::conditions::operator_group::INVALID_TARGETS;
use olm_types::reasons::operator_group::TARGETS_NOT_ALLOWED;
use rstest::rstest;
use serde_json::{Value, json};

fn now() -> Timestamp {
    "2026-01-02T03:04:05Z".parse().unwrap()
}

fn mk_group(spec: Value, status: Option<Value>, apis: &str) -> Arc<OperatorGroup> {
    let group = json!({
        "metadata": {
            "name": "og", "namespace": "op", "uid": "u", "resourceVersion": "7",
            "annotations": {"olm.providedAPIs": apis},
        },
        "spec": spec,
        "status": status,
    });
    Arc::new(serde_json::from_value(group).unwrap())
}

fn mk_namespace(name: &str, labels: Value) -> Arc<Namespace> {
    Arc::new(serde_json::from_value(json!({"metadata": {"name": name, "labels": labels}})).unwrap())
}

fn mk_member(crd: &str, phase: &str) -> Arc<ClusterServiceVersion> {
    let csv = json!({
        "metadata": {"name": "csv", "namespace": "op"},
        "spec": {"customresourcedefinitions": {
            "owned": [{"name": crd, "version": "v1", "kind": "A"}]
        }},
        "status": {"phase": phase},
    });
    Arc::new(serde_json::from_value(csv).unwrap())
}

/// A group alone in its namespace, in a cluster with namespaces `a` and `c` labelled `env=dev`
/// and an unlabelled `b`.
fn mk_observed(group: Arc<OperatorGroup>) -> Observed {
    Observed {
        group,
        groups_in_namespace: 1,
        is_oldest: true,
        namespaces: LiveNamespaces::new(TenantPolicy::V0, mk_namespaces()),
        members: Vec::new(),
        roles: Vec::new(),
        service_account: None,
    }
}

fn mk_namespaces() -> Vec<Arc<Namespace>> {
    let dev = json!({"env": "dev"});
    vec![mk_namespace("c", dev.clone()), mk_namespace("b", json!({})), mk_namespace("a", dev)]
}

/// The decision about the group once its roles are there.
fn decide_with_roles(observed: &Observed) -> Decision {
    let mut observed = observed.clone();
    observed.roles = created_roles(&observed);
    decide(&observed, now())
}

/// The roles that the first look at the group creates.
fn created_roles(observed: &Observed) -> Vec<Arc<ClusterRole>> {
    let role = |effect: Effect| match effect.action {
        Action::Create(role) => Some(Arc::new(serde_json::from_value(role).unwrap())),
        _ => None,
    };
    decide(observed, now()).effects.into_iter().filter_map(role).collect()
}

fn mk_converged(apis: &str, members: Vec<Arc<ClusterServiceVersion>>) -> Observed {
    let status = serde_json::from_str(IN_STEP).unwrap();
    let spec = json!({"targetNamespaces": ["op"]});
    let mut observed = mk_observed(mk_group(spec, Some(status), apis));
    observed.members = members;
    observed
}

fn written_status(decision: &Decision) -> Option<Value> {
    match decision.effects.as_slice() {
        [Effect { action: Action::Status { object, .. }, .. }] => Some(object["status"].clone()),
        _ => None,
    }
}

fn written_apis(decision: &Decision) -> Option<Value> {
    match decision.effects.as_slice() {
        [Effect { action: Action::MergePatch { patch, .. }, .. }] => {
            Some(patch["metadata"]["annotations"]["olm.providedAPIs"].clone())
        }
        _ => None,
    }
}

#[rstest]
#[case::own(json!({"targetNamespaces": ["op"]}), json!(["op"]))]
#[case::sorted(json!({"targetNamespaces": ["z", "y"]}), json!(["y", "z"]))]
#[case::all(json!({}), json!([""]))]
#[case::selector(json!({"selector": {"matchLabels": {"env": "dev"}}}), json!(["a", "c"]))]
fn targets_reach_the_status(#[case] spec: Value, #[case] namespaces: Value) {
    let decision = decide(&mk_observed(mk_group(spec, None, "")), now());
    let expected = json!({"namespaces": namespaces, "lastUpdated": "2026-01-02T03:04:05Z"});
    assert_eq!(written_status(&decision), Some(expected));
}

#[rstest]
#[case::same(json!({"targetNamespaces": ["y", "z"]}), json!(["y", "z"]))]
#[case::in_another_order(json!({"targetNamespaces": ["y", "z"]}), json!(["z", "y"]))]
fn nothing_is_written_when_in_step(#[case] spec: Value, #[case] namespaces: Value) {
    let status = json!({"namespaces": namespaces, "lastUpdated": "2020-01-01T00:00:00Z"});
    let observed = mk_observed(mk_group(spec, Some(status), ""));
    assert_eq!(decide_with_roles(&observed), Decision::default());
}

#[test]
fn a_selector_that_fits_nothing_leaves_the_status_empty() {
    let spec = json!({"selector": {"matchLabels": {"env": "none"}}});
    let observed = mk_observed(mk_group(spec, None, ""));
    assert_eq!(decide_with_roles(&observed), Decision::default());
}

#[test]
fn several_groups_are_reported_until_one_is_left() {
    let mut observed = mk_observed(mk_group(json!({"targetNamespaces": ["op"]}), None, ""));
    observed.groups_in_namespace = 2;
    let status = written_status(&decide(&observed, now())).unwrap();
    assert_eq!(
        status["conditions"],
        json!([{
            "type": "MultipleOperatorGroup",
            "status": "True",
            "reason": "MultipleOperatorGroupsFound",
            "message": "Multiple OperatorGroup found in the same namespace",
            "lastTransitionTime": "2026-01-02T03:04:05Z",
        }])
    );
    observed.group = mk_group(json!({"targetNamespaces": ["op"]}), Some(status), "");
    assert_eq!(decide_with_roles(&observed), Decision::default());
    observed.groups_in_namespace = 1;
    let status = written_status(&decide(&observed, now())).unwrap();
    assert_eq!(status.get("conditions"), None);
}

#[test]
fn a_malformed_selection_is_reported_and_keeps_the_namespaces() {
    let status = json!({"namespaces": ["x"], "lastUpdated": "2020-01-01T00:00:00Z"});
    let spec = json!({"selector": {"matchExpressions": [{"key": "k", "operator": "Like"}]}});
    let decision = decide(&mk_observed(mk_group(spec, Some(status), "")), now());
    let status = written_status(&decision).unwrap();
    assert_eq!(status["namespaces"], json!(["x"]));
    assert_eq!(status["conditions"][0]["type"], json!(INVALID_TARGETS));
    let message = status["conditions"][0]["message"].as_str().unwrap();
    assert!(message.contains("\"Like\" is not a valid label selector operator"), "{message}");
}

/// The API server refuses a condition with a longer message, and with it the whole status.
#[test]
fn a_message_is_no_longer_than_a_condition_may_hold() {
    let operator = "\u{e4}".repeat(40_000);
    let spec = json!({"selector": {"matchExpressions": [{"key": "k", "operator": operator}]}});
    let status = written_status(&decide(&mk_observed(mk_group(spec, None, "")), now())).unwrap();
    let message = status["conditions"][0]["message"].as_str().unwrap();
    assert!(message.len() <= 32_768 && message.starts_with("spec.selector"), "{}", message.len());
}

const IN_STEP: &str = r#"{"namespaces": ["op"], "lastUpdated": "2020-01-01T00:00:00Z"}"#;

#[rstest]
#[case::still_provided("A.v1.g.io", mk_member("as.g.io", "Succeeded"), None)]
#[case::no_longer_provided("A.v1.g.io,B.v1.g.io", mk_member("as.g.io", "Succeeded"),
    Some(json!("A.v1.g.io")))]
#[case::nothing_left("B.v1.g.io", mk_member("as.g.io", "Succeeded"), Some(json!("")))]
#[case::a_member_is_about_to_add("B.v1.g.io", mk_member("as.g.io", "Pending"), None)]
fn provided_apis_are_pruned(
    #[case] apis: &str,
    #[case] member: Arc<ClusterServiceVersion>,
    #[case] expected: Option<Value>,
) {
    let status = serde_json::from_str(IN_STEP).unwrap();
    let spec = json!({"targetNamespaces": ["op"]});
    let mut observed = mk_observed(mk_group(spec, Some(status), apis));
    observed.members = vec![member];
    assert_eq!(written_apis(&decide_with_roles(&observed)), expected);
}

#[test]
fn static_apis_are_never_pruned() {
    let status = serde_json::from_str(IN_STEP).unwrap();
    let spec = json!({"targetNamespaces": ["op"], "staticProvidedAPIs": true});
    let observed = mk_observed(mk_group(spec, Some(status), "missing.fake.api.group"));
    assert_eq!(decide_with_roles(&observed), Decision::default());
}

#[test]
fn a_targeted_namespace_is_labelled_once() {
    let status = json!({"namespaces": ["a"], "lastUpdated": "2020-01-01T00:00:00Z"});
    let group = mk_group(json!({"targetNamespaces": ["a"]}), Some(status), "");
    let live = LiveNamespaces::default();
    let effect = decide_namespace(&mk_namespace("a", json!({})), [group.as_ref()], &live).unwrap();
    assert_eq!(effect.target.to_string(), "Namespace a");
    let labelled = mk_namespace("a", json!({"olm.operatorgroup.uid/u": ""}));
    assert_eq!(decide_namespace(&labelled, [group.as_ref()], &live), None);
}

#[test]
fn a_converged_group_gets_its_three_roles_once() {
    let observed = mk_converged("", vec![]);
    let names: Vec<String> =
        created_roles(&observed).iter().filter_map(|role| role.metadata.name.clone()).collect();
    let expected: Vec<String> = role_names("op", "og").into_iter().collect();
    assert_eq!(names, expected);
    assert_eq!(decide_with_roles(&observed), Decision::default());
}

/// A namespace may hold thousands of groups, and roles are the cluster's: Kubernetes aggregates each of them.
#[test]
fn only_the_oldest_groups_of_a_namespace_have_roles() {
    let mut observed = mk_observed(mk_group(json!({"targetNamespaces": ["op"]}), None, ""));
    (observed.groups_in_namespace, observed.is_oldest) = (6, false);
    let status = written_status(&decide(&observed, now())).unwrap();
    observed.group = mk_group(json!({"targetNamespaces": ["op"]}), Some(status), "");
    assert_eq!(decide(&observed, now()), Decision::default());
    let roles = created_roles(&mk_converged("", vec![]));
    observed.roles.clone_from(&roles);
    let gone = decide(&observed, now()).effects;
    let names: Vec<_> = gone.iter().map(|effect| effect.target.name.as_str()).collect();
    assert!(gone.iter().all(|effect| matches!(effect.action, Action::Delete { .. })), "{gone:?}");
    assert_eq!(names.len(), roles.len());
    observed.is_oldest = true;
    assert_eq!(decide(&observed, now()), Decision::default());
}

#[test]
fn a_namespace_shows_the_oldest_groups_of_each_namespace() {
    let group = |home: &str, uid: &str, second: i64| -> OperatorGroup {
        let created = Timestamp::from_second(second).unwrap().to_string();
        serde_json::from_value(json!({
            "metadata": {"name": uid, "namespace": home, "uid": uid, "creationTimestamp": created},
            "spec": {"targetNamespaces": ["a"]},
        }))
        .unwrap()
    };
    let uids = ["1", "2", "3", "4", "5", "6"];
    let mut groups: Vec<_> =
        uids.iter().map(|uid| group("op", uid, uid.parse().unwrap())).rev().collect();
    groups.push(group("other", "alone", 9));
    let namespace = mk_namespace("a", json!({"olm.operatorgroup.uid/6": ""}));
    let live = LiveNamespaces::default();
    let effect = decide_namespace(&namespace, &groups, &live).unwrap();
    let Action::MergePatch { patch, .. } = effect.action else { panic!("{effect:?}") };
    let changes = json!({
        "olm.operatorgroup.uid/1": "", "olm.operatorgroup.uid/2": "", "olm.operatorgroup.uid/3": "",
        "olm.operatorgroup.uid/4": "", "olm.operatorgroup.uid/5": "", "olm.operatorgroup.uid/6": null,
        "olm.operatorgroup.uid/alone": "",
    });
    assert_eq!(patch["metadata"]["labels"], changes);
}

#[test]
fn roles_of_an_older_olm_are_left_alone() {
    let old = ["admin", "edit", "view"].map(|level| format!("og-{level}"));
    assert!(old.iter().all(|name| !role_names("op", "og").contains(name)));
    let observed = mk_converged("", vec![]);
    let written = decide(&observed, now()).effects;
    assert!(written.iter().all(|effect| !old.contains(&effect.target.name)));
}

#[test]
fn roles_collect_the_apis_of_members_and_of_the_annotation() {
    let observed = mk_converged("B.v1.g.io", vec![mk_member("as.g.io", "Failed")]);
    for role in created_roles(&observed) {
        let rule = role.aggregation_rule.as_ref().unwrap();
        assert_eq!(rule.cluster_role_selectors.as_ref().unwrap().len(), 2);
    }
}

#[test]
fn wrong_owner_labels_are_repaired_and_others_are_kept() {
    let mut observed = mk_converged("", vec![]);
    observed.roles = created_roles(&observed);
    let mut role = ClusterRole::clone(&observed.roles[0]);
    let labels = role.metadata.labels.as_mut().unwrap();
    labels.insert("olm.owner".to_owned(), "another-group".to_owned());
    labels.insert("mine".to_owned(), "kept".to_owned());
    observed.roles[0] = Arc::new(role);
    let decision = decide(&observed, now());
    let [Effect { action: Action::MergePatch { patch, .. }, .. }] = decision.effects.as_slice()
    else {
        panic!("{decision:?}")
    };
    assert_eq!(patch["metadata"]["labels"], json!({"olm.owner": "og"}));
}

#[test]
fn roles_go_with_the_group_and_look_alikes_stay() {
    let mut roles = created_roles(&mk_converged("", vec![]));
    let mut forged = ClusterRole::clone(&roles[0]);
    forged.metadata.name = Some("cluster-admin".to_owned());
    roles.push(Arc::new(forged));
    let mut unlabelled = ClusterRole::clone(&roles[1]);
    unlabelled.metadata.labels = None;
    roles[1] = Arc::new(unlabelled);
    let effects = decide_gone("op", "og", &roles);
    let gone: Vec<&str> = effects.iter().map(|effect| effect.target.name.as_str()).collect();
    let name = |index: usize| roles[index].metadata.name.as_deref().unwrap();
    assert_eq!(gone, [name(0), name(2)]);
}

#[rstest]
#[case::own(json!({"targetNamespaces": ["op"]}), "", &["op"], None)]
#[case::all(json!({}), "", &[], Some("may not target all namespaces"))]
#[case::all_allowed(json!({}), "*", &[""], None)]
#[case::another(json!({"targetNamespaces": ["a"]}), "", &[], Some("may not target a: "))]
#[case::another_allowed(json!({"targetNamespaces": ["a"]}), "a", &["a"], None)]
#[case::selected(json!({"selector": {"matchLabels": {"env": "dev"}}}), "a", &[], Some("target c: "))]
fn under_the_strict_policy_targets_are_allowed_by_an_administrator(
    #[case] spec: Value,
    #[case] allowed: &str,
    #[case] expected: &[&str],
    #[case] refusal: Option<&str>,
) {
    let before = json!({"namespaces": ["z"], "lastUpdated": null});
    let mut observed = mk_observed(mk_group(spec, Some(before), ""));
    let home = json!({"metadata": {"name": "op", "annotations": {
        "olm-rs.dev/allowed-target-namespaces": allowed,
    }}});
    let mut namespaces = mk_namespaces();
    namespaces.push(Arc::new(serde_json::from_value(home).unwrap()));
    observed.namespaces = LiveNamespaces::new(TenantPolicy::Strict, namespaces);
    let (status, notes) = status::desired(&observed, now());
    let status = status.unwrap();
    assert_eq!(status.namespaces, expected);
    let reported = status.conditions.iter().find(|condition| condition.type_ == INVALID_TARGETS);
    assert_eq!(reported.is_some(), refusal.is_some());
    if let (Some(reported), Some(refusal)) = (reported, refusal) {
        assert_eq!(reported.reason, TARGETS_NOT_ALLOWED);
        assert!(reported.message.contains(refusal), "{}", reported.message);
        assert_eq!(notes, std::slice::from_ref(&reported.message));
    }
}
