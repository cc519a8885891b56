//! What goes on while other stages do, as it waits most of its time or can wait for processors.

use std::thread::{self, JoinHandle};

use anyhow::{Context, Result, bail};
use olm_tools::ALONE_BEGIN;

use super::background::BackgroundCommand;
use super::programs::{LowPriorityTests, TestSelection};
use super::run::Run;
use crate::build::{self, Built, Executable};
use crate::progress::Progress;

/// Scenarios on a real node, and a small catalog. Both wait most of their time, for Pods and until nothing
/// is written any more, so other stages run beside them.
pub(super) struct Node {
    scenarios: Result<BackgroundCommand>,
    catalog: Result<BackgroundCommand>,
}

impl Node {
    /// Begins both.
    pub(super) fn begin() -> Self {
        let scenarios = BackgroundCommand::begin(&[
            "e2e",
            "--cluster",
            "real",
            "--needs-node",
            "--or-skip",
            "--jobs",
            "3",
            "--alone-on-request",
        ]);
        Self { scenarios, catalog: BackgroundCommand::begin(&["soak", "--sample"]) }
    }

    /// Takes a line of the scenarios on API servers in: those on the node that a busy machine disturbs begin
    /// with those that are played by themselves. Both rest most of the time, on clusters of their own.
    pub(super) fn read(&mut self, line: &str) {
        if let (ALONE_BEGIN, Ok(scenarios)) = (line, &mut self.scenarios) {
            scenarios.end_input();
        }
    }

    /// Waits for the end of both.
    pub(super) fn end(self, run: &mut Run) {
        let played = self.scenarios.and_then(|it| it.finish_counted(&mut run.summary));
        if let Err(error) = played {
            run.summary.check("scenarios on a real node", Err(error));
        }
        let result = self.catalog.and_then(BackgroundCommand::finish);
        run.summary.check("a small catalog, installed, upgraded and removed", result);
    }
}

/// Tests that keep a processor busy for a minute or longer, and have no deadline that a busy machine could miss. They get
/// what is left while the last scenarios are played, most of which rest: at that priority they would come to nothing
/// before.
pub(super) struct LongTests<'a> {
    /// Those that have not begun.
    waiting: Vec<(&'a Executable, Option<&'static str>)>,
    running: Vec<LowPriorityTests>,
}

impl<'a> LongTests<'a> {
    /// What these are: `opm` and we are asked about everything in real catalogs, and problems are solved by a
    /// brute-force oracle, too.
    pub(super) const ALL: [TestSelection; 2] = [
        TestSelection {
            package: "olm-catalog",
            program: "main",
            test: Some("peer::catalogs_of_the_corpus"),
        },
        TestSelection { package: "olm-resolver", program: "main", test: None },
    ];

    /// Looks for their programs.
    ///
    /// # Errors
    /// Cargo has not built one.
    pub(super) fn of(built: &'a Built) -> Result<Self> {
        let program = |tests: &TestSelection| {
            let program = built.executables.iter().find(|one| tests.is_of(one));
            program.with_context(|| format!("there is no {} of {}", tests.program, tests.package))
        };
        let waiting = Self::ALL.iter().map(|tests| Ok((program(tests)?, tests.test)));
        Ok(Self { waiting: waiting.collect::<Result<_>>()?, running: Vec::new() })
    }

    /// Takes a line of the scenarios on API servers in.
    pub(super) fn read(&mut self, line: &str) {
        if line == ALONE_BEGIN {
            self.begin();
        }
    }

    /// Waits for their end; they begin now when they have not before.
    ///
    /// # Errors
    /// One was not there.
    pub(super) fn end(mut self, run: &mut Run) -> Result<()> {
        self.begin();
        let ended = self.running.into_iter().map(|tests| tests.finish(&mut run.summary));
        ended.fold(Ok(()), Result::and)
    }

    fn begin(&mut self) {
        let waiting = self.waiting.drain(..);
        self.running.extend(waiting.map(|(program, test)| LowPriorityTests::begin(program, test)));
    }
}

/// The documentation, rendered with the processor time that other stages leave.
pub(super) struct Documentation(JoinHandle<Result<Built>>);

impl Documentation {
    /// Begins to render it.
    pub(super) fn begin() -> Self {
        Self(thread::spawn(|| build::document(&Progress::quiet())))
    }

    /// Waits for it.
    ///
    /// # Errors
    /// It has a warning, or something does not compile.
    pub(super) fn finish(self) -> Result<Built> {
        self.0.join().unwrap_or_else(|_| bail!("rendering it has panicked, see above"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_tests_without_a_program_are_reported() {
        let program = |package: &str| Executable {
            package: package.to_owned(),
            name: "main".to_owned(),
            folder: package.into(),
            path: "main".into(),
            tests: true,
        };
        let built = |packages: &[&str]| Built {
            executables: packages.iter().copied().map(program).collect(),
            ..Built::default()
        };
        let both = built(&["olm-resolver", "olm-types", "olm-catalog"]);
        let found = LongTests::of(&both).unwrap().waiting;
        let found: Vec<_> = found.iter().map(|(one, test)| (&*one.package, *test)).collect();
        let peer = ("olm-catalog", Some("peer::catalogs_of_the_corpus"));
        assert_eq!(found, [peer, ("olm-resolver", None)]);
        let refused = LongTests::of(&built(&["olm-catalog"])).err().unwrap();
        assert_eq!(refused.to_string(), "there is no main of olm-resolver");
    }
}
