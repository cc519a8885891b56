//! The problem as a solver sees it: dense variables and rules about them, without names.

use std::sync::Arc;

/// Something that is in the answer or not: a bundle or a Subscription. Dense, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariableId(pub u32);

impl VariableId {
    /// Position in a list with one element per variable.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Position of a rule in [`Formula::rules`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(pub u32);

impl RuleId {
    /// Position in a list with one element per rule.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A rule about variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The variable is in the answer.
    Mandatory(VariableId),
    /// The variable is not in the answer.
    Prohibited(VariableId),
    /// If the variable is in the answer then so is one of the choices; earlier ones are preferred.
    Dependency {
        /// The variable that needs something.
        of: VariableId,
        /// What would do. Empty: the variable cannot be in the answer.
        choices: Arc<[VariableId]>,
    },
    /// Not both are in the answer.
    Conflict(VariableId, VariableId),
    /// At most so many of them are in the answer.
    AtMost {
        /// How many.
        count: u32,
        /// Of which; no variable twice.
        of: Arc<[VariableId]>,
    },
}

/// Which list this is: rules that share one list are about the same choices.
pub(crate) fn list_address(list: &Arc<[VariableId]>) -> usize {
    list.as_ptr().addr()
}

/// Variables and rules. Mandatory variables are visited in the order of their rules, the
/// dependencies of a variable in the order of theirs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Formula {
    /// How many variables there are.
    pub variables: u32,
    /// The rules, in the order they were stated.
    pub rules: Vec<Rule>,
}

impl Formula {
    /// The mandatory variables, in visiting order.
    pub fn anchors(&self) -> impl Iterator<Item = VariableId> + '_ {
        self.rules.iter().filter_map(|rule| match rule {
            Rule::Mandatory(variable) => Some(*variable),
            _ => None,
        })
    }

    /// For each variable the choices of its dependencies, in order.
    pub fn dependencies(&self) -> Vec<Vec<&Arc<[VariableId]>>> {
        let mut all = vec![Vec::new(); self.variables as usize];
        for rule in &self.rules {
            if let Rule::Dependency { of, choices } = rule
                && let Some(own) = all.get_mut(of.index())
            {
                own.push(choices);
            }
        }
        all
    }
}
