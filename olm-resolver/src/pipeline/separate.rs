//! Which parts of an answer can be installed by themselves, in any order.
//!
//! What is there keeps the rules of a problem, and so does what is chosen. Here the differences between the
//! two are divided, so that each mixture of old and new parts keeps them as well. Bundles that need each other
//! stay together.

use std::collections::BTreeSet;

use crate::components::Groups;
use crate::problem::{Formula, Rule, VariableId};

/// What is there before and after everything is installed.
pub(crate) struct Step<'a> {
    /// Variables that are there: Subscriptions and installed CSVs.
    pub(crate) before: &'a BTreeSet<VariableId>,
    /// Variables that are chosen.
    pub(crate) after: &'a BTreeSet<VariableId>,
}

/// The parts: variables in one set come, and go, together. Those that stay say nothing.
pub(crate) fn separate(formula: &Formula, step: &Step<'_>) -> Groups {
    let mut groups = Groups::new(formula.variables);
    for rule in &formula.rules {
        match rule {
            Rule::Mandatory(_) | Rule::Prohibited(_) => {}
            Rule::Dependency { of, choices } => drop(groups.join_all(step.needed(of, choices))),
            Rule::Conflict(one, other) => drop(groups.join_all(step.meeting(1, &[*one, *other]))),
            Rule::AtMost { count, of } => drop(groups.join_all(step.meeting(*count, of))),
        }
    }
    groups
}

impl Step<'_> {
    fn stays(&self, variable: &VariableId) -> bool {
        self.before.contains(variable) && self.after.contains(variable)
    }

    fn comes(&self, variable: &VariableId) -> bool {
        !self.before.contains(variable) && self.after.contains(variable)
    }

    fn goes(&self, variable: &VariableId) -> bool {
        self.before.contains(variable) && !self.after.contains(variable)
    }

    /// What has to be together so that a variable has at all times what it needs.
    fn needed<'v>(
        &self,
        of: &'v VariableId,
        choices: &'v [VariableId],
    ) -> impl Iterator<Item = &'v VariableId> {
        let (comes, goes) = (self.comes(of), self.goes(of));
        // A catalog may have as many rules as choices: those of what is not there are not looked through.
        let is_there = comes || goes || self.stays(of);
        let choices = if is_there { choices } else { &[] };
        let is_served = !comes && choices.iter().any(|choice| self.stays(choice));
        let counts = is_there && !is_served;
        let changing = choices.iter().filter(move |choice| {
            counts && ((!goes && self.comes(choice)) || (!comes && self.goes(choice)))
        });
        let changing: Vec<_> = changing.collect();
        let itself = (comes || goes).then_some(of).filter(|_| !changing.is_empty());
        itself.into_iter().chain(changing)
    }

    /// Those that come and go of a set of which only some may be there: together if old and new ones are
    /// too many.
    fn meeting<'v>(
        &self,
        count: u32,
        of: &'v [VariableId],
    ) -> impl Iterator<Item = &'v VariableId> {
        let there = of.iter().filter(|one| self.before.contains(one) || self.after.contains(one));
        let too_many = there.count() > usize::try_from(count).unwrap_or(usize::MAX);
        let changing: Vec<_> =
            of.iter().filter(|one| too_many && (self.comes(one) || self.goes(one))).collect();
        changing.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const VARIABLES: u32 = 10;

    fn id() -> impl Strategy<Value = VariableId> {
        (0..VARIABLES).prop_map(VariableId)
    }

    fn ids(size: std::ops::Range<usize>) -> impl Strategy<Value = BTreeSet<VariableId>> {
        prop::collection::btree_set(id(), size)
    }

    fn rule() -> impl Strategy<Value = Rule> {
        prop_oneof![
            4 => (id(), ids(0..4)).prop_map(|(of, set)| Rule::Dependency { of, choices: set.into_iter().collect() }),
            1 => (id(), id()).prop_map(|(one, other)| Rule::Conflict(one, other)),
            2 => (1..3u32, ids(0..5)).prop_map(|(count, set)| Rule::AtMost { count, of: set.into_iter().collect() }),
        ]
    }

    fn holds(rule: &Rule, state: &BTreeSet<VariableId>) -> bool {
        match rule {
            Rule::Mandatory(one) => state.contains(one),
            Rule::Prohibited(one) => !state.contains(one),
            Rule::Dependency { of, choices } => {
                !state.contains(of) || choices.iter().any(|choice| state.contains(choice))
            }
            Rule::Conflict(one, other) => {
                one == other || !(state.contains(one) && state.contains(other))
            }
            Rule::AtMost { count, of } => {
                of.iter().filter(|one| state.contains(one)).count() <= *count as usize
            }
        }
    }

    /// The state once some parts are installed: those whose number has a bit in `applied`.
    fn mixed(groups: &mut Groups, step: &Step<'_>, applied: u32) -> BTreeSet<VariableId> {
        (0..VARIABLES)
            .map(VariableId)
            .filter(|one| {
                let is_applied = applied & (1 << groups.name(*one)) != 0;
                if is_applied { step.after.contains(one) } else { step.before.contains(one) }
            })
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn every_mixture_of_parts_keeps_what_both_ends_keep(
            rules in prop::collection::vec(rule(), 0..10),
            before in ids(0..7),
            after in ids(0..7),
        ) {
            let ends = |rule: &Rule| holds(rule, &before) && holds(rule, &after);
            let rules: Vec<Rule> = rules.into_iter().filter(ends).collect();
            let formula = Formula { variables: VARIABLES, rules };
            let step = Step { before: &before, after: &after };
            let mut groups = separate(&formula, &step);
            for applied in 0..1 << VARIABLES {
                let state = mixed(&mut groups, &step, applied);
                for rule in &formula.rules {
                    prop_assert!(holds(rule, &state), "{rule:?} in {state:?}");
                }
            }
        }
    }

    fn set(all: &[u32]) -> BTreeSet<VariableId> {
        all.iter().map(|one| VariableId(*one)).collect()
    }

    fn dependency(of: u32, choices: &[u32]) -> Rule {
        Rule::Dependency { of: VariableId(of), choices: set(choices).into_iter().collect() }
    }

    /// Whether the new bundles 2 and 4 are apart; 0 and 1 are Subscriptions, 3 is installed and goes.
    fn are_apart(more: &[Rule], before: &[u32]) -> bool {
        let mut rules = vec![dependency(0, &[2]), dependency(1, &[4, 3])];
        rules.extend_from_slice(more);
        let formula = Formula { variables: VARIABLES, rules };
        let (before, after) = (set(before), set(&[0, 1, 2, 4, 5]));
        let mut groups = separate(&formula, &Step { before: &before, after: &after });
        groups.name(VariableId(2)) != groups.name(VariableId(4))
    }

    #[test]
    fn what_has_nothing_in_common_is_apart() {
        assert!(are_apart(&[], &[0, 1, 3]));
        assert!(are_apart(&[dependency(2, &[5]), dependency(4, &[5])], &[0, 1, 3, 5]));
        assert!(
            !are_apart(&[dependency(2, &[5]), dependency(4, &[5])], &[0, 1, 3]),
            "both bring 5"
        );
        assert!(!are_apart(&[dependency(2, &[4])], &[0, 1, 3]), "one brings the other");
        let one = Rule::AtMost { count: 1, of: set(&[2, 3]).into_iter().collect() };
        assert!(!are_apart(&[one], &[0, 1, 3]), "one has to go before the other comes");
    }
}
