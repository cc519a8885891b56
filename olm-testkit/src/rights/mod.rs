//! What each operator may do in a cluster, and why: one table per operator, from which
//! `cargo xtask rbac` writes `deploy/base/rbac.yaml`.
//!
//! A run of the scenarios compares the tables with the audit log of the API server ([`compare`]):
//! what an operator used is in its table, and what is in its table was used, unless the row says
//! why no scenario shows it.

mod catalog_operator;
mod compare;
mod olm_operator;
mod render;
#[cfg(test)]
mod tests;

use crate::operators::{OLM_NAMESPACE, Operator};

pub use compare::{Findings, compare};
pub use render::{role_name, rules_of, yaml};

/// Something that an operator does with some resources of one API group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Right {
    /// The API group; `*` for every one.
    pub group: &'static str,
    /// Resources in the plural, with their subresources (`pods/log`); `*` for every one.
    pub resources: &'static [&'static str],
    /// What it does with them.
    pub verbs: &'static [&'static str],
    /// The names of the objects; any name when empty.
    pub names: &'static [&'static str],
    /// Where.
    pub scope: Scope,
    /// What for.
    pub reason: &'static str,
    /// Why scenarios need not show it in use; none for what they do show.
    pub unseen: Option<&'static str>,
}

/// Where a right holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// In the operators' own namespace only.
    OwnNamespace,
    /// In the whole cluster.
    Cluster,
}

/// The rights of an operator. Where rows overlap, what is used counts for the first of them.
pub fn of(operator: Operator) -> &'static [Right] {
    match operator {
        Operator::Olm => olm_operator::RIGHTS,
        Operator::Catalog => catalog_operator::RIGHTS,
    }
}

impl Right {
    /// A right in the whole cluster on objects of any name, which scenarios show.
    const fn new(
        group: &'static str,
        resources: &'static [&'static str],
        verbs: &'static [&'static str],
        reason: &'static str,
    ) -> Self {
        let (names, scope): (&[_], _) = (&[], Scope::Cluster);
        Self { group, resources, verbs, names, scope, reason, unseen: None }
    }

    /// The same in the operators' own namespace only.
    const fn at_home(mut self) -> Self {
        self.scope = Scope::OwnNamespace;
        self
    }

    /// The same for objects of these names only.
    const fn named(mut self, names: &'static [&'static str]) -> Self {
        self.names = names;
        self
    }

    /// The same, which scenarios need not show.
    const fn unseen(mut self, why: &'static str) -> Self {
        self.unseen = Some(why);
        self
    }

    /// Whether it allows this much, as the API server decides.
    fn covers(&self, used: &crate::audit::Use) -> bool {
        let is = |pattern: &str, value: &str| pattern == "*" || pattern == value;
        let named = self.names.is_empty() || self.names.contains(&used.name.as_str());
        let here = self.scope == Scope::Cluster || used.namespace == OLM_NAMESPACE;
        is(self.group, &used.group)
            && self.resources.iter().any(|pattern| is(pattern, &used.resource))
            && self.verbs.iter().any(|pattern| is(pattern, &used.verb))
            && named
            && here
    }
}

/// Group of OLM's own kinds.
const OLM: &str = "operators.coreos.com";

/// Group of roles and bindings.
const RBAC: &str = "rbac.authorization.k8s.io";

/// What a watch needs.
const WATCH: &[&str] = &["list", "watch"];

/// Why a right is in no log.
const ASKED_BY_SERVER: &str = "the API server asks for it inside of another request";

/// What a watch that lost something is repaired with: `get` on what is written.
const fn unconfirmed(group: &'static str, resources: &'static [&'static str]) -> Right {
    Right::new(group, resources, &["get"], "reads again what it wrote and a watch does not show")
        .unseen("only when a watch does not show within seconds what was written")
}

// What both operators do.

const ESCALATE: Right = Right::new(
    RBAC,
    &["roles", "clusterroles"],
    &["escalate", "bind"],
    "an operator may ask for any right: whoever lets it be installed answers for that",
)
.unseen(ASKED_BY_SERVER);

const TOKENS: Right = Right::new(
    "",
    &["serviceaccounts/token"],
    &["create"],
    "installs under the account that an OperatorGroup names",
);

const EVENTS: Right =
    Right::new("", &["events"], &["create", "patch"], "tells users what happened");

const NEW_LEASE: Right =
    Right::new("coordination.k8s.io", &["leases"], &["create"], "one of several replicas acts")
        .at_home();
