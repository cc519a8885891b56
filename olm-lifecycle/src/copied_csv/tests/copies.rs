//! What OpenShift's page on OperatorGroups promises about copied CSVs (spec olm-operator 5.2-5.4),
//! sentence by sentence.

use std::collections::BTreeSet;

use olm_effect::Action;
use olm_opgroup::NamespaceSet;
use olm_types::api::ClusterServiceVersion;
use rstest::rstest;
use serde_json::{Value, json};

use crate::copied_csv::{Copying, Desired, Prototype, desired, has_concluded};

fn mk_origin(targets: &str, phase: &str) -> ClusterServiceVersion {
    serde_json::from_value(json!({
        "metadata": {"name": "csv", "namespace": "op", "uid": "u", "annotations": {
            "olm.operatorGroup": "og", "olm.operatorNamespace": "op",
            "olm.targetNamespaces": targets,
        }},
        "spec": {"displayName": "d"},
        "status": {"phase": phase, "reason": "R", "message": "m"},
    }))
    .unwrap()
}

fn mk_given(namespaces: &[&str]) -> NamespaceSet {
    namespaces.iter().copied().collect()
}

fn desired_with(
    origin: Option<&ClusterServiceVersion>,
    targets: &[&str],
    namespace: &str,
) -> Desired {
    let copying = Copying { enabled: true, protected: BTreeSet::new() };
    desired(origin, Some(&mk_given(targets)), namespace, &copying)
}

fn copy_of(origin: &ClusterServiceVersion) -> Value {
    match Prototype::of(origin).create("a").action {
        Action::Create(copy) => copy,
        other => panic!("{other:?}"),
    }
}

/// "OLM creates copies of all active member CSVs of an OperatorGroup in each of that
/// OperatorGroup's target namespaces."
#[rstest]
#[case::a_target(&["a", "b"], "a", Desired::Present)]
#[case::another_target(&["a", "b"], "b", Desired::Present)]
#[case::of_all_namespaces(&[""], "c", Desired::Present)]
#[case::no_target(&["a", "b"], "c", Desired::Absent)]
fn targets_have_copies(
    #[case] targets: &[&str],
    #[case] namespace: &str,
    #[case] expected: Desired,
) {
    let origin = mk_origin(&targets.join(","), "Succeeded");
    assert_eq!(desired_with(Some(&origin), targets, namespace), expected);
}

/// "Copied CSVs have a status reason Copied and are updated to match the status of their source
/// CSV."
#[test]
fn a_copy_has_the_status_of_its_source() {
    let (before, after) = (mk_origin("a", "Installing"), mk_origin("a", "Succeeded"));
    assert_eq!(copy_of(&after)["status"]["reason"], json!("Copied"));
    assert_eq!(copy_of(&after)["status"]["phase"], json!("Succeeded"));
    let fingerprint = |origin| Prototype::of(origin).fingerprint().status;
    assert_ne!(fingerprint(&before), fingerprint(&after), "so that the copy is out of step");
}

/// "The olm.targetNamespaces annotation is stripped from copied CSVs before they are created"; "All
/// annotations except olm.targetNamespaces are included with copied CSVs."
#[test]
fn a_copy_does_not_name_the_targets() {
    let expected = json!({"olm.operatorGroup": "og", "olm.operatorNamespace": "op"});
    assert_eq!(copy_of(&mk_origin("a", "Succeeded"))["metadata"]["annotations"], expected);
}

/// "Copied CSVs are deleted when their source CSV no longer exists or the OperatorGroup that their
/// source CSV belongs to no longer targets the copied CSV's namespace."
#[test]
fn copies_go() {
    assert_eq!(desired_with(None, &["a"], "a"), Desired::Absent);
    assert_eq!(desired_with(Some(&mk_origin("b", "Succeeded")), &["b"], "a"), Desired::Absent);
}

/// A copy that carried them would be one of the tool's objects that is not in Git any more.
#[test]
fn what_tracks_the_original_does_not_track_copies() {
    let mut origin = mk_origin("a", "Succeeded");
    let tracking = ["argocd.argoproj.io/tracking-id", "meta.helm.sh/release-name"];
    let annotations = origin.metadata.annotations.as_mut().unwrap();
    annotations.extend(tracking.map(|key| (key.to_owned(), "shop".to_owned())));
    let labels = ["app.kubernetes.io/instance", "kustomize.toolkit.fluxcd.io/name", "team"];
    origin.metadata.labels = Some(labels.map(|key| (key.to_owned(), "shop".to_owned())).into());
    let copy = copy_of(&origin);
    assert_eq!(copy["metadata"]["labels"], json!({"team": "shop", "olm.copiedFrom": "op"}));
    let kept = copy["metadata"]["annotations"].as_object().unwrap().keys();
    assert!(kept.eq(["olm.operatorGroup", "olm.operatorNamespace"]));
}

/// The end of an install shows in copies at once; what leads there shows when it lasts.
#[rstest]
#[case::begun("Pending", false)]
#[case::about_to_be_installed("InstallReady", false)]
#[case::under_way("Installing", false)]
#[case::replaced("Replacing", false)]
#[case::installed("Succeeded", true)]
#[case::failed("Failed", true)]
fn copies_show_the_end_at_once(#[case] phase: &str, #[case] at_once: bool) {
    assert_eq!(has_concluded(&mk_origin("a", phase)), at_once);
}
