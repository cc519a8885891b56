//! Rules that say nothing which another rule does not say.
//!
//! The versions of a package tend to provide the same APIs: "one of these" for each API then follows
//! from "one of these" for the package. Leaving them out makes the SAT problem several times smaller.

use std::cell::Cell;
use std::cmp::Reverse;
use std::sync::Arc;

use crate::problem::{Formula, Rule, VariableId};

/// After so many looks rules are stated without asking whether another one says the same.
const LOOKS: usize = 50_000_000;

/// For each rule whether it is an "at most one" about variables that another one names, too.
pub(super) fn exclusions(formula: &Formula) -> Vec<bool> {
    let mut implied = vec![false; formula.rules.len()];
    let by_variable = vec![Vec::new(); formula.variables as usize];
    let mut stated = StatedRules { by_variable, looks: Cell::new(0) };
    let mut largest_first: Vec<(usize, &Arc<[VariableId]>)> = at_most_one(formula).collect();
    largest_first.sort_by_key(|(_, of)| Reverse(of.len()));
    for (position, of) in largest_first {
        match implied.get_mut(position) {
            Some(flag) if stated.covers(of) => *flag = true,
            _ => stated.add(position, of),
        }
    }
    implied
}

fn at_most_one(formula: &Formula) -> impl Iterator<Item = (usize, &Arc<[VariableId]>)> {
    formula.rules.iter().enumerate().filter_map(|(position, rule)| match rule {
        Rule::AtMost { count: 1, of } => Some((position, of)),
        _ => None,
    })
}

/// The rules that are stated, by the variables that they name.
struct StatedRules {
    by_variable: Vec<Vec<usize>>,
    /// How often a list of rules was looked through.
    looks: Cell<usize>,
}

impl StatedRules {
    /// Whether one rule names all of these.
    fn covers(&self, of: &[VariableId]) -> bool {
        let Some((first, rest)) = of.split_first() else { return true };
        if self.looks.get() > LOOKS {
            return false;
        }
        self.rules(*first)
            .iter()
            .any(|rule| rest.iter().all(|variable| self.looked(*variable).contains(rule)))
    }

    fn add(&mut self, rule: usize, of: &[VariableId]) {
        for variable in of {
            if let Some(rules) = self.by_variable.get_mut(variable.index()) {
                rules.push(rule);
            }
        }
    }

    fn looked(&self, variable: VariableId) -> &[usize] {
        let rules = self.rules(variable);
        self.looks.set(self.looks.get().saturating_add(1 + rules.len()));
        rules
    }

    fn rules(&self, variable: VariableId) -> &[usize] {
        self.by_variable.get(variable.index()).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::equal("0 1, 0 1", &[false, true])]
    #[case::part_of_a_later_one("1 2, 0 1 2 3", &[true, false])]
    #[case::overlapping("0 1, 1 2", &[false, false])]
    #[case::covered_by_two_together("0 1, 1 2, 0 1 2", &[true, true, false])]
    #[case::pairs_of_a_triangle("0 1, 1 2, 0 2", &[false, false, false])]
    fn is_implied(#[case] rules: &str, #[case] wanted: &[bool]) {
        let id = |text: &str| VariableId(text.parse().unwrap());
        let rules = rules
            .split(',')
            .map(|of| Rule::AtMost { count: 1, of: of.split_whitespace().map(id).collect() });
        let formula = Formula { variables: 4, rules: rules.collect() };
        assert_eq!(exclusions(&formula), wanted);
    }

    #[test]
    fn only_at_most_one_is_looked_at() {
        let of: Arc<[VariableId]> = [VariableId(0), VariableId(1)].into();
        let rules = [2, 1, 0].map(|count| Rule::AtMost { count, of: of.clone() });
        let formula = Formula { variables: 2, rules: rules.to_vec() };
        assert_eq!(exclusions(&formula), [false, false, false]);
    }
}
