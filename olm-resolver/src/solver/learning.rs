//! What a broken clause teaches: the first unique implication point.

use super::Literal;
use super::propagation::{ClauseId, Fact, negation};

/// A clause that follows from the others and is broken by what is assumed, with one literal only that
/// follows from the last assumption concerned; it comes first.
///
/// The broken clause is resolved with the clauses from which its literals follow, along the trail from its
/// end, until one literal of the highest level is left. Empty if nothing was assumed at all.
pub(super) fn clause(
    clauses: &[Vec<Literal>],
    facts: &[Fact],
    trail: &[Literal],
    broken: ClauseId,
) -> Vec<Literal> {
    let literals = |id: ClauseId| clauses.get(id).into_iter().flatten().copied();
    let level =
        |literal: Literal| facts.get(literal.variable as usize).map_or(0, |fact| fact.level);
    let top = literals(broken).map(level).max().unwrap_or_default();
    let mut resolvent =
        Resolvent { facts, top, seen: vec![false; facts.len()], open: 0, rest: vec![] };
    resolvent.read(literals(broken));
    let of_top = trail.iter().rev().copied().filter(|literal| top > 0 && level(*literal) == top);
    for literal in of_top {
        if !resolvent.has(literal) {
            continue;
        }
        if resolvent.open == 1 {
            return std::iter::once(negation(literal)).chain(resolvent.rest).collect();
        }
        resolvent.open -= 1;
        let reason = facts.get(literal.variable as usize).and_then(|fact| fact.reason);
        resolvent.read(reason.into_iter().flat_map(literals));
    }
    resolvent.rest
}

/// The clause that has been derived so far.
struct Resolvent<'a> {
    facts: &'a [Fact],
    /// Highest level of its literals.
    top: usize,
    /// Variables that are or were part of it.
    seen: Vec<bool>,
    /// How many of its literals are of the highest level.
    open: usize,
    /// Those of lower levels. What follows without assumptions is left out.
    rest: Vec<Literal>,
}

impl Resolvent<'_> {
    fn read(&mut self, literals: impl Iterator<Item = Literal>) {
        for literal in literals {
            let variable = literal.variable as usize;
            let (Some(seen), Some(fact)) = (self.seen.get_mut(variable), self.facts.get(variable))
            else {
                continue;
            };
            if std::mem::replace(seen, true) || fact.level == 0 {
                continue;
            }
            match fact.level == self.top {
                true => self.open += 1,
                false => self.rest.push(literal),
            }
        }
    }

    fn has(&self, literal: Literal) -> bool {
        self.seen.get(literal.variable as usize).copied().unwrap_or(false)
    }
}
