//! A formula as OLM v0 gives it to its SAT core: gates, and a literal for each rule that it assumes.
//!
//! Every gate is "and" of two literals; "or" is its negation. "At most n" is a sorting network (odd-even
//! merge) whose inputs are in the order of the rule. What the core learns from a contradiction is about
//! gates, too, so that its answers depend on this form (`solver` of OLM v0, `logic` of gini).

use std::collections::{BTreeMap, BTreeSet};

use super::facts::negation;
use super::{ClauseSet, Literal};
use crate::problem::{Formula, Rule, VariableId};

/// Gates over the variables of a formula.
#[derive(Debug)]
pub(super) struct Circuit {
    variables: u32,
    /// Both inputs of each gate. The gate is the variable after those of the formula, the constant and the
    /// gates before it.
    gates: Vec<(Literal, Literal)>,
    known: BTreeMap<(Literal, Literal), Literal>,
    /// True whenever a rule is kept, in the order of the rules; none twice.
    rules: Vec<Literal>,
}

impl Circuit {
    /// The circuit of a formula.
    pub(super) fn new(formula: &Formula) -> Self {
        let (gates, known, rules) = Default::default();
        let mut circuit = Self { variables: formula.variables, gates, known, rules };
        let mut seen = BTreeSet::new();
        for rule in &formula.rules {
            let kept = circuit.rule(rule);
            circuit.rules.extend(seen.insert(kept).then_some(kept));
        }
        circuit
    }

    /// How many gates the circuit of a formula has at most, roughly.
    pub(super) fn gates(formula: &Formula) -> usize {
        let sorted = |inputs: usize| {
            let layers = inputs.next_power_of_two().ilog2() as usize;
            inputs.saturating_mul(layers * (layers + 1) / 2)
        };
        let gates = formula.rules.iter().map(|rule| match rule {
            Rule::Mandatory(_) | Rule::Prohibited(_) => 0,
            Rule::Conflict(..) => 1,
            Rule::Dependency { choices, .. } => choices.len(),
            Rule::AtMost { of, .. } => sorted(of.len()),
        });
        gates.fold(0, usize::saturating_add)
    }

    /// What has to be assumed.
    pub(super) fn rules(&self) -> &[Literal] {
        &self.rules
    }

    /// Adds variables and clauses for everything.
    pub(super) fn add_to(&self, clauses: &mut dyn ClauseSet) {
        let count = u32::try_from(self.gates.len()).unwrap_or(u32::MAX);
        for _ in 0..self.variables.saturating_add(1).saturating_add(count) {
            clauses.new_variable();
        }
        clauses.add_clause(&[self.truth()]);
        for (number, (a, b)) in (self.variables + 1..).zip(&self.gates) {
            let gate = Literal::positive(number);
            clauses.add_clause(&[negation(gate), *a]);
            clauses.add_clause(&[negation(gate), *b]);
            clauses.add_clause(&[gate, negation(*a), negation(*b)]);
        }
    }

    fn rule(&mut self, rule: &Rule) -> Literal {
        let variable = |id: &VariableId| Literal::positive(id.0);
        match rule {
            Rule::Mandatory(one) => variable(one),
            Rule::Prohibited(one) => negation(variable(one)),
            Rule::Conflict(one, other) => {
                self.or(negation(variable(one)), negation(variable(other)))
            }
            Rule::Dependency { of, choices } => {
                let none = negation(variable(of));
                choices.iter().fold(none, |any, choice| self.or(any, variable(choice)))
            }
            Rule::AtMost { count, of } => {
                self.at_most(*count as usize, of.iter().map(variable).collect())
            }
        }
    }

    fn truth(&self) -> Literal {
        Literal::positive(self.variables)
    }

    fn and(&mut self, a: Literal, b: Literal) -> Literal {
        let (truth, falsity) = (self.truth(), negation(self.truth()));
        let inputs = if b < a { (b, a) } else { (a, b) };
        match inputs {
            (a, b) if a == b => a,
            (a, b) if a == negation(b) || a == falsity || b == falsity => falsity,
            (a, b) if a == truth => b,
            (a, b) if b == truth => a,
            _ => self.gate(inputs),
        }
    }

    fn gate(&mut self, inputs: (Literal, Literal)) -> Literal {
        if let Some(known) = self.known.get(&inputs) {
            return *known;
        }
        let count = u32::try_from(self.gates.len()).unwrap_or(u32::MAX);
        let gate = Literal::positive(self.variables.saturating_add(1).saturating_add(count));
        self.gates.push(inputs);
        self.known.insert(inputs, gate);
        gate
    }

    fn or(&mut self, a: Literal, b: Literal) -> Literal {
        negation(self.and(negation(a), negation(b)))
    }

    fn at_most(&mut self, count: usize, mut wires: Vec<Literal>) -> Literal {
        let inputs = wires.len();
        if count >= inputs {
            return self.truth();
        }
        wires.resize(inputs.next_power_of_two(), self.truth());
        let end = wires.len();
        self.sort(&mut wires, 0, end);
        wires.get(inputs - 1 - count).copied().map_or(self.truth(), negation)
    }

    /// Sorts wires, those that are false first.
    fn sort(&mut self, wires: &mut [Literal], from: usize, to: usize) {
        if to - from > 1 {
            let middle = usize::midpoint(from, to);
            self.sort(wires, from, middle);
            self.sort(wires, middle, to);
            self.merge(wires, (from, to), 1);
        }
    }

    /// Merges every `step`-th wire of two sorted halves.
    fn merge(&mut self, wires: &mut [Literal], (from, to): (usize, usize), step: usize) {
        if to <= from + step {
            return;
        }
        if 2 * step >= to - from {
            return self.exchange(wires, from, from + step);
        }
        self.merge(wires, (from, to), 2 * step);
        self.merge(wires, (from + step, to), 2 * step);
        for one in (from + step..to - step).step_by(2 * step) {
            self.exchange(wires, one, one + step);
        }
    }

    fn exchange(&mut self, wires: &mut [Literal], one: usize, other: usize) {
        if let (Some(a), Some(b)) = (wires.get(one).copied(), wires.get(other).copied()) {
            let sorted = [(one, self.and(a, b)), (other, self.or(a, b))];
            for (place, wire) in sorted {
                wires.get_mut(place).into_iter().for_each(|place| *place = wire);
            }
        }
    }
}
