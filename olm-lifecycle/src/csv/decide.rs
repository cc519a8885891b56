//! Sends a CSV through the stages.

use jiff::Timestamp;

use super::decision::Decision;
use super::observed::Observed;
use super::pass::{Pass, Request};
use super::stages::{STAGES, Stage, Verdict};
use crate::operator::ComponentOwner;

/// The answer of [`decide`].
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// What to do.
    Decided(Decision),
    /// What to read first; afterwards decide again.
    Need(Request),
}

/// Decides what to do about the observed CSV.
pub fn decide(observed: &Observed, now: Timestamp) -> Step {
    decide_with(STAGES, observed, now)
}

/// Decides with a list of stages of one's own.
pub fn decide_with(stages: &[&dyn Stage], observed: &Observed, now: Timestamp) -> Step {
    let pass = Pass::new(observed, now);
    for stage in stages {
        match stage.judge(&pass) {
            Verdict::Continue => {}
            Verdict::Stop(decision) => return Step::Decided(recorded(&pass, decision)),
            Verdict::Need(request) => return Step::Need(request),
        }
    }
    Step::Decided(recorded(&pass, Decision::nothing()))
}

/// The decision with what the requirements were found to be on the way to it, whichever stage made
/// it: the list in the status stays true even if nothing else changes, and says what there was when a
/// later stage refuses the CSV. What is written for the CSV is a component of its Operators at once.
fn recorded(pass: &Pass<'_>, mut decision: Decision) -> Decision {
    ComponentOwner::from(&*pass.observed.csv).label_all(&mut decision.effects);
    match pass.found_requirements() {
        Some(found) if decision.status.requirements.is_none() => decision.with_requirements(found),
        Some(_) | None => decision,
    }
}
