//! Random rules, roles and bindings, the same in every run.

use anyhow::{Result, anyhow};
use k8s_openapi::api::rbac::v1::PolicyRule;
use proptest::prelude::*;
use proptest::sample::subsequence;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// A role that an account holds.
#[derive(Clone, Debug)]
pub struct HeldRole {
    /// What it holds and how.
    pub by: BindingForm,
    /// How the binding names the account.
    pub subject: Named,
    /// The rules of the role.
    pub rules: Vec<PolicyRule>,
}

/// How a role is held.
#[derive(Clone, Copy, Debug)]
pub enum BindingForm {
    /// A Role in the namespace.
    Role,
    /// A ClusterRole in the namespace.
    ClusterRoleHere,
    /// A ClusterRole everywhere.
    ClusterRole,
    /// A ClusterRole everywhere, whose rules are collected from another one.
    Aggregated,
}

/// How a binding names an account.
#[derive(Clone, Copy, Debug)]
pub enum Named {
    /// As a ServiceAccount.
    Account,
    /// As the user that the account is.
    User,
    /// As a group that it is in, which does not count.
    Group,
    /// As an account of the same name in another namespace.
    Elsewhere,
}

/// Makes the values.
pub struct Generator {
    runner: TestRunner,
}

impl Generator {
    pub fn new() -> Self {
        Self { runner: TestRunner::deterministic() }
    }

    /// What an account holds.
    pub fn holdings(&mut self) -> Result<Vec<HeldRole>> {
        self.make(&proptest::collection::vec(holding(), 0..4))
    }

    /// A rule to ask about: of resources, with wildcards and empty lists, or of URLs.
    pub fn wanted(&mut self) -> Result<PolicyRule> {
        self.make(&prop_oneof![4 => resources(0), 1 => urls()])
    }

    /// A rule that could stand in a Role.
    pub fn granted(&mut self) -> Result<PolicyRule> {
        self.make(&resources(1))
    }

    /// The right to make Roles, without which it is not checked what is in them.
    pub fn makes_roles() -> HeldRole {
        let rule = PolicyRule {
            verbs: texts(vec!["create"]),
            api_groups: Some(texts(vec!["rbac.authorization.k8s.io"])),
            resources: Some(texts(vec!["roles"])),
            ..PolicyRule::default()
        };
        HeldRole { by: BindingForm::Role, subject: Named::Account, rules: vec![rule] }
    }

    fn make<S: Strategy>(&mut self, strategy: &S) -> Result<S::Value> {
        let tree = strategy.new_tree(&mut self.runner).map_err(|reason| anyhow!("{reason}"))?;
        Ok(tree.current())
    }
}

fn holding() -> impl Strategy<Value = HeldRole> {
    let ways = [
        BindingForm::Role,
        BindingForm::ClusterRoleHere,
        BindingForm::ClusterRole,
        BindingForm::Aggregated,
    ];
    let names = [Named::Account, Named::Account, Named::User, Named::Group, Named::Elsewhere];
    (proptest::sample::select(ways.to_vec()), proptest::sample::select(names.to_vec()))
        .prop_flat_map(|(by, subject)| {
            let rule = match by {
                // The API server refuses URLs in a Role.
                BindingForm::Role => resources(1).boxed(),
                _ => prop_oneof![3 => resources(1), 1 => urls()].boxed(),
            };
            let rules = proptest::collection::vec(rule, 1..3);
            rules.prop_map(move |rules| HeldRole { by, subject, rules })
        })
}

/// A rule of resources; groups and resources have at least as many items.
fn resources(least: usize) -> impl Strategy<Value = PolicyRule> {
    let some = |items: &'static [&'static str], least: usize, most: usize| {
        subsequence(items, least..=most).prop_map(texts)
    };
    (
        some(&["get", "list", "update", "*"], 1, 2),
        some(&["", "apps", "*"], least, 2),
        some(&["pods", "nodes", "pods/log", "*/log", "pods/*", "*"], least, 2),
        some(&["n", "m"], 0, 2),
    )
        .prop_map(|(verbs, groups, resources, names)| PolicyRule {
            verbs,
            api_groups: Some(groups),
            resources: Some(resources),
            resource_names: Some(names),
            non_resource_urls: None,
        })
}

fn urls() -> impl Strategy<Value = PolicyRule> {
    (
        subsequence(&["get", "list", "*"], 1..=2).prop_map(texts),
        subsequence(&["/a", "/a/*", "/a*", "/a/b", "*"], 1..=2).prop_map(texts),
    )
        .prop_map(|(verbs, urls)| PolicyRule {
            verbs,
            non_resource_urls: Some(urls),
            ..PolicyRule::default()
        })
}

fn texts(items: Vec<&str>) -> Vec<String> {
    items.into_iter().map(str::to_owned).collect()
}
