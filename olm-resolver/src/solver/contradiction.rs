//! A minimal set of rules that contradict each other.
//!
//! Every rule gets a switch that is assumed to be on. The SAT core names switches that cannot all
//! be on; their rules alone make a smaller problem, and so on until it does not get smaller. Then
//! each rule is left out once, in the order of the rules, to see whether it is needed. If the core
//! gives up half-way, what was found so far still is a contradiction, just not a minimal one.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::encoding;
use super::{Exhausted, Literal, Sat, Satisfiability};
use crate::problem::{Formula, Rule, RuleId, VariableId, list_address};

/// Rules of a formula without an answer that cannot all hold, ascending. `new_sat` makes an empty
/// SAT core.
pub(super) fn find<S: Sat>(
    formula: &Formula,
    new_sat: impl Fn() -> S,
) -> Result<Vec<RuleId>, Exhausted> {
    let mut needed: Vec<RuleId> = (0..).map(RuleId).zip(&formula.rules).map(|(id, _)| id).collect();
    let mut sat = new_sat();
    loop {
        let switches = Switches::new(formula, &needed, &mut sat);
        let Some(fewer) = switches.contradicting(&mut sat, &needed)? else { return Ok(Vec::new()) };
        let is_smaller = fewer.len() < needed.len();
        needed = fewer;
        sat = new_sat();
        if !is_smaller {
            break;
        }
    }
    let switches = Switches::new(formula, &needed, &mut sat);
    let mut position = 0;
    while let Some(left_out) = needed.get(position).copied() {
        let rest: Vec<RuleId> = needed.iter().copied().filter(|rule| *rule != left_out).collect();
        match switches.contradicting(&mut sat, &rest) {
            Ok(Some(fewer)) => needed = fewer,
            Ok(None) => position += 1,
            Err(_) => break,
        }
    }
    Ok(needed)
}

/// Rules in a SAT core, each with a switch.
struct Switches {
    /// Rule and switch, both ascending.
    of: Vec<(RuleId, u32)>,
}

impl Switches {
    /// Puts some rules of a formula, and the variables that they name, into an empty core.
    fn new(formula: &Formula, rules: &[RuleId], sat: &mut dyn Sat) -> Self {
        let named = || rules.iter().filter_map(|id| Some((*id, formula.rules.get(id.index())?)));
        let mut names: Vec<Option<VariableId>> = vec![None; formula.variables as usize];
        let mut seen = HashSet::new();
        for variable in named().flat_map(|(_, rule)| variables(rule, &mut seen)) {
            if let Some(name @ None) = names.get_mut(variable.index()) {
                *name = Some(VariableId(sat.new_variable()));
            }
        }
        let mut known = HashMap::new();
        let renamed: Vec<(RuleId, Option<Rule>)> =
            named().map(|(id, rule)| (id, renamed(rule, &names, &mut known))).collect();
        let mut lists = encoding::Lists::of(renamed.iter().filter_map(|(_, rule)| rule.as_ref()));
        let switches = renamed.iter().map(|(id, rule)| {
            let switch = sat.new_variable();
            if let Some(rule) = rule {
                lists.add(sat, rule, Some(Literal::negative(switch)));
            }
            (*id, switch)
        });
        Self { of: switches.collect() }
    }

    /// Rules that cannot all hold, out of the given ones; `None` if they can.
    fn contradicting(
        &self,
        sat: &mut dyn Sat,
        rules: &[RuleId],
    ) -> Result<Option<Vec<RuleId>>, Exhausted> {
        let switch = |rule: &RuleId| {
            let position = self.of.binary_search_by_key(rule, |(known, _)| *known).ok()?;
            self.of.get(position).map(|(_, switch)| Literal::positive(*switch))
        };
        let assumptions: Vec<Literal> = rules.iter().filter_map(switch).collect();
        if sat.solve(&assumptions)? == Satisfiability::Satisfiable {
            return Ok(None);
        }
        let failed = sat.failed();
        let is_needed = |switch: &u32| failed.binary_search(switch).is_ok();
        let needed = self.of.iter().filter(|(_, switch)| is_needed(switch));
        Ok(Some(needed.map(|(rule, _)| *rule).collect()))
    }
}

/// The variables of a rule, without those of a list of choices that was seen before.
fn variables(rule: &Rule, seen: &mut HashSet<usize>) -> Vec<VariableId> {
    match rule {
        Rule::Mandatory(variable) | Rule::Prohibited(variable) => vec![*variable],
        Rule::Dependency { of, choices } if !seen.insert(list_address(choices)) => vec![*of],
        Rule::Dependency { of, choices } => {
            std::iter::once(of).chain(choices.iter()).copied().collect()
        }
        Rule::Conflict(one, other) => vec![*one, *other],
        Rule::AtMost { of, .. } => of.to_vec(),
    }
}

/// The rule with the names that its variables have in a core. Lists that rules share, they share
/// afterwards.
fn renamed(
    rule: &Rule,
    names: &[Option<VariableId>],
    known: &mut HashMap<usize, Arc<[VariableId]>>,
) -> Option<Rule> {
    let name = |variable: &VariableId| names.get(variable.index()).copied().flatten();
    let all = |list: &[VariableId]| list.iter().filter_map(name).collect::<Arc<[_]>>();
    Some(match rule {
        Rule::Mandatory(variable) => Rule::Mandatory(name(variable)?),
        Rule::Prohibited(variable) => Rule::Prohibited(name(variable)?),
        Rule::Conflict(one, other) => Rule::Conflict(name(one)?, name(other)?),
        Rule::Dependency { of, choices } => {
            let list = known.entry(list_address(choices)).or_insert_with(|| all(choices));
            Rule::Dependency { of: name(of)?, choices: list.clone() }
        }
        Rule::AtMost { count, of } => Rule::AtMost { count: *count, of: all(of) },
    })
}
