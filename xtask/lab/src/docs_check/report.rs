//! How the commands of the pages went.

/// What became of a command.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It did what its page says.
    Passed,
    /// It did not.
    Failed { place: String, command: String, what: String },
    /// It needs what is not here.
    NotRun { place: String, command: String, reason: String },
}

/// Prints what is not plainly good.
pub(super) fn print(outcome: &Outcome) {
    match outcome {
        Outcome::Passed => {}
        Outcome::Failed { place, command, what } => println!("FAILED  {place}  {command}\n{what}"),
        Outcome::NotRun { place, command, reason } => {
            println!("not run  {place}  {command}  ({reason})");
        }
    }
}

/// The summary line.
pub(super) fn summary_line(outcomes: &[Outcome]) -> String {
    let count = |is: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| is(outcome)).count();
    let passed = count(|outcome| matches!(outcome, Outcome::Passed));
    let failed = count(|outcome| matches!(outcome, Outcome::Failed { .. }));
    let not_run = count(|outcome| matches!(outcome, Outcome::NotRun { .. }));
    format!("{passed} passed, {failed} failed, {not_run} not run")
}
