//! The rows of spec olm-operator 8.15, 8.17 and 8.18.

use super::*;
use olm_types::gvk::parse_api_keys;
use rstest::rstest;
use serde_json::json;

const GOOSE: &str = "Goose.v1alpha1.birds.com";
const COW: &str = "Cow.v1alpha1.mammals.com";

/// A group `namespace/name` that selects `targets` and lists `apis`.
fn mk_group(namespace: &str, name: &str, targets: &[&str], apis: &str) -> GroupSurface {
    let group = serde_json::from_value(json!({
        "metadata": {
            "name": name, "namespace": namespace, "annotations": {"olm.providedAPIs": apis}
        },
        "spec": spec_of(targets),
    }));
    GroupSurface::of(&group.unwrap(), &LiveNamespaces::default())
}

/// A spec that selects these: all when there is one without a name, nothing when there is none.
fn spec_of(targets: &[&str]) -> serde_json::Value {
    match targets {
        [] => json!({"selector": {"matchLabels": {"no": "match"}}}),
        [""] => json!({}),
        names => json!({"targetNamespaces": names}),
    }
}

#[rstest]
#[case::none(&[], &[])]
#[case::another(&["ns-1"], &["ns", "ns-1"])]
#[case::own(&["ns"], &["ns"])]
#[case::two(&["ns-1", "ns-2"], &["ns", "ns-1", "ns-2"])]
#[case::all(&[""], &[""])]
fn surface_targets(#[case] status: &[&str], #[case] targets: &[&str]) {
    let surface = mk_group("ns", "group-a", status, "");
    assert_eq!(surface.targets, targets.iter().copied().collect());
}

#[rstest]
#[case::no_groups(&["ns"], vec![], &[])]
#[case::same_target(&["x"], vec![mk_group("n2", "b", &["x"], "")], &["b"])]
#[case::other_targets_own(&["x"], vec![mk_group("n2", "b", &["ns"], "")], &["b"])]
#[case::same_namespace(&["x"], vec![mk_group("ns", "b", &["y"], "")], &["b"])]
#[case::two(&["x", "y"],
    vec![mk_group("n2", "b", &["x"], ""), mk_group("n3", "c", &["y"], "")], &["b", "c"])]
#[case::disjoint(&["x"], vec![mk_group("n2", "b", &["y"], "")], &[])]
#[case::all_left(&[""],
    vec![mk_group("n2", "b", &["x"], ""), mk_group("n3", "c", &["y"], "")], &["b", "c"])]
#[case::all_right(&["x"],
    vec![mk_group("n2", "b", &[""], ""), mk_group("n3", "c", &["y"], "")], &["b"])]
#[case::all_and_mix(&[""],
    vec![mk_group("n2", "b", &[""], ""), mk_group("n3", "c", &["y"], "")], &["b", "c"])]
#[case::all_and_all(&[""], vec![mk_group("n2", "b", &[""], "")], &["b"])]
#[case::without_targets(&[""], vec![mk_group("n2", "b", &[], "")], &[])]
#[case::itself(&["x"], vec![mk_group("ns", "group-a", &["x"], "")], &[])]
fn group_intersection(
    #[case] targets: &[&str],
    #[case] others: Vec<GroupSurface>,
    #[case] expected: &[&str],
) {
    let own = mk_group("ns", "group-a", targets, "");
    let names: Vec<&str> =
        intersecting(&own, &others).iter().map(|other| other.name.as_str()).collect();
    assert_eq!(names, expected);
}

#[rstest]
#[case::nothing_to_add("", &["x"], "", vec![mk_group("n2", "b", &["x"], GOOSE)],
    ApiReconciliation::NoConflict)]
#[case::listed_twice_but_apart(GOOSE, &["x"], GOOSE, vec![mk_group("n2", "b", &["y"], GOOSE)],
    ApiReconciliation::NoConflict)]
#[case::others_list_other_apis(GOOSE, &["x"], GOOSE, vec![mk_group("n2", "b", &["x"], COW)],
    ApiReconciliation::NoConflict)]
#[case::all_left_other_apis(GOOSE, &[""], GOOSE, vec![mk_group("n2", "b", &["x"], COW)],
    ApiReconciliation::NoConflict)]
#[case::all_both_no_apis(GOOSE, &[""], GOOSE, vec![mk_group("n2", "b", &[""], "")],
    ApiReconciliation::NoConflict)]
#[case::other_version(GOOSE, &["x"], GOOSE,
    vec![mk_group("n2", "b", &["x"], "Goose.v1beta1.birds.com")], ApiReconciliation::NoConflict)]
#[case::conflict(GOOSE, &["x"], "", vec![mk_group("n2", "b", &["x"], GOOSE)],
    ApiReconciliation::Conflict)]
#[case::conflict_all_left(GOOSE, &[""], "", vec![mk_group("n2", "b", &["x"], GOOSE)],
    ApiReconciliation::Conflict)]
#[case::conflict_all_right(GOOSE, &["x"], "", vec![mk_group("n2", "b", &[""], GOOSE)],
    ApiReconciliation::Conflict)]
#[case::conflict_both_all(GOOSE, &[""], "", vec![mk_group("n2", "b", &[""], GOOSE)],
    ApiReconciliation::Conflict)]
#[case::conflict_own_namespace(GOOSE, &["x"], "", vec![mk_group("n2", "b", &["ns"], GOOSE)],
    ApiReconciliation::Conflict)]
#[case::conflict_one_of_several(GOOSE, &["x"], "",
    vec![mk_group("n2", "b", &["x"], COW), mk_group("n3", "c", &["x"], GOOSE)],
    ApiReconciliation::Conflict)]
#[case::add_none(GOOSE, &["x"], "", vec![], ApiReconciliation::Add)]
#[case::add_disjoint(GOOSE, &["x"], "", vec![mk_group("n2", "b", &["y"], GOOSE)],
    ApiReconciliation::Add)]
#[case::add_other_apis(GOOSE, &[""], "", vec![mk_group("n2", "b", &["x"], COW)],
    ApiReconciliation::Add)]
#[case::add_one_of_two("Goose.v1alpha1.birds.com,Cow.v1alpha1.mammals.com", &["x"], COW,
    vec![mk_group("n2", "b", &["x"], "")], ApiReconciliation::Add)]
#[case::remove(GOOSE, &["x"], GOOSE, vec![mk_group("n2", "b", &["x"], GOOSE)],
    ApiReconciliation::Remove)]
#[case::remove_all_left(GOOSE, &[""], GOOSE, vec![mk_group("n2", "b", &["x"], GOOSE)],
    ApiReconciliation::Remove)]
#[case::remove_all_right(GOOSE, &["x"], GOOSE, vec![mk_group("n2", "b", &[""], GOOSE)],
    ApiReconciliation::Remove)]
#[case::remove_partial_overlap(GOOSE, &["ns-1", "ns-3"], GOOSE,
    vec![mk_group("n2", "b", &["ns-2", "ns-3"], GOOSE)], ApiReconciliation::Remove)]
fn reconciliation(
    #[case] provided: &str,
    #[case] targets: &[&str],
    #[case] listed: &str,
    #[case] others: Vec<GroupSurface>,
    #[case] expected: ApiReconciliation,
) {
    let own = mk_group("ns", "group-a", targets, listed);
    assert_eq!(reconcile_apis(&parse_api_keys(provided), &own, &others), expected);
}
