//! A process knows what it wrote: on no cluster of a run an operator met, with status 409, a write that
//! it had made itself. Where answers of the API server are lost on purpose, it cannot know.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, ensure};
use libtest_mimic::{Arguments, Conclusion, Failed, Trial};
use olm_testkit::audit::own_conflicts;
use olm_testkit::operators::Operator;

/// The cluster on which answers are lost.
const LOSES_ANSWERS: &str = "faults";

/// Where two processes of catalog-operator are at work on purpose.
const TWO_AT_WORK: &str = "e2e-rolling-two-at-work";

/// What was found so far, on clusters that are gone.
static FOUND: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Adds what happened on a cluster. To be called when the operators have ended.
pub fn note(purpose: &str, audit_log: &Path) -> Result<()> {
    if purpose == LOSES_ANSWERS {
        return Ok(());
    }
    let mut conflicts = own_conflicts(&Operator::NAMES, audit_log)?;
    conflicts.retain(|conflict| conflict.refused.namespace != TWO_AT_WORK);
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    found.extend(conflicts.iter().map(|conflict| format!("{purpose}: {conflict}")));
    Ok(())
}

/// After all scenarios: there was none.
pub fn conclude(arguments: &Arguments) -> Conclusion {
    let arguments = Arguments { filter: None, exact: false, ..arguments.clone() };
    let trial = Trial::test("conflicts::none_with_oneself", || {
        examine().map_err(|error| Failed::from(format!("{error:#}")))
    });
    libtest_mimic::run(&arguments, vec![trial])
}

fn examine() -> Result<()> {
    let found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    ensure!(found.is_empty(), "{} conflicts with own writes:\n{}", found.len(), found.join("\n"));
    Ok(())
}
