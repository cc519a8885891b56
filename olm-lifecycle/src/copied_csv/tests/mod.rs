//! What copies look like, where they are, and what an OLMConfig says about them.

mod copies;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use olm_effect::{Action, Effect};
use olm_opgroup::NamespaceSet;
use olm_rbac::CopyOwner;
use olm_types::api::{ClusterServiceVersion, OLMConfig, StrategyDetailsDeployment};
use rstest::rstest;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;

fn mk<K: DeserializeOwned>(value: Value) -> K {
    serde_json::from_value(value).unwrap()
}

/// A succeeded member of group `og` in `op`.
fn mk_origin(targets: &str, reason: &str) -> ClusterServiceVersion {
    mk(json!({
        "metadata": {
            "name": "csv", "namespace": "op", "uid": "u", "resourceVersion": "7",
            "finalizers": ["operators.coreos.com/csv-cleanup"],
            "labels": {"olm.managed": "true", "mine": "1", "operators.coreos.com/pkg.op": ""},
            "annotations": {
                "olm.operatorGroup": "og", "olm.operatorNamespace": "op",
                "olm.targetNamespaces": targets,
                "kubectl.kubernetes.io/last-applied-configuration": "{}",
            },
        },
        "spec": {"description": "prose", "displayName": "d"},
        "status": {"phase": "Succeeded", "reason": reason, "message": "m"},
    }))
}

fn mk_given(namespaces: &[&str]) -> NamespaceSet {
    namespaces.iter().copied().collect()
}

fn copying(enabled: bool) -> Copying {
    Copying { enabled, protected: BTreeSet::from(["safe".to_owned()]) }
}

fn object_of(effect: &Effect) -> &Value {
    match &effect.action {
        Action::Create(object) | Action::Replace { object, .. } | Action::Status { object, .. } => {
            object
        }
        other => panic!("no object: {other:?}"),
    }
}

/// The copy as the watch would report it.
fn mk_copy(prototype: &Prototype) -> CopiedCsv {
    mk(object_of(&prototype.create("t")).clone())
}

#[test]
fn a_copy_is_the_projection_of_its_original() {
    let effect = Prototype::of(&mk_origin("t", "InstallSucceeded")).create("t");
    let expected = json!({
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {
            "name": "csv", "namespace": "t",
            "labels": {"mine": "1", "olm.copiedFrom": "op", "olm.managed": "true"},
            "annotations": {"olm.operatorGroup": "og", "olm.operatorNamespace": "op"},
        },
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&object_of(&effect)[key], value);
    }
    assert_eq!(object_of(&effect)["spec"]["description"], "prose");
    let status = &object_of(&effect)["status"];
    assert_eq!((&status["phase"], &status["reason"]), (&json!("Succeeded"), &json!("Copied")));
    assert_eq!(status["message"], "The operator is running in op but is managing this namespace");
}

#[test]
fn a_copy_in_step_has_the_fingerprint_of_the_prototype() {
    let origin = mk_origin("t", "");
    let prototype = Prototype::of(&origin);
    let copy = mk_copy(&prototype);
    assert_eq!(copy.fingerprint, prototype.fingerprint());
    assert_eq!(Prototype::fingerprint_of(&origin), prototype.fingerprint());
    assert_eq!((copy.origin(), copy.is_labelled, copy.names_operator), ("op", true, true));
}

#[rstest]
#[case::spec(|csv: &mut ClusterServiceVersion| csv.spec.description = None, true, false)]
#[case::label(|csv: &mut ClusterServiceVersion| {
    csv.metadata.labels.get_or_insert_default().insert("more".to_owned(), "x".to_owned());
}, true, false)]
#[case::status(|csv: &mut ClusterServiceVersion| csv.status.as_mut().unwrap().phase = Default::default(),
    false, true)]
#[case::targets(|csv: &mut ClusterServiceVersion| {
    csv.metadata.annotations.as_mut().unwrap().remove("olm.targetNamespaces");
}, false, false)]
#[case::own_reason(|csv: &mut ClusterServiceVersion| csv.status.as_mut().unwrap().reason = None,
    false, false)]
#[case::resource_version(|csv: &mut ClusterServiceVersion| csv.metadata.resource_version = None,
    false, false)]
fn changes_show_in_the_fingerprint(
    #[case] change: fn(&mut ClusterServiceVersion),
    #[case] object: bool,
    #[case] status: bool,
) {
    let mut csv = mk_origin("t", "");
    let before = Prototype::of(&csv).fingerprint();
    change(&mut csv);
    let after = Prototype::of(&csv).fingerprint();
    assert_eq!((before.object != after.object, before.status != after.status), (object, status));
}

