//! What a broken clause teaches: the first unique implication point, without what follows from the rest
//! (`derive.go` of gini).

use std::collections::BTreeMap;

use super::Literal;
use super::facts::{Facts, negation};

/// How many clauses one after the other are looked through for a literal that the others imply.
const DEPTH: usize = 1_000;

/// A clause that follows from the others.
pub(super) struct Learned {
    /// Its literals: first the one that follows when the last level is left, then all others.
    pub(super) clause: Vec<Literal>,
    /// The lowest level at which the first literal follows.
    pub(super) target: usize,
}

/// What a broken clause teaches. It is resolved with the clauses from which its literals follow, along the
/// trail from its end, until one literal of the last level is left.
pub(super) fn learn(clauses: &[Vec<Literal>], facts: &Facts, broken: usize) -> Learned {
    let mut resolvent =
        Resolvent { facts, seen: vec![false; facts.variables()], open: 0, rest: Vec::new() };
    resolvent.read(clauses.get(broken));
    let mut first = None;
    for literal in facts.trail().iter().rev().copied() {
        if !resolvent.has(literal) {
            continue;
        }
        resolvent.open = resolvent.open.saturating_sub(1);
        if resolvent.open == 0 {
            first = Some(negation(literal));
            break;
        }
        resolvent.read(facts.reason(literal).and_then(|reason| clauses.get(reason)));
    }
    let rest = resolvent.rest;
    let target = rest.iter().map(|literal| facts.level(*literal)).max().unwrap_or_default();
    let rest = Minimal::new(clauses, facts, &rest).of(rest);
    Learned { clause: first.into_iter().chain(rest).collect(), target }
}

/// The clause that has been derived so far.
struct Resolvent<'a> {
    facts: &'a Facts,
    /// Variables that are or were part of it.
    seen: Vec<bool>,
    /// How many of its literals are of the last level.
    open: usize,
    /// Those of lower levels. What follows without assumptions is left out.
    rest: Vec<Literal>,
}

impl Resolvent<'_> {
    fn read(&mut self, clause: Option<&Vec<Literal>>) {
        for literal in clause.into_iter().flatten().copied() {
            let Some(seen) = self.seen.get_mut(literal.variable as usize) else { continue };
            let level = self.facts.level(literal);
            if std::mem::replace(seen, true) || level == 0 {
                continue;
            }
            match level == self.facts.depth() {
                true => self.open += 1,
                false => self.rest.push(literal),
            }
        }
    }

    fn has(&self, literal: Literal) -> bool {
        let seen = self.seen.get(literal.variable as usize).copied().unwrap_or(false);
        seen && self.facts.level(literal) == self.facts.depth()
    }
}

/// Finds out which literals of a clause the others imply.
struct Minimal<'a> {
    clauses: &'a [Vec<Literal>],
    facts: &'a Facts,
    /// Levels of the clause.
    levels: Vec<usize>,
    /// What is implied and what is not, as far as it is known.
    implied: BTreeMap<u32, bool>,
}

impl<'a> Minimal<'a> {
    fn new(clauses: &'a [Vec<Literal>], facts: &'a Facts, rest: &[Literal]) -> Self {
        let levels = rest.iter().map(|literal| facts.level(*literal)).collect();
        let implied = rest.iter().map(|literal| (literal.variable, true)).collect();
        Self { clauses, facts, levels, implied }
    }

    fn of(mut self, rest: Vec<Literal>) -> Vec<Literal> {
        let is_needed = |literal: &Literal| {
            self.implied.remove(&literal.variable);
            let implied = self.is_implied(*literal, 0);
            self.implied.insert(literal.variable, true);
            !implied
        };
        rest.into_iter().filter(is_needed).collect()
    }

    fn is_implied(&mut self, literal: Literal, depth: usize) -> bool {
        if let Some(known) = self.implied.get(&literal.variable) {
            return *known;
        }
        let reason = self.facts.reason(literal).and_then(|reason| self.clauses.get(reason));
        let reason = reason.filter(|_| self.levels.contains(&self.facts.level(literal)));
        let implied = depth < DEPTH
            && reason.is_some_and(|reason| {
                reason.iter().skip(1).all(|other| self.is_implied(*other, depth + 1))
            });
        self.implied.insert(literal.variable, implied);
        implied
    }
}
