//! Which variables belong together, and the rules of each part.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::groups::Groups;
use super::{Component, alive, is};
use crate::problem::{Formula, Rule, VariableId, list_address};

/// Variables by part, and where each variable is.
pub(super) struct Parts {
    variables: Vec<Vec<VariableId>>,
    hopeless: Vec<bool>,
    /// Part of a variable and position within it.
    place: Vec<Option<(usize, u32)>>,
}

impl Parts {
    pub(super) fn new(formula: &Formula, dead: &[bool], groups: &mut Groups) -> Self {
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

    pub(super) fn finish(self, formula: &Formula, gone: &[bool]) -> Vec<Component> {
        let mut rules: Vec<Vec<Rule>> = vec![Vec::new(); self.variables.len()];
        let mut lists = HashMap::new();
        for rule in &formula.rules {
            let first = alive(rule, gone).next().copied();
            let place = first.and_then(|first| *self.place.get(first.index())?);
            if let Some(own) = place.and_then(|(part, _)| rules.get_mut(part)) {
                own.extend(self.translate(rule, gone, &mut lists));
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
    /// Lists that rules share, they share afterwards.
    fn translate(
        &self,
        rule: &Rule,
        gone: &[bool],
        lists: &mut HashMap<usize, Arc<[VariableId]>>,
    ) -> Option<Rule> {
        let local = |variable: VariableId| {
            let (_, position) = (*self.place.get(variable.index())?)?;
            (!is(gone, variable)).then_some(VariableId(position))
        };
        let all =
            |list: &[VariableId]| list.iter().filter_map(|one| local(*one)).collect::<Arc<[_]>>();
        Some(match rule {
            Rule::Mandatory(variable) => Rule::Mandatory(local(*variable)?),
            Rule::Prohibited(variable) => Rule::Prohibited(local(*variable)?),
            Rule::Dependency { of, choices } => {
                let list = lists.entry(list_address(choices)).or_insert_with(|| all(choices));
                Rule::Dependency { of: local(*of)?, choices: list.clone() }
            }
            Rule::Conflict(one, other) => Rule::Conflict(local(*one)?, local(*other)?),
            Rule::AtMost { count, of } => Rule::AtMost { count: *count, of: all(of) },
        })
    }
}
