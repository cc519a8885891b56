//! The answer that OLM v0 finds, with what its search forgets (spec catalog-operator 3.7).
//!
//! Choices are made first in, first out, as in [`OrderedSearch`], but by guessing. When guesses contradict
//! each other, the last one is taken back and its choice goes on with the next candidate. Choices that are
//! taken back on the way to the guess at fault go on, too, instead of starting again at their first
//! candidate, even when they have nothing to do with it. A choice that has no candidate left is decided by
//! the SAT core, which knows no preference. v0 then leaves out what the core chose, so that its answer may
//! break a rule; here as little as possible of it is kept.
//!
//! So an answer may be less preferred than the one of [`OrderedSearch`]; whether there is one is the same.
//! Where guessing takes too long, or v0's form of the rules is too large (v0 knows no bound), the answer is that of [`OrderedSearch`].

use std::collections::VecDeque;
use std::sync::Arc;

use super::circuit::Circuit;
use super::propagation::{Known, Propagation};
use super::{
    BatsatCore, ClauseSet, Exhausted, Literal, OrderedSearch, Sat, Satisfiability, Solution,
    Solver, encoding,
};
use crate::problem::{Formula, Rule, VariableId};

/// Clauses that may be looked at in one resolution.
const STEPS: u64 = 50_000_000;

/// Gates of a formula with which v0's form of it is written; some hundred bytes each.
const GATES: usize = 500_000;

/// Searches as v0 does.
#[derive(Clone, Copy, Debug)]
pub struct GuessingSearch {
    /// Clauses looked at after which guessing is given up.
    pub steps: u64,
    /// What answers when guessing takes too long, and says what stands in the way of an answer.
    pub ordered: OrderedSearch,
}

impl Default for GuessingSearch {
    fn default() -> Self {
        Self { steps: STEPS, ordered: OrderedSearch::default() }
    }
}

impl Solver for GuessingSearch {
    fn solve(&self, formula: &Formula) -> Result<Solution, Exhausted> {
        if Circuit::gates(formula) > GATES {
            return self.ordered.solve(formula);
        }
        let mut sat = BatsatCore::new(self.ordered.steps);
        add(formula, &mut sat);
        if sat.solve(&[])? == Satisfiability::Satisfiable
            && let Ok(Some(found)) = Search::new(formula, self.steps).run()
        {
            return Ok(Solution::Chosen(fewest(formula, &found, sat)?));
        }
        self.ordered.solve(formula)
    }
}

/// The variables and rules of a formula.
fn add(formula: &Formula, sat: &mut BatsatCore) {
    for _ in 0..formula.variables {
        sat.new_variable();
    }
    let mut lists = encoding::Lists::of(&formula.rules);
    formula.rules.iter().for_each(|rule| lists.add(sat, rule, None));
}

/// An answer, and which of its variables were guessed.
struct Found {
    chosen: Vec<VariableId>,
    guessed: Vec<bool>,
}

/// A choice that is still to be made.
#[derive(Clone)]
struct Choice<'a> {
    candidates: &'a [VariableId],
    /// The candidate that is tried next.
    next: usize,
}

/// A choice that was made.
struct Guess<'a> {
    choice: Choice<'a>,
    /// Nothing, if an earlier guess meets the choice or no candidate is left.
    assumed: Option<VariableId>,
    /// How many choices the guess brought.
    brought: usize,
}

struct Search<'a> {
    known: Propagation,
    /// What is assumed before anything is guessed.
    rules: Vec<Literal>,
    dependencies: Vec<Vec<&'a Arc<[VariableId]>>>,
    choices: VecDeque<Choice<'a>>,
    guesses: Vec<Guess<'a>>,
    guessed: Vec<bool>,
}

impl<'a> Search<'a> {
    fn new(formula: &'a Formula, steps: u64) -> Self {
        let mut known = Propagation::new(steps);
        let circuit = Circuit::new(formula);
        circuit.add_to(&mut known);
        let anchors = formula.rules.iter().filter_map(|rule| match rule {
            Rule::Mandatory(anchor) => Some(std::slice::from_ref(anchor)),
            _ => None,
        });
        Self {
            known,
            rules: circuit.rules().to_vec(),
            dependencies: formula.dependencies(),
            choices: anchors.map(|candidates| Choice { candidates, next: 0 }).collect(),
            guesses: Vec::new(),
            guessed: vec![false; formula.variables as usize],
        }
    }