#[test]
fn writes_are_guarded_by_the_version_that_was_seen() {
    let prototype = Prototype::of(&mk_origin("t", ""));
    let mut stored = object_of(&prototype.create("t")).clone();
    stored["metadata"]["resourceVersion"] = json!("9");
    stored["metadata"]["uid"] = json!("c");
    let copy: CopiedCsv = mk(stored);
    let names = (copy.namespace(), copy.name(), copy.uid(), copy.version(), copy.origin());
    assert_eq!(names, ("t", "csv", "c", "9", "op"));
    assert_eq!(object_of(&prototype.replace(&copy))["metadata"]["resourceVersion"], "9");
    assert_eq!(object_of(&prototype.status("t", "10"))["metadata"]["resourceVersion"], "10");
    let Action::Delete { uid, .. } = copy.delete().action else { panic!("not a deletion") };
    assert_eq!(uid.as_deref(), Some("c"));
}

#[rstest]
#[case::target("t,safe", &["t", "safe"], "InstallSucceeded", "t", Desired::Present)]
#[case::every_namespace("", &[""], "InstallSucceeded", "x", Desired::Present)]
#[case::own_namespace("op,t", &["op", "t"], "InstallSucceeded", "op", Desired::Leave)]
#[case::no_target("t", &["t"], "InstallSucceeded", "x", Desired::Absent)]
#[case::conflict("t", &["t"], "InterOperatorGroupOwnerConflict", "t", Desired::Absent)]
#[case::unsupported("t", &["t"], "UnsupportedOperatorGroup", "t", Desired::Leave)]
#[case::a_failed_operator_is_shown("t", &["t"], "ComponentUnhealthy", "t", Desired::Present)]
fn desired_copies(
    #[case] annotation: &str,
    #[case] listed: &[&str],
    #[case] reason: &str,
    #[case] target: &str,
    #[case] expected: Desired,
) {
    let (origin, given) = (mk_origin(annotation, reason), mk_given(listed));
    assert_eq!(desired(Some(&origin), Some(&given), target, &copying(true)), expected);
}

#[test]
fn without_its_original_a_copy_goes() {
    assert_eq!(desired(None, None, "t", &copying(true)), Desired::Absent);
}

#[test]
fn while_group_and_original_disagree_nothing_happens() {
    assert_eq!(desired(Some(&mk_origin("t", "")), None, "t", &copying(true)), Desired::Leave);
}

#[test]
fn while_the_original_is_being_deleted_nothing_is_copied() {
    let mut origin = mk_origin("t", "");
    origin.metadata.deletion_timestamp = mk(json!("2026-01-01T00:00:00Z"));
    assert_eq!(
        desired(Some(&origin), Some(&mk_given(&["t"])), "t", &copying(true)),
        Desired::Leave
    );
}

#[rstest]
#[case::global("", &[""], "t", Desired::Absent)]
#[case::protected("", &[""], "safe", Desired::Present)]
#[case::named_targets_are_not_concerned("t", &["t"], "t", Desired::Present)]
fn copying_can_be_switched_off(
    #[case] annotation: &str,
    #[case] listed: &[&str],
    #[case] target: &str,
    #[case] expected: Desired,
) {
    let (origin, given) = (mk_origin(annotation, ""), mk_given(listed));
    assert_eq!(desired(Some(&origin), Some(&given), target, &copying(false)), expected);
}

fn mk_inventory(copies: &[&str]) -> CopyInventory {
    let set = |names: &[&str]| names.iter().copied().map(str::to_owned).collect();
    CopyInventory {
        namespaces: set(&["op", "safe", "t"]),
        copies: BTreeMap::from([(("op".to_owned(), "csv".to_owned()), set(copies))]),
    }
}

const ENABLED: &str = "Copied CSVs are enabled and";
const DISABLED: &str = "Copied CSVs are disabled and";

#[rstest]
#[case(true, &["safe", "t"], "False/CopiedCSVsEnabled", ENABLED, "present across the cluster")]
#[case(true, &["t"], "False/CopiedCSVsEnabled", ENABLED, "at least one copied CSVs is missing")]
#[case(false, &["safe", "t"], "False/CopiedCSVsDisabled", DISABLED,
    "at least one unexpected copied CSV was found for an operator installed in AllNamespace mode")]
