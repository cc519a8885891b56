//! The most preferred answer by the order of choices that OLM v0 defines (spec catalog-operator 3.7).
//!
//! Choices are visited first in, first out: the mandatory variables, then the dependencies of each
//! variable that was taken. A choice that an earlier one already meets adds nothing; otherwise the
//! first of its candidates is taken with which some answer is still possible. As each step asks the
//! SAT core whether an answer is still possible, nothing ever has to be taken back.
//!
//! v0 guesses and backtracks instead, and may miss that answer: [`GuessingSearch`](super::GuessingSearch).
//!
//! What was taken is closed under dependencies, and every other rule only forbids: so the taken
//! variables alone are an answer, and v0's minimisation of further variables is always zero.

use std::collections::VecDeque;
use std::sync::Arc;

use super::contradiction;
use super::encoding;
use super::implied;
use super::{BatsatCore, Exhausted, Literal, Sat, Satisfiability, Solution, Solver};
use crate::problem::{Formula, VariableId};

/// Steps of the SAT core that one resolution may take. Namespaces with a thousand reachable bundles
/// need a few million; this many take seconds.
const STEPS: u64 = 50_000_000;

/// How often it is tried to have all first candidates at once, without those that failed before.
const ATTEMPTS: usize = 4;

/// Searches in order of preference.
#[derive(Clone, Copy, Debug)]
pub struct OrderedSearch {
    /// Steps of the SAT core after which the search is given up.
    pub steps: u64,
}

impl Default for OrderedSearch {
    fn default() -> Self {
        Self { steps: STEPS }
    }
}

impl Solver for OrderedSearch {
    fn solve(&self, formula: &Formula) -> Result<Solution, Exhausted> {
        let new_core = || BatsatCore::new(self.steps);
        match search(formula, &mut new_core())? {
            Some(chosen) => Ok(Solution::Chosen(chosen)),
            None => Ok(Solution::Contradiction(contradiction::find(formula, new_core)?)),
        }
    }
}

/// The most preferred answer, ascending; `None` if there is none.
pub(super) fn search(
    formula: &Formula,
    sat: &mut dyn Sat,
) -> Result<Option<Vec<VariableId>>, Exhausted> {
    for _ in 0..formula.variables {
        sat.new_variable();
    }
    let implied = implied::exclusions(formula);
    let mut lists = encoding::Lists::of(&formula.rules);
    for (rule, _) in formula.rules.iter().zip(implied).filter(|(_, implied)| !implied) {
        lists.add(sat, rule, None);
    }
    if sat.solve(&[])? == Satisfiability::Unsatisfiable {
        return Ok(None);
    }
    Search::new(formula, sat).run().map(Some)
}

struct Search<'a> {
    sat: &'a mut dyn Sat,
    dependencies: Vec<Vec<&'a Arc<[VariableId]>>>,
    anchors: Vec<VariableId>,
    taken: Vec<bool>,
    /// A model of everything taken so far.
    model: Vec<bool>,
}

impl<'a> Search<'a> {
    fn new(formula: &'a Formula, sat: &'a mut dyn Sat) -> Self {
        let mut search = Self {
            sat,
            dependencies: formula.dependencies(),
            anchors: formula.anchors().collect(),
            taken: vec![false; formula.variables as usize],
            model: vec![false; formula.variables as usize],
        };
        search.remember_model();
        search
    }

    /// Looks for a model in which choices have their first candidate, as many as possible. It saves
    /// asking for each choice alone, and has no other influence.
    fn prefer_first_candidates(&mut self) -> Result<(), Exhausted> {
        let mut assumptions = self.first_candidates();
        for _ in 0..ATTEMPTS {
            if self.sat.solve(&assumptions)? == Satisfiability::Satisfiable {
                self.remember_model();
                break;
            }
            let failed = self.sat.failed();
            assumptions.retain(|one| failed.binary_search(&one.variable).is_err());
        }
        Ok(())
    }

    /// What would be taken if nothing stood in the way.
    fn first_candidates(&self) -> Vec<Literal> {
        let mut preferred = vec![false; self.taken.len()];
        let mut queue: VecDeque<&[VariableId]> =
            self.anchors.iter().map(std::slice::from_ref).collect();
        while let Some(choice) = queue.pop_front() {
            let first = choice.first().filter(|_| !choice.iter().any(|one| is(&preferred, *one)));
            let Some(first) = first else { continue };
            if let Some(flag) = preferred.get_mut(first.index()) {
                *flag = true;
            }
            let dependencies = self.dependencies.get(first.index());
            queue.extend(dependencies.into_iter().flatten().map(|choices| &***choices));
        }
        let preferred = (0..).zip(preferred).filter(|(_, is_preferred)| *is_preferred);
        preferred.map(|(variable, _)| Literal::positive(variable)).collect()
    }

    fn run(mut self) -> Result<Vec<VariableId>, Exhausted> {
        self.prefer_first_candidates()?;
        let anchors = std::mem::take(&mut self.anchors);
        let mut queue: VecDeque<&[VariableId]> = anchors.iter().map(std::slice::from_ref).collect();
        while let Some(choice) = queue.pop_front() {
            if choice.iter().any(|candidate| is(&self.taken, *candidate)) {
                continue;
            }
            if let Some(candidate) = self.first_possible(choice)? {
                self.take(candidate);
                let dependencies = self.dependencies.get(candidate.index());
                queue.extend(dependencies.into_iter().flatten().map(|choices| &***choices));
            }
        }
        Ok((0..)
            .map(VariableId)
            .zip(&self.taken)
            .filter(|(_, taken)| **taken)
            .map(|(id, _)| id)
            .collect())
    }

    /// The first candidate that some answer contains together with everything taken.
    fn first_possible(&mut self, choice: &[VariableId]) -> Result<Option<VariableId>, Exhausted> {
        for candidate in choice {
            if is(&self.model, *candidate) {
                return Ok(Some(*candidate));
            }
            match self.sat.solve(&[Literal::positive(candidate.0)])? {
                Satisfiability::Satisfiable => {
                    self.remember_model();
                    return Ok(Some(*candidate));
                }
                Satisfiability::Unsatisfiable => {
                    self.sat.add_clause(&[Literal::negative(candidate.0)])
                }
            }
        }
        Ok(None)
    }

    fn take(&mut self, variable: VariableId) {
        self.sat.add_clause(&[Literal::positive(variable.0)]);
        if let Some(taken) = self.taken.get_mut(variable.index()) {
            *taken = true;
        }
    }

    fn remember_model(&mut self) {
        for (variable, value) in (0..).zip(&mut self.model) {
            *value = self.sat.is_true(variable);
        }
    }
}

fn is(values: &[bool], variable: VariableId) -> bool {
    values.get(variable.index()).copied().unwrap_or(false)
}
