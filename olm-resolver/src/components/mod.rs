//! Parts of a formula that cannot influence each other.
//!
//! Two variables are in one part when a rule names both. Variables that no answer can contain
//! (prohibited ones, and those that need one of nothing but such) connect nothing, unless they are
//! mandatory or in the cluster already. The search visits the choices of a part in the same order with and
//! without the other parts, so the answers of all parts together are the answer of the whole.

mod dead;
mod parts;
mod reasons;

use crate::problem::{Formula, Rule, VariableId};
use dead::dead;
use parts::{Groups, Parts};
pub(crate) use reasons::with_reasons;

/// A part of a formula with something mandatory in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Component {
    /// Its variables, ascending.
    pub(crate) variables: Vec<VariableId>,
    /// Its rules, with variables that are positions in `variables`.
    pub(crate) formula: Formula,
    /// Whether a mandatory variable is one that no answer can contain.
    pub(crate) is_hopeless: bool,
}

/// The parts, in the order of their first mandatory variable. `present` tells for each variable
/// whether it is in the cluster: then it counts although no answer can contain it.
pub(crate) fn split(formula: &Formula, present: &[bool]) -> Vec<Component> {
    let dead = dead(formula);
    let mut gone: Vec<bool> = dead.clone();
    let counted = (0..formula.variables).map(VariableId).filter(|id| is(present, *id));
    for variable in counted.chain(formula.anchors()) {
        if let Some(flag) = gone.get_mut(variable.index()) {
            *flag = false;
        }
    }
    let mut groups = Groups::new(formula.variables);
    for rule in &formula.rules {
        let alive = alive(rule, &gone);
        for pair in alive.windows(2) {
            if let [one, other] = pair {
                groups.join(*one, *other);
            }
        }
    }
    Parts::new(formula, &dead, &mut groups).finish(formula, &gone)
}

fn is(flags: &[bool], variable: VariableId) -> bool {
    flags.get(variable.index()).copied().unwrap_or(false)
}

/// The variables of a rule that count; none if the rule is about a bundle that does not.
fn alive(rule: &Rule, gone: &[bool]) -> Vec<VariableId> {
    let mut variables = match rule {
        Rule::Mandatory(variable) | Rule::Prohibited(variable) => vec![*variable],
        Rule::Dependency { of, .. } if is(gone, *of) => Vec::new(),
        Rule::Dependency { of, choices } => {
            std::iter::once(of).chain(choices.iter()).copied().collect()
        }
        Rule::Conflict(one, other) => vec![*one, *other],
        Rule::AtMost { of, .. } => of.to_vec(),
    };
    variables.retain(|variable| !is(gone, *variable));
    variables
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::solver::{OrderedSearch, Solution, Solver};

    const VARIABLES: u32 = 12;

    fn id() -> impl Strategy<Value = VariableId> {
        (0..VARIABLES).prop_map(VariableId)
    }

    fn rule() -> impl Strategy<Value = Rule> {
        let ids = || prop::collection::btree_set(0..VARIABLES, 0..3);
        let list = |set: BTreeSet<u32>| set.into_iter().map(VariableId).collect();
        prop_oneof![
            3 => id().prop_map(Rule::Mandatory),
            1 => id().prop_map(Rule::Prohibited),
            5 => (id(), ids()).prop_map(move |(of, set)| Rule::Dependency { of, choices: list(set) }),
            1 => (id(), id()).prop_map(|(one, other)| Rule::Conflict(one, other)),
            1 => ids().prop_map(move |set| Rule::AtMost { count: 1, of: list(set) }),
        ]
    }

    fn chosen(formula: &Formula) -> Option<Vec<VariableId>> {
        match OrderedSearch::default().solve(formula).unwrap() {
            Solution::Chosen(chosen) => Some(chosen),
            Solution::Contradiction(_) => None,
        }
    }

    /// The answers of all parts, as variables of the whole.
    fn of_parts(parts: &[Component]) -> Option<Vec<VariableId>> {
        let mut all = Vec::new();
        for part in parts {
            let own = chosen(&part.formula).filter(|_| !part.is_hopeless)?;
            all.extend(own.iter().map(|local| part.variables[local.index()]));
        }
        all.sort();
        Some(all)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn parts_together_are_the_whole(
            rules in prop::collection::vec(rule(), 0..14),
            present in prop::collection::vec(any::<bool>(), VARIABLES as usize),
        ) {
            let formula = Formula { variables: VARIABLES, rules };
            let parts = split(&formula, &present);
            prop_assert_eq!(of_parts(&parts), chosen(&formula));
        }

        #[test]
        fn a_part_without_an_answer_has_a_reason(rules in prop::collection::vec(rule(), 0..14)) {
            let formula = Formula { variables: VARIABLES, rules };
            for part in split(&formula, &[]) {
                let (own, ids) = with_reasons(&formula, &part.variables, None);
                let has_answer = !part.is_hopeless && chosen(&part.formula).is_some();
                prop_assert_eq!(chosen(&own).is_some(), has_answer);
                prop_assert!(ids.iter().zip(&own.rules).all(|(id, rule)| formula.rules[id.index()] == *rule));
            }
        }
    }
}
