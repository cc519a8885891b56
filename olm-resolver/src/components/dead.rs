//! Variables that no answer can contain.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::problem::{Formula, Rule, VariableId, list_address};

/// For each variable whether no answer can contain it, whatever is mandatory.
pub(super) fn dead(formula: &Formula) -> Vec<bool> {
    let mut dead = vec![false; formula.variables as usize];
    let mut open: Vec<VariableId> = Vec::new();
    let mut lists =
        Lists { chosen_by: vec![Vec::new(); formula.variables as usize], all: Vec::new() };
    let mut known: HashMap<usize, usize> = HashMap::new();
    for rule in &formula.rules {
        match rule {
            Rule::Prohibited(variable) => open.push(*variable),
            Rule::Dependency { of, choices } if choices.is_empty() => open.push(*of),
            Rule::Dependency { of, choices } => {
                let list =
                    *known.entry(list_address(choices)).or_insert_with(|| lists.add(choices));
                lists.all.get_mut(list).into_iter().for_each(|list| list.needed_by.push(*of));
            }
            _ => {}
        }
    }
    while let Some(variable) = open.pop() {
        let Some(flag) = dead.get_mut(variable.index()).filter(|flag| !**flag) else { continue };
        *flag = true;
        open.extend(lists.lose(variable));
    }
    dead
}

/// Lists of choices, each once however many variables need one of them.
struct Lists {
    all: Vec<List>,
    /// In which lists each variable is.
    chosen_by: Vec<Vec<usize>>,
}

struct List {
    needed_by: Vec<VariableId>,
    /// How many choices are left.
    left: usize,
}

impl Lists {
    fn add(&mut self, choices: &Arc<[VariableId]>) -> usize {
        let choices: BTreeSet<&VariableId> = choices.iter().collect();
        for choice in &choices {
            if let Some(by) = self.chosen_by.get_mut(choice.index()) {
                by.push(self.all.len());
            }
        }
        self.all.push(List { needed_by: Vec::new(), left: choices.len() });
        self.all.len() - 1
    }

    /// A variable is no choice any more; gives those that have none left.
    fn lose(&mut self, variable: VariableId) -> Vec<VariableId> {
        let mut without = Vec::new();
        for position in self.chosen_by.get(variable.index()).into_iter().flatten() {
            if let Some(list) = self.all.get_mut(*position) {
                list.left = list.left.saturating_sub(1);
                if list.left == 0 {
                    without.append(&mut list.needed_by);
                }
            }
        }
        without
    }
}
