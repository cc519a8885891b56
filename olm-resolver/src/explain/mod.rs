//! Why there is no answer: facts that cannot all hold, as data first and as text second.
//!
//! The text of an [`Explanation`] is v0's (`constraints not satisfiable: ...`), because tools match
//! on it. [`Explanation::summary`] says the same to people, with the names that they know.

mod fact;
pub(crate) mod repair;
mod summary;

use std::fmt;

pub use fact::{Fact, SubscriptionRef};
pub use repair::Repair;

use crate::problem::{Problem, RuleId};
use crate::source::Scope;

/// Turns contradicting rules into an explanation.
pub trait Explainer: Send + Sync {
    /// The rules are a minimal set that cannot hold together.
    fn explain(&self, scope: &Scope<'_>, problem: &Problem, rules: &[RuleId]) -> Explanation;
}

/// States each rule as a fact.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClassicExplainer;

impl Explainer for ClassicExplainer {
    fn explain(&self, scope: &Scope<'_>, problem: &Problem, rules: &[RuleId]) -> Explanation {
        Explanation::new(rules.iter().filter_map(|rule| Fact::of(scope, problem, *rule)))
    }
}

/// Facts that cannot all hold; without any one of them the rest could. Prints as v0 does:
/// `constraints not satisfiable: a, b`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    facts: Vec<Fact>,
    repairs: Vec<Repair>,
}

impl Explanation {
    /// An explanation; the facts are sorted by their text.
    pub fn new(facts: impl IntoIterator<Item = Fact>) -> Self {
        let mut facts: Vec<Fact> = facts.into_iter().collect();
        facts.sort_by_cached_key(Fact::to_string);
        Self { facts, repairs: Vec::new() }
    }

    /// The explanation with changes that help, best first.
    pub(crate) fn with_repairs(self, repairs: Vec<Repair>) -> Self {
        Self { repairs, ..self }
    }

    /// The facts, sorted by their text.
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// Changes that help, each verified by solving again with the change applied.
    pub fn repairs(&self) -> &[Repair] {
        &self.repairs
    }

    /// What stands in the way, in sentences for people: who asks, for what, why it cannot be, and
    /// what would help.
    pub fn summary(&self) -> String {
        summary::of(&self.facts, &self.repairs)
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("constraints not satisfiable")?;
        for (position, fact) in self.facts.iter().enumerate() {
            write!(f, "{}{fact}", if position == 0 { ": " } else { ", " })?;
        }
        Ok(())
    }
}
