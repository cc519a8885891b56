//! Variables that no answer can contain.

use std::collections::BTreeSet;

use crate::problem::{Formula, Rule, VariableId};

/// For each variable whether no answer can contain it, whatever is mandatory.
pub(super) fn dead(formula: &Formula) -> Vec<bool> {
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
