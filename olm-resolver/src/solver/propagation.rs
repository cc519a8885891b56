//! Clauses, assumptions made one after the other, and what follows from them by unit propagation, as far as
//! the SAT core of OLM v0 sees it (gini).
//!
//! A scope is a set of assumptions that is tested. When it contradicts the clauses, leaving it learns the
//! clause that says why, which may show that the scopes around it contradict them, too. OLM v0's search
//! depends on exactly that much, and on what is not seen: what a learned clause says is looked at when one
//! of its first two literals becomes false, not each time that a scope is left.

use super::facts::{ClauseId, Facts, negation};
use super::{ClauseSet, Exhausted, Literal, learning};

/// What is known about the scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// They do not contradict the clauses as far as unit propagation sees.
    Nothing,
    /// They cannot all hold.
    Contradiction,
}

/// Clauses under assumptions.
#[derive(Debug, Default)]
pub(super) struct Propagation {
    facts: Facts,
    /// The first two literals of a clause are watched. The literal that follows from one comes first.
    clauses: Vec<Vec<Literal>>,
    /// By literal the clauses that watch it, each with another literal: when that is true nothing follows.
    watching: Vec<Vec<(ClauseId, Literal)>>,
    /// How much of the trail was propagated.
    propagated: usize,
    /// The level at which each scope began.
    scopes: Vec<usize>,
    /// The level at which the last scope ends.
    end: usize,
    broken: Option<ClauseId>,
    /// Steps that may still be taken.
    steps: u64,
    limit: u64,
}

impl Propagation {
    /// Nothing is known yet. Gives up after so many steps, all calls together.
    pub(super) fn new(limit: u64) -> Self {
        Self { steps: limit, limit, ..Self::default() }
    }

    /// Opens a scope with these assumptions.
    pub(super) fn open(&mut self, assumptions: &[Literal]) -> Result<Known, Exhausted> {
        self.clean()?;
        self.scopes.push(self.facts.depth());
        self.propagate()?;
        for literal in assumptions {
            if self.broken.is_some() || self.facts.value(*literal) == Some(false) {
                return Ok(Known::Contradiction);
            }
            if self.facts.value(*literal).is_none() {
                self.facts.assume(*literal);
                self.propagate()?;
            }
        }
        if self.broken.is_some() {
            return Ok(Known::Contradiction);
        }
        self.end = self.facts.depth();
        Ok(Known::Nothing)
    }

    /// Closes the last scope.
    pub(super) fn close(&mut self) -> Result<Known, Exhausted> {
        self.end = self.scopes.pop().unwrap_or_default();
        self.clean()
    }

    /// Looks for values of all other variables, as false as possible.
    pub(super) fn solve(&mut self) -> Result<Known, Exhausted> {
        if self.clean()? == Known::Contradiction {
            return Ok(Known::Contradiction);
        }
        let given = self.facts.depth();
        loop {
            self.propagate()?;
            if let Some(broken) = self.broken {
                if self.facts.depth() <= given {
                    return Ok(Known::Contradiction);
                }
                let (clause, target) = self.learn(broken);
                self.back(target.max(given));
                self.follow(clause);
                self.broken = None;
            } else if let Some(variable) = self.facts.open() {
                self.facts.assume(Literal::negative(variable));
            } else {
                return Ok(Known::Nothing);
            }
        }
    }

    /// Whether a variable is known to be true.
    pub(super) fn is_true(&self, variable: u32) -> bool {
        self.facts.value(Literal::positive(variable)) == Some(true)
    }

    /// Learns from what is broken, and goes back to the end of the last scope.
    fn clean(&mut self) -> Result<Known, Exhausted> {
        while let Some(broken) = self.broken {
            let (clause, target) = self.learn(broken);
            self.back(target.max(self.end));
            let first = self.clauses.get(clause).and_then(|clause| clause.first()).copied();
            let is_open = first.is_some_and(|first| self.facts.value(first).is_none());
            if !is_open {
                self.broken = Some(clause);
                return Ok(Known::Contradiction);
            }
            self.follow(clause);
            self.broken = None;
            self.propagate()?;
        }
        self.back(self.end);
        Ok(Known::Nothing)
    }

