//! Parts of a formula that cannot influence each other.
//!
//! Two variables are in one part when a rule names both. Variables that no answer can contain
//! (prohibited ones, and those that need one of nothing but such) connect nothing, unless they are
//! mandatory or in the cluster already. The search visits the choices of a part in the same order with and
//! without the other parts, so the answers of all parts together are the answer of the whole.

use std::collections::{BTreeMap, BTreeSet};

use crate::problem::{Formula, Rule, RuleId, VariableId};

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

/// The formula with the mandatory variables of one part only, for explaining why it has no answer;
/// and the rules of the whole formula that its rules are. `also` is mandatory in addition.
pub(crate) fn with_reasons(
    formula: &Formula,
    part: &[VariableId],
    also: Option<VariableId>,
) -> (Formula, Vec<RuleId>) {
    let part: BTreeSet<VariableId> = part.iter().copied().chain(also).collect();
    let reached = reached(formula, &part);
    let counts = |rule: &Rule| match rule {
        Rule::Mandatory(variable) => part.contains(variable),
        Rule::Prohibited(variable) => reached.contains(variable),
        Rule::Dependency { of, .. } => reached.contains(of),
        Rule::Conflict(one, other) => reached.contains(one) && reached.contains(other),
        Rule::AtMost { of, .. } => of.iter().any(|member| reached.contains(member)),
    };
    let kept = (0..).map(RuleId).zip(&formula.rules).filter(|(_, rule)| counts(rule));
    let (ids, mut rules): (Vec<RuleId>, Vec<Rule>) =
        kept.map(|(id, rule)| (id, rule.clone())).unzip();
    rules.extend(also.map(Rule::Mandatory));
    (Formula { variables: formula.variables, rules }, ids)
}

/// What the variables need, directly or not.
fn reached(formula: &Formula, from: &BTreeSet<VariableId>) -> BTreeSet<VariableId> {
    let dependencies = formula.dependencies();
    let mut reached = from.clone();
    let mut open: Vec<VariableId> = from.iter().copied().collect();
    while let Some(variable) = open.pop() {
        let choices = dependencies.get(variable.index()).into_iter().flatten();
        for choice in choices.flat_map(|choices| choices.iter()) {
            if reached.insert(*choice) {
                open.push(*choice);
            }
        }
    }
    reached
}

/// For each variable whether no answer can contain it, whatever is mandatory.
fn dead(formula: &Formula) -> Vec<bool> {
    let mut dead = vec![false; formula.variables as usize];
    let mut open: Vec<VariableId> = Vec::new();
    // For each dependency how many choices are left, and where each variable is a choice.
    let mut left: Vec<(VariableId, usize)> = Vec::new();
    let mut chosen_by: Vec<Vec<usize>> = vec![Vec::new(); formula.variables as usize];
    for rule in &formula.rules {
        match rule {
            Rule::Prohibited(variable) => open.push(*variable),
            Rule::Dependency { of, choices } => {
                let choices: BTreeSet<&VariableId> = choices.iter().collect();
                for choice in &choices {
                    if let Some(by) = chosen_by.get_mut(choice.index()) {
                        by.push(left.len());
                    }
                }
                if choices.is_empty() {
                    open.push(*of);
                }
                left.push((*of, choices.len()));
            }
            _ => {}
        }
    }
    while let Some(variable) = open.pop() {
        let Some(flag) = dead.get_mut(variable.index()).filter(|flag| !**flag) else { continue };
        *flag = true;
        for position in chosen_by.get(variable.index()).into_iter().flatten() {
            if let Some((of, count)) = left.get_mut(*position) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    open.push(*of);
                }
            }
        }
    }
    dead
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

/// Disjoint sets of variables, each named by its smallest known member.
struct Groups(Vec<u32>);

impl Groups {
    fn new(variables: u32) -> Self {
        Self((0..variables).collect())
    }

