//! Finding the answer of a [`Formula`].
//!
//! [`Solver`] is what the resolver needs: the most preferred answer, or rules that contradict each
//! other. [`OrderedSearch`] gives it with any [`Sat`] core; [`GuessingSearch`] gives the one that OLM v0
//! finds, which is nearly always the same.

mod batsat_core;
#[cfg(test)]
mod brute_force;
mod circuit;
mod contradiction;
mod encoding;
mod facts;
mod guessing_search;
mod implied;
mod learning;
mod ordered_search;
mod propagation;
mod sat;
#[cfg(test)]
mod tests;

pub use batsat_core::BatsatCore;
pub use guessing_search::GuessingSearch;
pub use ordered_search::OrderedSearch;
pub use sat::{ClauseSet, Literal, Sat, Satisfiability};
use thiserror::Error;

use crate::problem::{Formula, RuleId, VariableId};

/// Finds an answer of a formula.
pub trait Solver: Send + Sync {
    /// The same formula always has the same solution.
    fn solve(&self, formula: &Formula) -> Result<Solution, Exhausted>;
}

/// What a formula leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Solution {
    /// The variables that are in the answer, ascending.
    Chosen(Vec<VariableId>),
    /// Rules that cannot all hold, ascending; without any one of them the rest can.
    Contradiction(Vec<RuleId>),
}

/// The search took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("given up after {steps} steps")]
pub struct Exhausted {
    /// The bound that was hit.
    pub steps: u64,
}
