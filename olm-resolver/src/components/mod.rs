//! Parts of a formula that cannot influence each other.
//!
//! Two variables are in one part when a rule names both. Variables that no answer can contain
//! (prohibited ones, and those that need one of nothing but such) connect nothing, unless they are
//! mandatory or in the cluster already. The search visits the choices of a part in the same order with and
//! without the other parts, so the answers of all parts together are the answer of the whole.

mod dead;
mod groups;
mod parts;
mod reasons;

use std::collections::HashMap;

use crate::problem::{Formula, Rule, VariableId, list_address};
use dead::dead;
pub(crate) use groups::Groups;
use parts::Parts;
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

/// The parts, in the order of their first mandatory variable. `present` says for each variable
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
    // One of each list of choices whose members are joined already.
    let mut joined: HashMap<usize, Option<VariableId>> = HashMap::new();
    for rule in &formula.rules {
        match rule {
            Rule::Dependency { of, .. } if is(&gone, *of) => {}
            Rule::Dependency { of, choices } => {
                let join = || groups.join_all(choices.iter().filter(|one| !is(&gone, **one)));
                let one = *joined.entry(list_address(choices)).or_insert_with(join);
                one.into_iter().for_each(|one| groups.join(*of, one));
            }
            rule => drop(groups.join_all(alive(rule, &gone))),
        }
    }
    Parts::new(formula, &dead, &mut groups).finish(formula, &gone)
}

fn is(flags: &[bool], variable: VariableId) -> bool {
    flags.get(variable.index()).copied().unwrap_or(false)
}

/// The variables of a rule that count, without the choices of a dependency; none if the rule is about a
/// bundle that does not.
fn alive<'a>(rule: &'a Rule, gone: &'a [bool]) -> impl Iterator<Item = &'a VariableId> {
    let (one, other, all): (_, _, &[VariableId]) = match rule {
        Rule::Mandatory(variable) | Rule::Prohibited(variable) => (Some(variable), None, &[]),
        Rule::Dependency { of, .. } => (Some(of), None, &[]),
        Rule::Conflict(one, other) => (Some(one), Some(other), &[]),
        Rule::AtMost { of, .. } => (None, None, of),
    };
    one.into_iter().chain(other).chain(all).filter(|variable| !is(gone, **variable))
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
