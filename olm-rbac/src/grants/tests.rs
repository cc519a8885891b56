//! The rows of spec olm-operator 8.26, with account `coffee-shop/barista-operator`.

use super::*;
use crate::coverage::tests::mk_rule;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use rstest::rstest;

const NS: &str = "coffee-shop";
const SA: &str = "barista-operator";

#[derive(Default)]
struct Fixture {
    roles: Vec<Role>,
    cluster_roles: Vec<ClusterRole>,
    role_bindings: Vec<RoleBinding>,
    cluster_role_bindings: Vec<ClusterRoleBinding>,
}

impl RbacView for Fixture {
    fn role(&self, namespace: &str, name: &str) -> Option<Arc<Role>> {
        assert_eq!(namespace, NS);
        let named = |role: &&Role| role.metadata.name.as_deref() == Some(name);
        self.roles.iter().find(named).cloned().map(Arc::new)
    }

    fn cluster_role(&self, name: &str) -> Option<Arc<ClusterRole>> {
        let named = |role: &&ClusterRole| role.metadata.name.as_deref() == Some(name);
        self.cluster_roles.iter().find(named).cloned().map(Arc::new)
    }

    fn role_bindings(&self, _: &str) -> Vec<Arc<RoleBinding>> {
        self.role_bindings.iter().cloned().map(Arc::new).collect()
    }

    fn cluster_role_bindings(&self) -> Vec<Arc<ClusterRoleBinding>> {
        self.cluster_role_bindings.iter().cloned().map(Arc::new).collect()
    }
}

impl Fixture {
    fn role(mut self, name: &str, owners: &[(&str, &str)], rules: Vec<PolicyRule>) -> Self {
        self.roles.push(Role { metadata: mk_meta(name, owners), rules: Some(rules) });
        self.role_bindings.push(RoleBinding {
            metadata: mk_meta(name, owners),
            role_ref: mk_ref("Role", name),
            subjects: Some(vec![mk_subject()]),
        });
        self
    }

    fn cluster_role_here(mut self, name: &str, rules: Vec<PolicyRule>) -> Self {
        self.cluster_roles.push(ClusterRole {
            metadata: mk_meta(name, &[]),
            rules: Some(rules),
            ..ClusterRole::default()
        });
        self.role_bindings.push(RoleBinding {
            metadata: mk_meta(name, &[]),
            role_ref: mk_ref("ClusterRole", name),
            subjects: Some(vec![mk_subject()]),
        });
        self
    }

    fn cluster_role(mut self, name: &str, rules: Vec<PolicyRule>) -> Self {
        self.cluster_roles.push(ClusterRole {
            metadata: mk_meta(name, &[]),
            rules: Some(rules),
            ..ClusterRole::default()
        });
        self.cluster_role_bindings.push(ClusterRoleBinding {
            metadata: mk_meta(name, &[]),
            role_ref: mk_ref("ClusterRole", name),
            subjects: Some(vec![mk_subject()]),
        });
        self
    }
}

fn mk_meta(name: &str, owners: &[(&str, &str)]) -> ObjectMeta {
    let owners = owners.iter().map(|(kind, name)| OwnerReference {
        api_version: "v1alpha1".to_owned(),
        kind: (*kind).to_owned(),
        name: (*name).to_owned(),
        uid: (*name).to_owned(),
        ..OwnerReference::default()
    });
    ObjectMeta {
        name: Some(name.to_owned()),
        owner_references: Some(owners.collect()),
        ..ObjectMeta::default()
    }
}

fn mk_ref(kind: &str, name: &str) -> RoleRef {
    RoleRef { kind: kind.to_owned(), name: name.to_owned(), ..RoleRef::default() }
}

fn mk_subject() -> Subject {
    Subject {
        kind: "ServiceAccount".to_owned(),
        name: SA.to_owned(),
        namespace: Some(NS.to_owned()),
        api_group: None,
    }
}

fn star() -> Vec<PolicyRule> {
    vec![mk_rule("*", "*", "*", "", "")]
}

fn coffee() -> PolicyRule {
    mk_rule("create,update", "coffee.io", "cups", "", "")
}

const CSV: &str = "ClusterServiceVersion";

#[rstest]
#[case::nothing(Fixture::default(), Scope::Namespace, false)]
#[case::one_role(Fixture::default().role("r", &[], star()), Scope::Namespace, true)]
#[case::role_of_another_csv(
    Fixture::default().role("r", &[(CSV, "other")], star()), Scope::Namespace, false)]
#[case::concurrent_owners(
    Fixture::default().role("r", &[(CSV, "other"), (CSV, "ours")], star()), Scope::Namespace, true)]
#[case::owned_by_another_kind(
    Fixture::default().role("r", &[("Deployment", "d")], star()), Scope::Namespace, true)]
#[case::two_roles_together(
    Fixture::default()
        .role("a", &[], vec![mk_rule("create", "coffee.io", "cups", "", "")])
        .role("b", &[], vec![mk_rule("update", "coffee.io", "*", "", "")]),
    Scope::Namespace, true)]
#[case::cluster_role(Fixture::default().cluster_role("c", star()), Scope::Cluster, true)]
#[case::cluster_role_in_namespace(
    Fixture::default().cluster_role("c", star()), Scope::Namespace, true)]
#[case::role_is_not_enough_for_the_cluster(
    Fixture::default().role("r", &[], star()), Scope::Cluster, false)]
#[case::lacks_a_verb(
    Fixture::default().cluster_role("c", vec![mk_rule("create", "coffee.io", "cups", "", "")]),
    Scope::Cluster, false)]
fn rule_checker(#[case] view: Fixture, #[case] scope: Scope, #[case] satisfied: bool) {
    assert_eq!(
        gather(&view).satisfy(scope, &coffee(), &ComparisonBudget::default()),
        Ok(satisfied)
    );
}

fn gather(view: &Fixture) -> Grants {
    let claimant = Claimant {
        version: "v1alpha1".to_owned(),
        kind: CSV.to_owned(),
        name: "ours".to_owned(),
        uid: "ours".to_owned(),
        replaced: Vec::new(),
    };
    Grants::gather(view, &Account::new(NS, SA), NS, &claimant)
}

/// The API server looks at no RoleBinding when it is asked for a URL.
#[rstest]
fn urls_are_in_no_namespace(#[values(Scope::Namespace, Scope::Cluster)] scope: Scope) {
    let url = || vec![mk_rule("get", "", "", "", "/menu")];
    let here = Fixture::default().cluster_role_here("here", url());
    assert_eq!(
        gather(&here).satisfy(
            scope,
            &mk_rule("get", "", "", "", "/menu"),
            &ComparisonBudget::default()
        ),
        Ok(false)
    );
    let everywhere = Fixture::default().cluster_role("everywhere", url());
    assert_eq!(
        gather(&everywhere).satisfy(
            scope,
            &mk_rule("get", "", "", "", "/menu"),
            &ComparisonBudget::default()
        ),
        Ok(true)
    );
}
