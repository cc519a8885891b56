//! Sets of variables that belong together.

use crate::problem::VariableId;

/// Disjoint sets of variables, each named by its smallest known member.
pub(crate) struct Groups(Vec<u32>);

impl Groups {
    /// Each variable by itself.
    pub(crate) fn new(variables: u32) -> Self {
        Self((0..variables).collect())
    }

    /// The name of the set that a variable is in.
    pub(crate) fn name(&mut self, variable: VariableId) -> u32 {
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

    /// Joins all of these; gives one of them.
    pub(crate) fn join_all<'a>(
        &mut self,
        mut all: impl Iterator<Item = &'a VariableId>,
    ) -> Option<VariableId> {
        let first = *all.next()?;
        all.for_each(|other| self.join(first, *other));
        Some(first)
    }

    /// Joins the sets of two variables.
    pub(crate) fn join(&mut self, one: VariableId, other: VariableId) {
        let (one, other) = (self.name(one), self.name(other));
        if let Some(slot) = self.0.get_mut(one.max(other) as usize) {
            *slot = one.min(other);
        }
    }
}