    /// Learns from a broken clause: what was learned, and the level at which it says something new.
    fn learn(&mut self, broken: ClauseId) -> (ClauseId, usize) {
        let learned = learning::learn(&self.clauses, &self.facts, broken);
        (self.keep(learned.clause), learned.target)
    }

    fn back(&mut self, level: usize) {
        if level < self.facts.depth() {
            self.facts.back(level);
            self.propagated = self.facts.trail().len();
        }
    }

    /// The first literal of a clause follows.
    fn follow(&mut self, clause: ClauseId) {
        let first = self.clauses.get(clause).and_then(|clause| clause.first()).copied();
        if let Some(first) = first {
            self.facts.follow(first, clause);
        }
    }

    fn keep(&mut self, clause: Vec<Literal>) -> ClauseId {
        let id = self.clauses.len();
        if let [first, second, ..] = *clause {
            self.watch(first, (id, second));
            self.watch(second, (id, first));
        }
        self.clauses.push(clause);
        id
    }

    fn watch(&mut self, literal: Literal, entry: (ClauseId, Literal)) {
        if let Some(watching) = self.watching.get_mut(place(literal)) {
            watching.push(entry);
        }
    }

    fn propagate(&mut self) -> Result<(), Exhausted> {
        while self.broken.is_none() {
            let Some(literal) = self.facts.trail().get(self.propagated).copied() else { break };
            self.propagated += 1;
            self.falsified(negation(literal));
            if self.steps == 0 {
                return Err(Exhausted { steps: self.limit });
            }
        }
        self.propagated = self.facts.trail().len();
        Ok(())
    }

    /// Looks at the clauses that watch a literal which has become false.
    fn falsified(&mut self, literal: Literal) {
        let list = self.watching.get_mut(place(literal));
        let watching = list.map(std::mem::take).unwrap_or_default();
        self.steps = self.steps.saturating_sub(1 + watching.len() as u64);
        let mut kept = Vec::with_capacity(watching.len());
        for entry in watching {
            if self.broken.is_some() || self.stays(entry, literal) {
                kept.push(entry);
            }
        }
        if let Some(list) = self.watching.get_mut(place(literal)) {
            list.append(&mut kept);
        }
    }

    /// Whether a clause goes on watching a literal that is false: it does when it finds no other.
    fn stays(&mut self, (id, other): (ClauseId, Literal), literal: Literal) -> bool {
        if self.facts.value(other) == Some(true) {
            return true;
        }
        let Some(clause) = self.clauses.get_mut(id) else { return false };
        if clause.len() == 2 && clause.first() == Some(&literal) {
            clause.swap(0, 1);
        }
        let own = usize::from(clause.first() != Some(&literal));
        let beside = clause.get(1 - own).copied();
        if beside.is_some_and(|beside| self.facts.value(beside) == Some(true)) {
            return true;
        }
        let is_free = |literal: &Literal| self.facts.value(*literal) != Some(false);
        if let Some(free) = clause.iter().skip(2).position(is_free) {
            clause.swap(own, free + 2);
            if let Some(watched) = clause.get(own).copied() {
                self.watch(watched, (id, literal));
            }
            return false;
        }
        if beside.is_some_and(|beside| self.facts.value(beside).is_none()) {
            if own == 0 {
                clause.swap(0, 1);
            }
            self.follow(id);
        } else {
            self.broken = Some(id);
        }
        true
    }
}

impl ClauseSet for Propagation {
    fn new_variable(&mut self) -> u32 {
        self.watching.extend([Vec::new(), Vec::new()]);
        self.facts.new_variable()
    }

    /// Only before the first scope. Literals whose value is known already are left out.
    fn add_clause(&mut self, literals: &[Literal]) {
        let mut clause: Vec<Literal> = Vec::new();
        for literal in literals {
            let is_kept = self.facts.value(*literal) == Some(true);
            if is_kept || clause.contains(&negation(*literal)) {
                return;
            }
            if self.facts.value(*literal).is_none() && !clause.contains(literal) {
                clause.push(*literal);
            }
        }
        let size = clause.len();
        let id = self.keep(clause);
        match size {
            0 => self.broken = Some(id),
            1 => self.follow(id),
            _ => {}
        }
    }
}

/// The place of a literal in a list with two places for each variable.
fn place(literal: Literal) -> usize {
    2 * literal.variable as usize + usize::from(literal.positive)
}
