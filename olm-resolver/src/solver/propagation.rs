//! Clauses, assumptions made one after the other, and what follows from them by unit propagation.
//!
//! An assumption opens a level; taking it back closes it. When assumptions contradict each other, taking
//! one back learns the clause that says why (first unique implication point), which may show that the
//! assumptions before it contradict each other, too. OLM v0's search depends on exactly that much.

use super::{ClauseSet, Exhausted, Literal, learning};

/// Where a clause stands in the list of clauses.
pub(super) type ClauseId = usize;

/// What is known about the assumptions made so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// They do not contradict each other as far as unit propagation sees.
    Nothing,
    /// They cannot all hold.
    Contradiction,
}

/// Why assumptions cannot all hold.
#[derive(Clone, Copy, Debug)]
enum Conflict {
    /// Every literal of a clause is false.
    Clause(ClauseId),
    /// What was assumed last was known to be false.
    Assumption,
}

/// What is known of one variable.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fact {
    value: Option<bool>,
    /// How many of the assumptions, from the first one on, the value follows from.
    pub(super) level: usize,
    /// The clause from which it follows; none for an assumption.
    pub(super) reason: Option<ClauseId>,
}

/// Clauses under assumptions.
#[derive(Debug, Default)]
pub(super) struct Propagation {
    facts: Vec<Fact>,
    clauses: Vec<Vec<Literal>>,
    /// Clauses of which nothing but the first two literals is watched, by literal.
    watching: Vec<Vec<ClauseId>>,
    /// Clauses from here on were learned.
    learned_from: usize,
    trail: Vec<Literal>,
    /// How much of the trail was propagated.
    propagated: usize,
    /// Length of the trail before each assumption.
    levels: Vec<usize>,
    conflict: Option<Conflict>,
    /// Steps that may still be taken.
    steps: u64,
    limit: u64,
}

impl Propagation {
    /// Nothing is known yet. Gives up after so many steps, all calls together.
    pub(super) fn new(limit: u64) -> Self {
        Self { steps: limit, limit, ..Self::default() }
    }

    /// What follows from the clauses alone.
    pub(super) fn start(&mut self) -> Result<Known, Exhausted> {
        self.propagate()
    }

    /// Assumes a literal as well.
    pub(super) fn assume(&mut self, literal: Literal) -> Result<Known, Exhausted> {
        self.levels.push(self.trail.len());
        match self.value(literal) {
            Some(true) => {}
            Some(false) => self.conflict = Some(Conflict::Assumption),
            None => self.set(literal, self.levels.len(), None),
        }
        self.propagate()
    }

    /// Takes the last assumption back.
    pub(super) fn retract(&mut self) -> Result<Known, Exhausted> {
        if let Some(Conflict::Clause(clause)) = self.conflict.take() {
            let learned = learning::clause(&self.clauses, &self.facts, &self.trail, clause);
            self.keep(learned);
        }
        self.leave();
        for id in self.learned_from..self.clauses.len() {
            self.wake(id);
        }
        self.propagate()
    }

    /// Looks for values of all other variables, as false as possible. What it finds is kept as further
    /// assumptions; what contradicts is learned.
    pub(super) fn solve(&mut self) -> Result<Known, Exhausted> {
        let given = self.levels.len();
        loop {
            while self.conflict.is_some() {
                if self.levels.len() <= given {
                    return Ok(Known::Contradiction);
                }
                self.retract()?;
            }
            let open = (0..).zip(&self.facts).find(|(_, fact)| fact.value.is_none());
            let Some((variable, _)) = open else { return Ok(Known::Nothing) };
            self.assume(Literal::negative(variable))?;
        }
    }

    /// Whether a variable is known to be true.
    pub(super) fn is_true(&self, variable: u32) -> bool {
        self.facts.get(variable as usize).is_some_and(|fact| fact.value == Some(true))
    }

    fn value(&self, literal: Literal) -> Option<bool> {
        let fact = self.facts.get(literal.variable as usize)?;
        fact.value.map(|value| value == literal.positive)
    }

    fn set(&mut self, literal: Literal, level: usize, reason: Option<ClauseId>) {
        if let Some(fact) = self.facts.get_mut(literal.variable as usize) {
            *fact = Fact { value: Some(literal.positive), level, reason };
            self.trail.push(literal);
        }
    }

    /// Forgets what followed from the last assumption.
    fn leave(&mut self) {
        let kept = self.levels.pop().unwrap_or_default();
        for literal in self.trail.drain(kept..) {
            if let Some(fact) = self.facts.get_mut(literal.variable as usize) {
                fact.value = None;
            }
        }
        self.propagated = self.propagated.min(kept);
        self.conflict = None;
    }

    fn keep(&mut self, clause: Vec<Literal>) -> ClauseId {
        let id = self.clauses.len();
        for literal in clause.iter().take(2) {
            if let Some(watching) = self.watching.get_mut(place(*literal)) {
                watching.push(id);
            }
        }
        self.clauses.push(clause);
        id
    }

