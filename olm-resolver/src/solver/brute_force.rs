//! Reference solvers for small formulas: every set of variables is tried.

use std::collections::VecDeque;

use super::{ClauseSet, Exhausted, Literal, Sat, Satisfiability};
use crate::problem::{Formula, Rule, VariableId};

/// A SAT core that tries every assignment.
#[derive(Default)]
pub(super) struct BruteForce {
    variables: u32,
    clauses: Vec<Vec<Literal>>,
    model: u64,
    failed: Vec<u32>,
}

impl ClauseSet for BruteForce {
    fn new_variable(&mut self) -> u32 {
        self.variables += 1;
        self.variables - 1
    }

    fn add_clause(&mut self, clause: &[Literal]) {
        self.clauses.push(clause.to_vec());
    }
}

impl Sat for BruteForce {
    fn solve(&mut self, assumptions: &[Literal]) -> Result<Satisfiability, Exhausted> {
        let holds = |model: u64, literal: &Literal| {
            ((model >> literal.variable) & 1 == 1) == literal.positive
        };
        let is_model = |model: &u64| {
            assumptions.iter().all(|literal| holds(*model, literal))
                && self
                    .clauses
                    .iter()
                    .all(|clause| clause.iter().any(|literal| holds(*model, literal)))
        };
        match (0..1_u64 << self.variables).find(is_model) {
            Some(model) => {
                self.model = model;
                Ok(Satisfiability::Satisfiable)
            }
            None => {
                self.failed = assumptions.iter().map(|literal| literal.variable).collect();
                Ok(Satisfiability::Unsatisfiable)
            }
        }
    }

    fn is_true(&self, variable: u32) -> bool {
        (self.model >> variable) & 1 == 1
    }

    fn failed(&self) -> Vec<u32> {
        self.failed.clone()
    }
}

/// Whether a set of variables keeps a rule.
pub(super) fn keeps(set: u64, rule: &Rule) -> bool {
    let has = |variable: &VariableId| (set >> variable.0) & 1 == 1;
    match rule {
        Rule::Mandatory(variable) => has(variable),
        Rule::Prohibited(variable) => !has(variable),
        Rule::Conflict(one, other) => !(has(one) && has(other)),
        Rule::Dependency { of, choices } => !has(of) || choices.iter().any(has),
        Rule::AtMost { count, of } => {
            of.iter().filter(|variable| has(variable)).count() <= *count as usize
        }
    }
}

/// Whether some set keeps all of the rules.
pub(super) fn is_satisfiable(variables: u32, rules: &[Rule]) -> bool {
    (0..1_u64 << variables).any(|set| rules.iter().all(|rule| keeps(set, rule)))
}

/// The most preferred answer by the definition: of all sets that keep the rules, those are kept
/// that contain the first possible candidate of each choice in turn; then the smallest one.
pub(super) fn most_preferred(formula: &Formula) -> Option<u64> {
    let mut sets: Vec<u64> = (0..1_u64 << formula.variables)
        .filter(|set| formula.rules.iter().all(|rule| keeps(*set, rule)))
        .collect();
    let mut taken = 0_u64;
    let dependencies = formula.dependencies();
    let mut queue: VecDeque<Vec<VariableId>> =
        formula.anchors().map(|anchor| vec![anchor]).collect();
    while let Some(choice) = queue.pop_front() {
        if sets.is_empty() {
            return None;
        }
        if choice.iter().any(|candidate| (taken >> candidate.0) & 1 == 1) {
            continue;
        }
        let possible =
            |candidate: &&VariableId| sets.iter().any(|set| (set >> candidate.0) & 1 == 1);
        let candidate = *choice.iter().find(possible)?;
        taken |= 1 << candidate.0;
        sets.retain(|set| (set >> candidate.0) & 1 == 1);
        queue.extend(dependencies[candidate.index()].iter().map(|choices| choices.to_vec()));
    }
    sets.into_iter().min_by_key(|set| set.count_ones())
}