#[case(false, &["safe"], "True/CopiedCSVsDisabled", DISABLED,
    "no unexpected copied CSVs were found for operators installed in AllNamespace mode")]
fn the_config_says_whether_its_setting_took_effect(
    #[case] enabled: bool,
    #[case] copies: &[&str],
    #[case] verdict: &str,
    #[case] start: &str,
    #[case] end: &str,
) {
    let now: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
    let mut config = OLMConfig::new("cluster", Default::default());
    let inventory = mk_inventory(copies);
    let effect = config_status(&config, &copying(enabled), &inventory, now).unwrap();
    let Action::MergePatch { patch, .. } = effect.action else { panic!("not a patch") };
    let condition = &patch["status"]["conditions"][0];
    let text = |field: &str| condition[field].as_str().unwrap().to_owned();
    assert_eq!(text("type"), "DisabledCopiedCSVs");
    assert_eq!(format!("{}/{}", text("status"), text("reason")), verdict);
    assert_eq!(text("message"), format!("{start} {end}"));
    config.status = Some(mk(patch["status"].clone()));
    assert_eq!(config_status(&config, &copying(enabled), &inventory, now), None);
}

#[test]
fn a_protected_home_needs_no_copy() {
    let mut copying = copying(false);
    copying.protected = BTreeSet::from(["op".to_owned()]);
    let config = OLMConfig::new("cluster", Default::default());
    let effect =
        config_status(&config, &copying, &mk_inventory(&[]), Timestamp::UNIX_EPOCH).unwrap();
    let Action::MergePatch { patch, .. } = effect.action else { panic!("not a patch") };
    assert_eq!(patch["status"]["conditions"][0]["status"], "True");
}

const GET_PODS: &str = r#"{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}"#;

fn mk_strategy() -> StrategyDetailsDeployment {
    let rule: Value = serde_json::from_str(GET_PODS).unwrap();
    mk(json!({"permissions": [{"serviceAccountName": "sa", "rules": [rule]}]}))
}

/// Role and RoleBinding `r` of the CSV in `op`.
fn mk_rights(rule: Value, subject: &str) -> TargetRights {
    let metadata = json!({
        "name": "r", "namespace": "op",
        "ownerReferences": [
            {"apiVersion": "v1", "kind": "ClusterServiceVersion", "name": "csv", "uid": "u"},
        ],
    });
    let binding = json!({
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
        "subjects": [{"kind": "ServiceAccount", "name": subject, "namespace": "op"}],
    });
    TargetRights {
        roles: vec![Arc::new(mk(json!({"metadata": metadata, "rules": [rule]})))],
        bindings: vec![Arc::new(mk(binding))],
        ..TargetRights::default()
    }
}

fn targets_of(rights: &TargetRights) -> Vec<String> {
    let owner = CopyOwner { origin: "op", namespace: "t", name: "csv", uid: "c" };
    let effects = decide_rights(&mk_strategy(), "u", owner, rights);
    effects.iter().map(|effect| effect.target.to_string()).collect()
}

#[test]
fn rights_follow_the_copy_into_its_namespace() {
    let rights = mk_rights(serde_json::from_str(GET_PODS).unwrap(), "sa");
    assert_eq!(targets_of(&rights), ["Role t/r", "RoleBinding t/r"]);
}

#[rstest]
#[case::more_than_the_csv_asks_for(
    json!({"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}), "sa", &[])]
#[case::for_an_account_that_the_csv_does_not_name(
    serde_json::from_str(GET_PODS).unwrap(), "stranger", &["Role t/r"])]
fn forged_labels_give_nothing(#[case] rule: Value, #[case] subject: &str, #[case] made: &[&str]) {
    assert_eq!(targets_of(&mk_rights(rule, subject)), made);
}

#[rstest]
#[case::a_copy_is_refreshed(json!({"olm.copiedFrom": "op"}), &["Role t/r"])]
#[case::a_strangers_role_is_left_alone(json!({}), &[])]
fn roles_that_are_there(#[case] labels: Value, #[case] expected: &[&str]) {
    let mut rights = mk_rights(serde_json::from_str(GET_PODS).unwrap(), "sa");
    rights.bindings.clear();
    let role = json!({
        "metadata": {"name": "r", "namespace": "t", "labels": labels},
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}],
    });
    rights.present_roles.insert("r".to_owned(), Arc::new(mk(role)));
    assert_eq!(targets_of(&rights), expected);
}
