//! Tables for owner references and owner labels.

use rstest::rstest;

use super::*;

const CSV: &str = "ClusterServiceVersion";
const GROUP_VERSION: &str = "operators.coreos.com/v1alpha1";

fn csv(name: &str, uid: &str) -> OwnerReference {
    non_blocking_owner(GROUP_VERSION, CSV, name, uid)
}

fn owned(references: &[OwnerReference]) -> ObjectMeta {
    ObjectMeta { owner_references: Some(references.to_vec()), ..Default::default() }
}

#[test]
fn flags_are_explicit() {
    insta::assert_json_snapshot!(csv("a", "u"), @r#"
    {
      "apiVersion": "operators.coreos.com/v1alpha1",
      "blockOwnerDeletion": false,
      "controller": false,
      "kind": "ClusterServiceVersion",
      "name": "a",
      "uid": "u"
    }
    "#);
    assert_eq!(controller_owner("v1", "Pod", "p", "u").controller, Some(true));
}

#[test]
fn an_owner_is_added_once() {
    let mut metadata = ObjectMeta::default();
    assert!(!ensure_owner(&mut metadata, csv("a", "1")));
    assert!(ensure_owner(&mut metadata, csv("renamed", "1")));
    assert!(!ensure_owner(&mut metadata, csv("a", "2")));
    let uids: Vec<_> = references(&metadata).iter().map(|owner| owner.uid.as_str()).collect();
    assert_eq!(uids, ["1", "2"]);
}

#[rstest]
#[case(&[], false, false)]
#[case(&[csv("a", "1")], true, true)]
#[case(&[csv("a", "2")], false, true)]
#[case(&[non_blocking_owner("other.group/v1", CSV, "a", "2")], false, true)]
#[case(&[non_blocking_owner("v1", "ConfigMap", "a", "1")], true, false)]
fn ownership_by_reference(
    #[case] references: &[OwnerReference],
    #[case] by_uid: bool,
    #[case] by_kind: bool,
) {
    assert_eq!(is_owned_by_uid(&owned(references), "1"), by_uid);
    assert_eq!(is_owned_by_kind(&owned(references), CSV), by_kind);
    assert_eq!(owner_of_kind(&owned(references), CSV).is_some(), by_kind);
    assert_eq!(is_adoptable(CSV, references), by_kind);
}

#[rstest]
#[case::complete(&[("olm.owner", "a"), ("olm.owner.namespace", "ns"), ("olm.owner.kind", CSV)], true)]
#[case::other_kind(&[("olm.owner", "a"), ("olm.owner.namespace", "ns"), ("olm.owner.kind", "OperatorGroup")], false)]
#[case::no_namespace(&[("olm.owner", "a"), ("olm.owner.kind", CSV)], false)]
#[case::no_name(&[("olm.owner.namespace", "ns"), ("olm.owner.kind", CSV)], false)]
#[case::none(&[], false)]
fn owner_in_labels(#[case] labels: &[(&str, &str)], #[case] found: bool) {
    let labels = mk_labels(labels);
    let owner = OwnerName { kind: CSV, namespace: "ns", name: "a" };
    assert_eq!(owner_by_label(&labels, CSV), found.then_some(owner));
    assert_eq!(is_owned_by_label(&labels, owner), found);
}

#[test]
fn labels_round_trip() {
    let labels = owner_labels("a", "ns", CSV);
    let owner = owner_by_label(&labels, CSV).unwrap();
    assert_eq!((owner.name, owner.namespace), ("a", "ns"));
    assert!(!is_owned_by_label(&labels, OwnerName { name: "b", ..owner }));
}

#[rstest]
#[case::no_owner(&[], false)]
#[case::full_api_version_never_counts(&[csv("b", "2")], false)]
#[case::rival(&[non_blocking_owner("v1alpha1", CSV, "b", "2")], true)]
#[case::same_name_other_uid(&[non_blocking_owner("v1alpha1", CSV, "a", "2")], true)]
#[case::target_itself(&[non_blocking_owner("v1alpha1", CSV, "a", "1")], false)]
#[case::target_among_rivals(
    &[non_blocking_owner("v1alpha1", CSV, "b", "2"), non_blocking_owner("v1alpha1", CSV, "a", "1")],
    false
)]
#[case::other_kind(&[non_blocking_owner("v1alpha1", "Subscription", "b", "2")], false)]
fn owner_conflicts(#[case] references: &[OwnerReference], #[case] conflict: bool) {
    assert_eq!(has_owner_conflict(CSV, "v1alpha1", "a", "1", references), conflict);
}

#[rstest]
#[case::empty(&[], false, false)]
#[case::this(&[("olm.owner", "a"), ("olm.owner.namespace", "ns"), ("olm.owner.kind", CSV)], true, true)]
#[case::other_name(&[("olm.owner", "z"), ("olm.owner.namespace", "ns"), ("olm.owner.kind", CSV)], true, false)]
#[case::other_namespace(&[("olm.owner", "a"), ("olm.owner.namespace", "x"), ("olm.owner.kind", CSV)], false, false)]
#[case::no_name(&[("olm.owner.namespace", "ns"), ("olm.owner.kind", CSV)], true, false)]
fn adoptable_by_labels(
    #[case] labels: &[(&str, &str)],
    #[case] any_name: bool,
    #[case] this_name: bool,
) {
    let labels = mk_labels(labels);
    let owners = [
        OwnerName { kind: CSV, namespace: "elsewhere", name: "b" },
        OwnerName { kind: CSV, namespace: "ns", name: "a" },
    ];
    assert_eq!(is_adoptable_by_labels(&labels, false, &owners), any_name);
    assert_eq!(is_adoptable_by_labels(&labels, true, &owners), this_name);
    assert!(!is_adoptable_by_labels(&labels, false, &[]));
}

fn mk_labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}
