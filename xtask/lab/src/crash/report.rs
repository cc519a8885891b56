//! What a person reads.

use anyhow::Result;
use olm_testkit::audit::Write;
use olm_testkit::dump::Difference;
use olm_testkit::operators::Operator;

use super::effects::Effect;
use super::operators::CrashPoint;
use super::run::ReferenceRun;
use super::scenario::Scenario;

/// How a crash point went.
pub(super) enum CrashPointResult {
    /// The cluster holds what it should.
    Converged {
        /// The write after which the operator ended.
        after: Effect,
    },
    /// It holds something else.
    Different {
        /// The write after which the operator ended.
        after: Effect,
        /// What is different.
        differences: Vec<Difference>,
    },
    /// The steps did not come to their end.
    Failed {
        /// The write after which the operator ended, when it did.
        after: Option<Effect>,
        /// What was waited for.
        error: anyhow::Error,
    },
    /// In all runs the operator wrote less often than in the undisturbed one, so it did not crash; each ended as that.
    NotThere,
}

impl CrashPointResult {
    pub(super) fn of(after: Effect, differences: Result<Vec<Difference>>) -> Self {
        match differences {
            Ok(differences) if differences.is_empty() => Self::Converged { after },
            Ok(differences) => Self::Different { after, differences },
            Err(error) => Self::Failed { after: Some(after), error },
        }
    }
}

/// Figures of one or several scenarios.
#[derive(Debug, Default)]
pub(super) struct Tally {
    points: usize,
    converged: usize,
    /// Writes that only the undisturbed run had: on a busy machine a state in between is seen in one run and not in
    /// others.
    not_there: usize,
    /// Scenarios in which operators and audit log do not agree, or an end state is not one.
    unequal: usize,
}

impl Tally {
    pub(super) fn of(undisturbed: &ReferenceRun) -> Self {
        let agreed = undisturbed.effects.len() == undisturbed.audited.len();
        let quiet = undisturbed.again.is_empty();
        Self { unequal: usize::from(!agreed || !quiet), ..Self::default() }
    }

    pub(super) fn count(&mut self, verdict: &CrashPointResult) {
        self.points += 1;
        self.converged += usize::from(matches!(verdict, CrashPointResult::Converged { .. }));
        self.not_there += usize::from(matches!(verdict, CrashPointResult::NotThere));
    }

    pub(super) fn add(&mut self, other: Self) {
        self.points += other.points;
        self.converged += other.converged;
        self.not_there += other.not_there;
        self.unequal += other.unequal;
    }

    /// Where more than a twentieth is not there, the undisturbed run was no measure.
    pub(super) fn is_good(&self) -> bool {
        let are_few = self.not_there * 20 <= self.points;
        self.points == self.converged + self.not_there && are_few && self.unequal == 0
    }
}

/// Prints the name of a scenario.
pub(super) fn name(scenario: &dyn Scenario) {
    println!("{}: {}", scenario.name(), scenario.about());
}

/// Prints the run that others are compared with.
pub(super) fn undisturbed(run: &ReferenceRun) {
    let by = |operator| run.effects.iter().filter(|(other, _)| *other == operator).count();
    println!(
        "  undisturbed: {} wrote {} times, {} {} times, {} together; the audit log has {} writes",
        Operator::Olm,
        by(Operator::Olm),
        Operator::Catalog,
        by(Operator::Catalog),
        run.effects.len(),
        run.audited.len()
    );
    if run.effects.len() != run.audited.len() {
        println!("  these do not agree; by the audit log:");
        list(&run.audited);
        println!("  and by the operators:");
        run.effects.iter().for_each(|(operator, effect)| println!("    {operator}: {effect}"));
    }
    println!("  both started again over the end state: {} writes", run.again.len());
    list(&run.again);
}

fn list(writes: &[Write]) {
    writes.iter().for_each(|write| println!("    {write}"));
}

/// Prints how a crash point went.
pub(super) fn verdict(point: CrashPoint, verdict: &CrashPointResult) {
    let start = format!("  {:<16} {:>3}", point.operator, point.number);
    match verdict {
        CrashPointResult::Converged { after } => println!("{start}  converged  after {after}"),
        CrashPointResult::Different { after, differences } => {
            println!("{start}  DIFFERENT  after {after}");
            differences.iter().for_each(|one| indented(&one.to_string()));
        }
        CrashPointResult::Failed { after, error } => {
            let after = after.as_ref().map(ToString::to_string);
            println!("{start}  FAILED     after {}", after.as_deref().unwrap_or("no crash"));
            indented(&format!("{error:#}"));
        }
        CrashPointResult::NotThere => {
            println!(
                "{start}  not there: it wrote less often in every run, and each ended the same"
            )
        }
    }
}

fn indented(text: &str) {
    text.lines().for_each(|line| println!("      {line}"));
}

/// Prints the sum of a scenario.
pub(super) fn scenario(tally: &Tally) {
    let Tally { points, converged, not_there, .. } = tally;
    println!("  {converged} of {points} crash points converged, {not_there} were not there");
}

/// Prints the sum of everything.
pub(super) fn summary_line(tally: &Tally) {
    let Tally { points, converged, not_there, .. } = tally;
    println!("{points} crash points, {converged} converged, {not_there} were not there");
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::all_converged(250, 250, 0, 0, true)]
    #[case::one_did_not(250, 249, 0, 0, false)]
    #[case::a_few_are_not_there(250, 248, 2, 0, true)]
    #[case::many_are_not_there(40, 37, 3, 0, false)]
    #[case::the_only_one_is_not_there(1, 0, 1, 0, false)]
    #[case::no_end_state(250, 250, 0, 1, false)]
    fn a_sweep_is_good_when_all_that_is_there_converged(
        #[case] points: usize,
        #[case] converged: usize,
        #[case] not_there: usize,
        #[case] unequal: usize,
        #[case] expected: bool,
    ) {
        assert_eq!(Tally { points, converged, not_there, unequal }.is_good(), expected);
    }
}
