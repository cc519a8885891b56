//! The SAT core of the crate `batsat`, bounded by a number of steps.

use std::cell::Cell;

use batsat::{Callbacks, Lit, Solver as Batsat, SolverInterface, SolverOpts, Var, lbool};

use super::{ClauseSet, Exhausted, Literal, Sat, Satisfiability};

/// A conflict-driven SAT core. Variables are first tried as false, so that models are small.
pub struct BatsatCore {
    batsat: Batsat<Steps>,
    variables: Vec<Var>,
    failed: Vec<u32>,
}

/// Counts decisions; more than `limit` stop the search.
struct Steps {
    limit: u64,
    taken: Cell<u64>,
}

impl Callbacks for Steps {
    fn stop(&self) -> bool {
        self.taken.set(self.taken.get() + 1);
        self.taken.get() > self.limit
    }
}

impl BatsatCore {
    /// A core without clauses that gives up after so many steps, all calls together.
    pub fn new(limit: u64) -> Self {
        let steps = Steps { limit, taken: Cell::new(0) };
        Self {
            batsat: Batsat::new(SolverOpts::default(), steps),
            variables: Vec::new(),
            failed: Vec::new(),
        }
    }

    /// Literals of unknown variables do not exist.
    fn literal(&self, literal: Literal) -> Option<Lit> {
        let variable = self.variables.get(literal.variable as usize)?;
        Some(Lit::new(*variable, literal.positive))
    }

    fn remember_failed(&mut self) {
        let core = self.batsat.unsat_core();
        self.failed = core.iter().map(|literal| literal.var().idx()).collect();
        self.failed.sort_unstable();
        self.failed.dedup();
    }
}

impl ClauseSet for BatsatCore {
    fn new_variable(&mut self) -> u32 {
        let number = u32::try_from(self.variables.len()).unwrap_or(u32::MAX);
        self.variables.push(self.batsat.new_var(lbool::FALSE, true));
        number
    }

    fn add_clause(&mut self, clause: &[Literal]) {
        let mut literals: Vec<Lit> =
            clause.iter().filter_map(|literal| self.literal(*literal)).collect();
        self.batsat.add_clause_reuse(&mut literals);
    }
}

impl Sat for BatsatCore {
    fn solve(&mut self, assumptions: &[Literal]) -> Result<Satisfiability, Exhausted> {
        let assumptions: Vec<Lit> =
            assumptions.iter().filter_map(|literal| self.literal(*literal)).collect();
        let answer = self.batsat.solve_limited(&assumptions);
        if answer == lbool::TRUE {
            return Ok(Satisfiability::Satisfiable);
        }
        if answer == lbool::FALSE {
            self.remember_failed();
            return Ok(Satisfiability::Unsatisfiable);
        }
        Err(Exhausted { steps: self.batsat.cb().limit })
    }

    fn is_true(&self, variable: u32) -> bool {
        let variable = self.variables.get(variable as usize);
        variable.is_some_and(|variable| self.batsat.value_var(*variable) == lbool::TRUE)
    }

    fn failed(&self) -> Vec<u32> {
        self.failed.clone()
    }
}
