//! What OpenShift's pages on OperatorGroups and their intersection promise about selection,
//! membership and intersection (spec olm-operator 4.1, 4.2, 4.5), sentence by sentence. The rest is in
//! olm-rbac `tests/roles.rs` and olm-lifecycle `csv/tests/group_rules.rs`,
//! `operator_group/tests/sync.rs`, `copied_csv/tests/copies.rs`.

use std::collections::BTreeMap;

use olm_opgroup::{
    ApiReconciliation, ApiSet, GroupSurface, LiveNamespaces, MemberAnnotations, active_targets,
    check_support, group_apis, intersecting, provided_apis, reconcile_apis, select_targets,
};
use olm_types::api::{ClusterServiceVersionSpec, OperatorGroup, OperatorGroupSpec};
use olm_types::gvk::format_api_keys;
use rstest::rstest;
use serde_json::{Value, json};

fn selected(spec: Value) -> Vec<String> {
    let spec: OperatorGroupSpec = serde_json::from_value(spec).unwrap();
    let prod = BTreeMap::from([("cool.io/prod".to_owned(), "true".to_owned())]);
    let none = BTreeMap::new();
    let namespaces = [("prod-1", &prod), ("test", &none), ("prod-2", &prod)];
    select_targets(&spec, namespaces).unwrap().names().map(str::to_owned).collect()
}

fn group(namespace: &str, targets: &[&str], apis: &str) -> OperatorGroup {
    serde_json::from_value(json!({
        "metadata": {"name": "my-group", "namespace": namespace,
            "annotations": {"olm.providedAPIs": apis}},
        "spec": {"targetNamespaces": targets.iter().filter(|name| !name.is_empty()).collect::<Vec<_>>()},
    }))
    .unwrap()
}

fn surface(group: &OperatorGroup) -> GroupSurface {
    GroupSurface::of(group, &LiveNamespaces::default())
}

/// "Specify the set of namespaces for the OperatorGroup using a label selector".
#[test]
fn a_selector_selects_by_label() {
    let spec = json!({"selector": {"matchLabels": {"cool.io/prod": "true"}}});
    assert_eq!(selected(spec), ["prod-1", "prod-2"]);
}

/// "You can also explicitly name the target namespaces using the spec.targetNamespaces field".
#[test]
fn targets_are_named() {
    let names = ["my-namespace", "my-other-namespace", "my-other-other-namespace"];
    assert_eq!(selected(json!({"targetNamespaces": names})), names);
}

/// "If both spec.targetNamespaces and spec.selector are defined, spec.selector is ignored."
#[test]
fn names_win_over_a_selector() {
    let selector = json!({"matchLabels": {"cool.io/prod": "true"}});
    assert_eq!(selected(json!({"targetNamespaces": ["test"], "selector": selector})), ["test"]);
}

/// "Alternatively, you can omit both … to specify a global OperatorGroup, which selects all
/// namespaces"; its selection is "the empty string".
#[test]
fn a_group_without_a_selection_is_global() {
    assert_eq!(selected(json!({})), [""]);
}

/// The table of InstallModes: "The Operator can be a member of an OperatorGroup that selects …".
#[rstest]
#[case::its_own_namespace("OwnNamespace", &["own"])]
#[case::one_namespace("SingleNamespace", &["a"])]
#[case::more_than_one_namespace("MultiNamespace", &["a", "b"])]
#[case::all_namespaces("AllNamespaces", &[""])]
fn each_mode_has_its_selection(#[case] mode: &str, #[case] targets: &[&str]) {
    let modes = |supported: &str| -> Vec<_> {
        let all = ["OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"];
        let modes = all.map(|mode| json!({"type": mode, "supported": mode == supported}));
        serde_json::from_value(json!(modes)).unwrap()
    };
    for declared in ["OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"] {
        let is_member = check_support(&modes(declared), "own", targets).is_ok();
        assert_eq!(is_member, declared == mode, "{declared}");
    }
}

/// "The Operator's CSV exists in the same namespace as the OperatorGroup."
#[test]
fn a_member_lives_where_its_group_lives() {
    let group = group("home", &["a", "b"], "");
    let live = LiveNamespaces::default();
    let targets = live.targets(&group).unwrap();
    let annotations: BTreeMap<String, String> = MemberAnnotations::of(&group, &targets)
        .missing_from(&BTreeMap::new())
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
    assert_eq!(active_targets("home", &annotations, [&group], &live), Some(targets));
    assert!(active_targets("elsewhere", &annotations, [&group], &live).is_none());
    // "The set of target namespaces is provided by a comma-delimited string".
    assert_eq!(annotations["olm.targetNamespaces"], "a,b");
}

/// "The annotation's value is a string consisting of <kind>.<version>.<group> delimited with
/// commas. The GVKs of CRDs and APIServices provided … are included."
#[test]
fn provided_apis_are_listed_as_text() {
    let spec: ClusterServiceVersionSpec = serde_json::from_value(json!({
        "customresourcedefinitions": {"owned": [
            {"name": "prometheuses.monitoring.coreos.com", "version": "v1", "kind": "Prometheus"},
        ]},
        "apiservicedefinitions": {"owned": [{
            "group": "packages.apps.redhat.com", "version": "v1alpha1", "kind": "PackageManifest",
        }]},
    }))
    .unwrap();
    let text = format_api_keys(&provided_apis(&spec));
    assert_eq!(
        text,
        "PackageManifest.v1alpha1.packages.apps.redhat.com,Prometheus.v1.monitoring.coreos.com"
    );
    assert_eq!(group_apis(&group("local", &["local"], &text)), provided_apis(&spec));
}

/// "Two OperatorGroups are said to have intersecting provided APIs if the intersection of their
/// target namespace sets is not an empty set and the intersection of their provided API sets …
/// is not an empty set."
#[rstest]
#[case::both(&["a", "b"], "K.v1.g", true)]
#[case::all_namespaces(&[""], "K.v1.g", true)]
#[case::other_namespaces(&["b"], "K.v1.g", false)]
#[case::other_apis(&["a"], "L.v1.g", false)]
fn two_groups_intersect(#[case] targets: &[&str], #[case] apis: &str, #[case] conflict: bool) {
    let csv: ApiSet = group_apis(&group("x", &[], "K.v1.g"));
    let own = surface(&group("one", &["a"], ""));
    let other = surface(&group("two", targets, apis));
    let result = reconcile_apis(&csv, &own, std::slice::from_ref(&other));
    assert_eq!(result == ApiReconciliation::Conflict, conflict);
}

/// "When checking intersection rules, an OperatorGroup's namespace is always included as part of
/// its selected target namespaces."
#[test]
fn the_own_namespace_of_a_group_counts() {
    let own = surface(&group("one", &["a"], ""));
    let other = surface(&group("two", &["one"], ""));
    assert_eq!(intersecting(&own, std::slice::from_ref(&other)).len(), 1);
}