    fn name(&mut self, variable: VariableId) -> u32 {
        let mut name = variable.0;
        while let Some(next) = self.0.get(name as usize).copied().filter(|next| *next != name) {
            let above = self.0.get(next as usize).copied().unwrap_or(next);
            if let Some(slot) = self.0.get_mut(name as usize) {
                *slot = above;
            }
            name = next;
        }
        name
    }

    fn join(&mut self, one: VariableId, other: VariableId) {
        let (one, other) = (self.name(one), self.name(other));
        if let Some(slot) = self.0.get_mut(one.max(other) as usize) {
            *slot = one.min(other);
        }
    }
}

/// Variables by part, and where each variable is.
struct Parts {
    variables: Vec<Vec<VariableId>>,
    hopeless: Vec<bool>,
    /// Part of a variable and position within it.
    place: Vec<Option<(usize, u32)>>,
}

impl Parts {
    fn new(formula: &Formula, dead: &[bool], groups: &mut Groups) -> Self {
        let mut numbers: BTreeMap<u32, usize> = BTreeMap::new();
        let mut hopeless = Vec::new();
        for anchor in formula.anchors() {
            numbers.entry(groups.name(anchor)).or_insert_with(|| {
                hopeless.push(false);
                hopeless.len() - 1
            });
        }
        for anchor in formula.anchors().filter(|anchor| is(dead, *anchor)) {
            let part = numbers.get(&groups.name(anchor)).copied();
            if let Some(flag) = part.and_then(|part| hopeless.get_mut(part)) {
                *flag = true;
            }
        }
        let mut variables: Vec<Vec<VariableId>> = vec![Vec::new(); hopeless.len()];
        let mut place = vec![None; formula.variables as usize];
        for variable in (0..formula.variables).map(VariableId) {
            let part = numbers.get(&groups.name(variable)).copied();
            let members = part.and_then(|part| Some((part, variables.get_mut(part)?)));
            if let (Some((part, members)), Some(slot)) = (members, place.get_mut(variable.index()))
            {
                *slot = Some((part, u32::try_from(members.len()).unwrap_or(u32::MAX)));
                members.push(variable);
            }
        }
        Self { variables, hopeless, place }
    }

    fn finish(self, formula: &Formula, gone: &[bool]) -> Vec<Component> {
        let mut rules: Vec<Vec<Rule>> = vec![Vec::new(); self.variables.len()];
        for rule in &formula.rules {
            let first = alive(rule, gone).first().copied();
            let place = first.and_then(|first| *self.place.get(first.index())?);
            if let Some(own) = place.and_then(|(part, _)| rules.get_mut(part)) {
                own.extend(self.translate(rule, gone));
            }
        }
        let parts = self.variables.into_iter().zip(self.hopeless).zip(rules);
        parts
            .map(|((variables, is_hopeless), rules)| {
                let count = u32::try_from(variables.len()).unwrap_or(u32::MAX);
                Component { variables, formula: Formula { variables: count, rules }, is_hopeless }
            })
            .collect()
    }

    /// The rule about positions; nothing if it says nothing without those that are gone.
    fn translate(&self, rule: &Rule, gone: &[bool]) -> Option<Rule> {
        let local = |variable: VariableId| {
            let (_, position) = (*self.place.get(variable.index())?)?;
            (!is(gone, variable)).then_some(VariableId(position))
        };
        let all = |list: &[VariableId]| list.iter().filter_map(|one| local(*one)).collect();
        Some(match rule {
            Rule::Mandatory(variable) => Rule::Mandatory(local(*variable)?),
            Rule::Prohibited(variable) => Rule::Prohibited(local(*variable)?),
            Rule::Dependency { of, choices } => {
                Rule::Dependency { of: local(*of)?, choices: all(choices) }
            }
            Rule::Conflict(one, other) => Rule::Conflict(local(*one)?, local(*other)?),
            Rule::AtMost { count, of } => Rule::AtMost { count: *count, of: all(of) },
        })
    }
}

#[cfg(test)]
mod tests {
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
