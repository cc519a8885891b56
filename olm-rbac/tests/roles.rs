//! What OpenShift's page on OperatorGroups promises about generated ClusterRoles (spec olm-operator 4.6),
//! sentence by sentence. v0's names and labels hold where they differ; docs/differences.md has the rows.

use k8s_openapi::api::rbac::v1::ClusterRole;
use olm_rbac::{api_service_roles, crd_roles, group_roles};
use olm_types::gvk::{CrdName, Gvk};
use rstest::rstest;

fn api() -> Gvk {
    Gvk::new("g.io", "v1", "Apple")
}

fn roles_of_crd() -> Vec<ClusterRole> {
    crd_roles(&CrdName::parse("apples.g.io").unwrap(), "v1", "Apple", "u")
}

fn named<'a>(roles: &'a [ClusterRole], end: &str) -> &'a ClusterRole {
    let ends = |role: &&ClusterRole| role.metadata.name.as_ref().unwrap().ends_with(end);
    roles.iter().find(ends).unwrap()
}

fn labels(role: &ClusterRole) -> Vec<String> {
    role.metadata.labels.iter().flatten().map(|(key, _)| key.clone()).collect()
}

/// "When an OperatorGroup is created, three ClusterRoles are generated. Each contains a single
/// AggregationRule with a ClusterRoleSelector set to match a label".
#[test]
fn a_group_has_three_roles_that_aggregate_by_label() {
    let roles = group_roles("ns", "og", [&api()]);
    assert_eq!(roles.len(), 3);
    for level in ["admin", "edit", "view"] {
        let role = named(&roles, &role_end(&roles, level));
        let rule = role.aggregation_rule.as_ref().unwrap();
        let [selector] = rule.cluster_role_selectors.as_deref().unwrap() else {
            panic!("several selectors")
        };
        let matched: Vec<&String> =
            selector.match_labels.iter().flatten().map(|(key, _)| key).collect();
        let [label] = matched.as_slice() else { panic!("{matched:?}") };
        assert!(label.starts_with("olm.opgroup.permissions/aggregate-to-"), "{label}");
        assert!(label.ends_with(&format!("-{level}")), "{label}");
        assert!(labels(named(&roles_of_crd(), &format!("-{level}"))).contains(label));
    }
}

/// The hash at the end of the name of a group's role of a level.
fn role_end(roles: &[ClusterRole], level: &str) -> String {
    let part = format!(".{level}-");
    let name = roles.iter().filter_map(|role| role.metadata.name.as_ref());
    let mut ends = name.filter_map(|name| name.split_once(&part).map(|(_, end)| end.to_owned()));
    ends.next().unwrap()
}

/// "ClusterRoles generated for each API resource from a CRD" and "… from an APIService": verbs.
#[rstest]
#[case::admin("-admin", &["*"])]
#[case::edit("-edit", &["create", "update", "patch", "delete"])]
#[case::view("-view", &["get", "list", "watch"])]
fn each_level_has_its_verbs(#[case] end: &str, #[case] verbs: &[&str]) {
    for roles in [roles_of_crd(), api_service_roles("apples", &api(), "u")] {
        let rules = named(&roles, end).rules.clone().unwrap();
        assert_eq!(rules.len(), 1);
        assert_eq!(rules[0].verbs, verbs);
        assert_eq!(rules[0].resources.as_deref(), Some(&["apples".to_owned()][..]));
    }
}

/// "Aggregation labels: rbac.authorization.k8s.io/aggregate-to-admin: true" and so on.
#[rstest]
#[case("-admin", "admin")]
#[case("-edit", "edit")]
#[case("-view", "view")]
#[case("-crdview", "view")]
fn users_of_the_cluster_get_them(#[case] end: &str, #[case] level: &str) {
    let roles = roles_of_crd();
    let labels = labels(named(&roles, end));
    assert!(labels.contains(&format!("rbac.authorization.k8s.io/aggregate-to-{level}")));
}

/// "Verbs on apiextensions.k8s.io customresourcedefinitions <crd-name>: get".
#[test]
fn the_definition_can_be_read() {
    let roles = roles_of_crd();
    let rules = named(&roles, "-crdview").rules.clone().unwrap();
    assert_eq!(rules[0].verbs, ["get"]);
    assert_eq!(rules[0].resource_names.as_deref(), Some(&["apples.g.io".to_owned()][..]));
}
