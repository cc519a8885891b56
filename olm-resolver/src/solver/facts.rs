//! What is known of variables under assumptions, in the order in which it was found out.

use super::Literal;

/// Where a clause stands in the list of clauses.
pub(super) type ClauseId = usize;

#[derive(Clone, Copy, Debug, Default)]
struct Fact {
    value: Option<bool>,
    level: usize,
    reason: Option<ClauseId>,
}

/// Values of variables. An assumption opens a level; going back closes levels and forgets what was found
/// out since.
#[derive(Debug, Default)]
pub(super) struct Facts {
    facts: Vec<Fact>,
    trail: Vec<Literal>,
    level: usize,
}

impl Facts {
    /// Makes a variable, numbered by how many there were.
    pub(super) fn new_variable(&mut self) -> u32 {
        self.facts.push(Fact::default());
        u32::try_from(self.facts.len() - 1).unwrap_or(u32::MAX)
    }

    /// How many variables there are.
    pub(super) fn variables(&self) -> usize {
        self.facts.len()
    }

    /// Whether a literal is true, where that is known.
    pub(super) fn value(&self, literal: Literal) -> Option<bool> {
        self.fact(literal).value.map(|value| value == literal.positive)
    }

    /// The level at which a value was found out.
    pub(super) fn level(&self, literal: Literal) -> usize {
        self.fact(literal).level
    }

    /// The clause from which a value follows; none for an assumption.
    pub(super) fn reason(&self, literal: Literal) -> Option<ClauseId> {
        self.fact(literal).reason
    }

    /// The first variable without a value.
    pub(super) fn open(&self) -> Option<u32> {
        let mut numbered = (0..).zip(&self.facts);
        numbered.find(|(_, fact)| fact.value.is_none()).map(|(variable, _)| variable)
    }

    /// Everything that is true, in the order in which it was found out.
    pub(super) fn trail(&self) -> &[Literal] {
        &self.trail
    }

    /// How many levels there are.
    pub(super) fn depth(&self) -> usize {
        self.level
    }

    /// A literal is assumed, at a new level.
    pub(super) fn assume(&mut self, literal: Literal) {
        self.level += 1;
        self.set(literal, None);
    }

    /// A literal follows from a clause.
    pub(super) fn follow(&mut self, literal: Literal, reason: ClauseId) {
        self.set(literal, Some(reason));
    }

    /// Forgets what was found out above a level.
    pub(super) fn back(&mut self, level: usize) {
        while let Some(last) = self.trail.last().copied().filter(|last| self.level(*last) > level) {
            self.trail.pop();
            if let Some(fact) = self.facts.get_mut(last.variable as usize) {
                *fact = Fact::default();
            }
        }
        self.level = self.level.min(level);
    }

    fn set(&mut self, literal: Literal, reason: Option<ClauseId>) {
        if let Some(fact) = self.facts.get_mut(literal.variable as usize) {
            *fact = Fact { value: Some(literal.positive), level: self.level, reason };
            self.trail.push(literal);
        }
    }

    fn fact(&self, literal: Literal) -> Fact {
        self.facts.get(literal.variable as usize).copied().unwrap_or_default()
    }
}

/// The literal that is false when this one is true.
pub(super) fn negation(literal: Literal) -> Literal {
    Literal { positive: !literal.positive, ..literal }
}
