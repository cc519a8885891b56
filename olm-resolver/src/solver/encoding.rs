//! Rules as clauses.
//!
//! Every clause of a rule may carry a switch: a literal that is false while the rule counts. Rules
//! without a switch always count.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{ClauseSet, Literal};
use crate::problem::{Rule, VariableId, list_address};

/// Up to this many variables "at most one" is written pair by pair, without further variables.
const PAIRWISE: usize = 5;

/// Lists of choices that are longer, and that several rules share, are written once.
const LONG: usize = 64;

/// Lists that are longer are written in parts, whoever has them: a SAT core looks through a clause again
/// and again.
const LONGEST: usize = 1_024;

/// Rules with the lists that they share.
#[derive(Default)]
pub(super) struct Lists {
    shared: HashSet<usize>,
    /// By list the variable that says that one of its members is chosen.
    any_of: HashMap<usize, u32>,
}

impl Lists {
    /// The lists that more than one of these rules have.
    pub(super) fn of<'a>(rules: impl IntoIterator<Item = &'a Rule>) -> Self {
        let (mut seen, mut lists) = (HashSet::new(), Self::default());
        for rule in rules {
            if let Rule::Dependency { choices, .. } = rule
                && choices.len() > LONG
                && !seen.insert(list_address(choices))
            {
                lists.shared.insert(list_address(choices));
            }
        }
        lists
    }

    /// Adds the clauses of a rule.
    pub(super) fn add(&mut self, sat: &mut dyn ClauseSet, rule: &Rule, switch: Option<Literal>) {
        match rule {
            Rule::Dependency { of, choices } if self.is_apart(choices) => {
                let any = self.any_of.entry(list_address(choices)).or_insert_with(|| {
                    any_of(sat, choices.iter().map(|one| Literal::positive(one.0)).collect())
                });
                Clauses { sat, switch }.add(&[Literal::negative(of.0), Literal::positive(*any)]);
            }
            rule => add(sat, rule, switch),
        }
    }

    fn is_apart(&self, choices: &Arc<[VariableId]>) -> bool {
        choices.len() > LONGEST || self.shared.contains(&list_address(choices))
    }
}

/// A variable that is true only if one of these is, by way of groups of a few.
fn any_of(sat: &mut dyn ClauseSet, mut members: Vec<Literal>) -> u32 {
    while members.len() > LONG {
        let groups = members.chunks(LONG).map(|group| Literal::positive(one_of(sat, group)));
        members = groups.collect();
    }
    one_of(sat, &members)
}

fn one_of(sat: &mut dyn ClauseSet, members: &[Literal]) -> u32 {
    let any = sat.new_variable();
    let clause: Vec<Literal> =
        std::iter::once(Literal::negative(any)).chain(members.iter().copied()).collect();
    sat.add_clause(&clause);
    any
}

/// Adds the clauses of a rule.
pub(super) fn add(sat: &mut dyn ClauseSet, rule: &Rule, switch: Option<Literal>) {
    let mut clauses = Clauses { sat, switch };
    match rule {
        Rule::Mandatory(variable) => clauses.add(&[Literal::positive(variable.0)]),
        Rule::Prohibited(variable) => clauses.add(&[Literal::negative(variable.0)]),
        Rule::Conflict(one, other) => {
            clauses.add(&[Literal::negative(one.0), Literal::negative(other.0)]);
        }
        Rule::Dependency { of, choices } => {
            let mut clause = vec![Literal::negative(of.0)];
            clause.extend(choices.iter().map(|choice| Literal::positive(choice.0)));
            clauses.add(&clause);
        }
        Rule::AtMost { count, of } => {
            let of: Vec<u32> = of.iter().map(|variable| variable.0).collect();
            clauses.at_most(*count as usize, &of);
        }
    }
}

struct Clauses<'a> {
    sat: &'a mut dyn ClauseSet,
    switch: Option<Literal>,
}

impl Clauses<'_> {
    fn add(&mut self, literals: &[Literal]) {
        let clause: Vec<Literal> = literals.iter().copied().chain(self.switch).collect();
        self.sat.add_clause(&clause);
    }

    fn at_most(&mut self, count: usize, of: &[u32]) {
        if count >= of.len() {
            return;
        }
        match count {
            0 => of.iter().for_each(|variable| self.add(&[Literal::negative(*variable)])),
            1 if of.len() <= PAIRWISE => self.pairwise(of),
            _ => self.counter(count, of),
        }
    }

    fn pairwise(&mut self, of: &[u32]) {
        for (position, one) in of.iter().enumerate() {
            for other in of.iter().take(position) {
                self.add(&[Literal::negative(*one), Literal::negative(*other)]);
            }
        }
    }

    /// A sequential counter: `reached[k]` is true once more than `k` of the variables so far are.
    fn counter(&mut self, count: usize, of: &[u32]) {
        let mut reached: Vec<u32> = Vec::new();
        for variable in of {
            if let Some(full) = reached.get(count - 1) {
                self.add(&[Literal::negative(*variable), Literal::negative(*full)]);
            }
            reached = self.count_further(*variable, &reached, count);
        }
    }

    fn count_further(&mut self, variable: u32, before: &[u32], count: usize) -> Vec<u32> {
        let length = (before.len() + 1).min(count);
        let after: Vec<u32> = (0..length).map(|_| self.sat.new_variable()).collect();
        for (old, new) in before.iter().zip(&after) {
            self.add(&[Literal::negative(*old), Literal::positive(*new)]);
        }
        if let Some(first) = after.first() {
            self.add(&[Literal::negative(variable), Literal::positive(*first)]);
        }
        for (old, new) in before.iter().zip(after.iter().skip(1)) {
            self.add(&[
                Literal::negative(variable),
                Literal::negative(*old),
                Literal::positive(*new),
            ]);
        }
        after
    }
}
