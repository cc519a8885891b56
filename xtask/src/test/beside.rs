//! What goes on while other stages do, as it waits most of its time or can wait for processors.

use std::thread::{self, JoinHandle};

use anyhow::{Result, anyhow, bail};
use olm_tools::ALONE_BEGIN;

use super::background::BackgroundCommand;
use super::programs::{LowPriorityTest, OneTest};
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

/// A test that asks `opm` about everything in real catalogs, which takes minutes of processor time. It gets what is left
/// while the last scenarios are played, most of which rest: at that priority it would come to nothing before.
pub(super) struct PeerComparison<'a> {
    /// What it is in, until it begins.
    program: Option<&'a Executable>,
    running: Option<LowPriorityTest>,
}

impl<'a> PeerComparison<'a> {
    /// The test.
    pub(super) const TEST: OneTest =
        OneTest { package: "olm-catalog", program: "main", name: "peer::catalogs_of_the_corpus" };

    /// Looks for its program.
    pub(super) fn of(built: &'a Built) -> Self {
        let program = built.executables.iter().find(|one| Self::TEST.is_in(one));
        Self { program, running: None }
    }

    /// Takes a line of the scenarios on API servers in.
    pub(super) fn read(&mut self, line: &str) {
        if line == ALONE_BEGIN {
            self.begin();
        }
    }

    /// Waits for its end; it begins now when it has not before.
    pub(super) fn end(mut self, run: &mut Run) {
        self.begin();
        let ended = match self.running {
            Some(running) => running.finish(&mut run.summary),
            None => Err(anyhow!("cargo has not built its program")),
        };
        if let Err(error) = ended {
            run.summary.check(Self::TEST.name, Err(error));
        }
    }

    fn begin(&mut self) {
        if let Some(program) = self.program.take() {
            self.running = Some(LowPriorityTest::begin(program, Self::TEST.name));
        }
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