    /// Looks at a clause as a whole: two literals that are not false come first, so that they are
    /// watched; with only one it follows, with none the clause is broken.
    fn wake(&mut self, id: ClauseId) {
        let Some(mut clause) = self.clauses.get(id).cloned() else { return };
        if clause.iter().any(|literal| self.value(*literal) == Some(true)) {
            return;
        }
        // Those that become unknown first when assumptions are taken back come first.
        clause.sort_by_key(|literal| match self.value(*literal) {
            Some(_) => (1, usize::MAX - self.level(*literal)),
            None => (0, 0),
        });
        self.watch_anew(id, &clause);
        let second = clause.get(1).copied();
        match clause.first().copied() {
            Some(first) if self.value(first).is_none() => {
                if second.is_none_or(|second| self.value(second).is_some()) {
                    let level = second.map_or(0, |second| self.level(second));
                    self.set(first, level, Some(id));
                }
            }
            _ => self.conflict = self.conflict.or(Some(Conflict::Clause(id))),
        }
        if let Some(kept) = self.clauses.get_mut(id) {
            *kept = clause;
        }
    }

    fn watch_anew(&mut self, id: ClauseId, clause: &[Literal]) {
        let watched: Vec<Literal> =
            self.clauses.get(id).into_iter().flatten().take(2).copied().collect();
        for literal in watched {
            if let Some(watching) = self.watching.get_mut(place(literal)) {
                watching.retain(|other| *other != id);
            }
        }
        for literal in clause.iter().take(2) {
            if let Some(watching) = self.watching.get_mut(place(*literal)) {
                watching.push(id);
            }
        }
    }

    fn level(&self, literal: Literal) -> usize {
        self.facts.get(literal.variable as usize).map_or(0, |fact| fact.level)
    }

    fn propagate(&mut self) -> Result<Known, Exhausted> {
        while self.conflict.is_none() {
            let Some(literal) = self.trail.get(self.propagated).copied() else { break };
            self.propagated += 1;
            self.falsified(negation(literal))?;
        }
        Ok(if self.conflict.is_some() { Known::Contradiction } else { Known::Nothing })
    }

    /// Looks at the clauses that watch a literal which has become false.
    fn falsified(&mut self, literal: Literal) -> Result<(), Exhausted> {
        let watching =
            self.watching.get_mut(place(literal)).map(std::mem::take).unwrap_or_default();
        self.steps = self.steps.saturating_sub(1 + watching.len() as u64);
        let mut kept = Vec::with_capacity(watching.len());
        for id in watching {
            if self.conflict.is_some() || self.stays(id, literal) {
                kept.push(id);
            }
        }
        if let Some(place) = self.watching.get_mut(place(literal)) {
            place.append(&mut kept);
        }
        if self.steps == 0 { Err(Exhausted { steps: self.limit }) } else { Ok(()) }
    }

    /// Whether a clause goes on watching a literal that is false: it does when it finds no other.
    fn stays(&mut self, id: ClauseId, literal: Literal) -> bool {
        let Some(clause) = self.clauses.get(id) else { return false };
        let other = clause.iter().take(2).copied().find(|watched| *watched != literal);
        if other.is_some_and(|other| self.value(other) == Some(true)) {
            return true;
        }
        let is_free = |literal: &Literal| self.value(*literal) != Some(false);
        let instead = clause.iter().skip(2).position(is_free).map(|position| position + 2);
        if let Some(instead) = instead {
            self.exchange(id, literal, instead);
            return false;
        }
        match other.filter(|other| self.value(*other).is_none()) {
            Some(other) => {
                let rest = self.clauses.get(id).into_iter().flatten();
                let levels = rest.filter(|one| **one != other).map(|one| self.level(*one));
                let level = levels.max().unwrap_or_default();
                self.set(other, level, Some(id));
            }
            None => self.conflict = Some(Conflict::Clause(id)),
        }
        true
    }

    /// Watches another literal of a clause.
    fn exchange(&mut self, id: ClauseId, literal: Literal, instead: usize) {
        let Some(clause) = self.clauses.get_mut(id) else { return };
        let from = usize::from(clause.first() != Some(&literal));
        clause.swap(from, instead);
        let watched = clause.get(from).copied();
        let list = watched.and_then(|watched| self.watching.get_mut(place(watched)));
        list.into_iter().for_each(|list| list.push(id));
    }
}

impl ClauseSet for Propagation {
    fn new_variable(&mut self) -> u32 {
        self.facts.push(Fact::default());
        self.watching.extend([Vec::new(), Vec::new()]);
        u32::try_from(self.facts.len() - 1).unwrap_or(u32::MAX)
    }

    /// Only before the first assumption.
    fn add_clause(&mut self, literals: &[Literal]) {
        let mut clause = literals.to_vec();
        clause.sort();
        clause.dedup();
        let is_tautology = clause
            .windows(2)
            .any(|pair| matches!(pair, [one, other] if one.variable == other.variable));
        if !is_tautology {
            let id = self.keep(clause);
            self.learned_from = id + 1;
            self.wake(id);
        }
    }
}

/// The literal that is false when this one is true.
pub(super) fn negation(literal: Literal) -> Literal {
    Literal { positive: !literal.positive, ..literal }
}

/// The place of a literal in a list with two places for each variable.
fn place(literal: Literal) -> usize {
    2 * literal.variable as usize + usize::from(literal.positive)
}