    /// An answer; none if there is none.
    fn run(mut self) -> Result<Option<Found>, Exhausted> {
        let mut state = self.known.open(&self.rules)?;
        loop {
            if self.choices.is_empty() && state == Known::Nothing {
                state = self.known.solve()?;
                if state == Known::Nothing {
                    break;
                }
            }
            state = match state {
                Known::Nothing => self.guess()?,
                Known::Contradiction if self.guesses.is_empty() => return Ok(None),
                Known::Contradiction => self.take_back()?,
            };
        }
        let ids = (0..self.guessed.len()).filter_map(|id| u32::try_from(id).ok());
        let chosen = ids.filter(|id| self.known.is_true(*id)).map(VariableId).collect();
        Ok(Some(Found { chosen, guessed: self.guessed }))
    }

    /// Makes the next choice.
    fn guess(&mut self) -> Result<Known, Exhausted> {
        let Some(choice) = self.choices.pop_front() else { return Ok(Known::Nothing) };
        let is_met = choice.candidates.iter().any(|candidate| is(&self.guessed, *candidate));
        let assumed = choice.candidates.get(choice.next).copied().filter(|_| !is_met);
        let dependencies = assumed.and_then(|variable| self.dependencies.get(variable.index()));
        // One without candidates cannot be guessed.
        let brought = dependencies.into_iter().flatten().filter(|choices| !choices.is_empty());
        let before = self.choices.len();
        self.choices.extend(brought.map(|candidates| Choice { candidates, next: 0 }));
        let brought = self.choices.len() - before;
        self.guesses.push(Guess { choice, assumed, brought });
        let Some(variable) = assumed else { return Ok(Known::Nothing) };
        self.mark(variable, true);
        self.known.open(&[Literal::positive(variable.0)])
    }

    /// Takes the last guess back, and puts its choice in front of all others.
    fn take_back(&mut self) -> Result<Known, Exhausted> {
        let Some(guess) = self.guesses.pop() else { return Ok(Known::Contradiction) };
        self.choices.truncate(self.choices.len().saturating_sub(guess.brought));
        let Some(variable) = guess.assumed else {
            self.choices.push_front(guess.choice);
            return Ok(Known::Contradiction);
        };
        self.choices.push_front(Choice { next: guess.choice.next + 1, ..guess.choice });
        self.mark(variable, false);
        self.known.close()
    }

    fn mark(&mut self, variable: VariableId, guessed: bool) {
        if let Some(flag) = self.guessed.get_mut(variable.index()) {
            *flag = guessed;
        }
    }
}

/// The answer without what it need not have: of the variables that were not guessed, as few as possible.
fn fewest(
    formula: &Formula,
    found: &Found,
    mut sat: BatsatCore,
) -> Result<Vec<VariableId>, Exhausted> {
    let extras: Vec<VariableId> =
        found.chosen.iter().copied().filter(|id| !is(&found.guessed, *id)).collect();
    if extras.is_empty() {
        return Ok(found.chosen.clone());
    }
    fix(formula, found, &mut sat);
    for count in 0..u32::try_from(extras.len()).unwrap_or(u32::MAX) {
        // On while no more than `count` of the extras are wanted.
        let switch = sat.new_variable();
        let bound = Rule::AtMost { count, of: extras.as_slice().into() };
        encoding::add(&mut sat, &bound, Some(Literal::negative(switch)));
        if sat.solve(&[Literal::positive(switch)])? == Satisfiability::Satisfiable {
            let is_chosen = |id: &VariableId| sat.is_true(id.0);
            return Ok(found.chosen.iter().copied().filter(is_chosen).collect());
        }
    }
    Ok(found.chosen.clone())
}

/// What was guessed stays, and nothing else is added.
fn fix(formula: &Formula, found: &Found, sat: &mut BatsatCore) {
    for id in (0..formula.variables).map(VariableId) {
        if is(&found.guessed, id) {
            sat.add_clause(&[Literal::positive(id.0)]);
        } else if found.chosen.binary_search(&id).is_err() {
            sat.add_clause(&[Literal::negative(id.0)]);
        }
    }
}

fn is(flags: &[bool], variable: VariableId) -> bool {
    flags.get(variable.index()).copied().unwrap_or(false)
}
