//! Why a part has no answer: the rules that could have to do with it.

use std::collections::{BTreeSet, HashSet};

use crate::problem::{Formula, Rule, RuleId, VariableId, list_address};

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
    let mut walked = HashSet::new();
    let mut open: Vec<VariableId> = from.iter().copied().collect();
    while let Some(variable) = open.pop() {
        let choices = dependencies.get(variable.index()).into_iter().flatten();
        let choices = choices.filter(|choices| walked.insert(list_address(choices)));
        for choice in choices.flat_map(|choices| choices.iter()) {
            if reached.insert(*choice) {
                open.push(*choice);
            }
        }
    }
    reached
}
