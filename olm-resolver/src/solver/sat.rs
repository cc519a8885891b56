//! What is needed of a SAT core: clauses, assumptions, models and failed assumptions.

use super::Exhausted;

/// A variable or its negation. Variables count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Literal {
    /// The variable.
    pub variable: u32,
    /// Whether the variable itself is meant, not its negation.
    pub positive: bool,
}

impl Literal {
    /// The variable is true.
    pub fn positive(variable: u32) -> Self {
        Self { variable, positive: true }
    }

    /// The variable is false.
    pub fn negative(variable: u32) -> Self {
        Self { variable, positive: false }
    }
}

/// Whether clauses and assumptions can hold together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Satisfiability {
    /// They can; [`Sat::is_true`] says one way.
    Satisfiable,
    /// They cannot; [`Sat::failed`] says which assumptions are to blame.
    Unsatisfiable,
}

/// What takes clauses.
pub trait ClauseSet {
    /// Makes a variable, numbered by how many there were.
    fn new_variable(&mut self) -> u32;

    /// Adds a clause: one of the literals holds.
    fn add_clause(&mut self, clause: &[Literal]);
}

/// An incremental SAT core. Deterministic.
pub trait Sat: ClauseSet {
    /// Decides whether the clauses and the assumptions can hold together.
    fn solve(&mut self, assumptions: &[Literal]) -> Result<Satisfiability, Exhausted>;

    /// Whether a variable is true in the model of the last satisfiable call.
    fn is_true(&self, variable: u32) -> bool;

    /// Variables of the assumptions of the last unsatisfiable call that cannot hold together,
    /// ascending. Not necessarily the fewest.
    fn failed(&self) -> Vec<u32>;
}
