//! Counting what passed and failed.

use anyhow::Result;

/// The sum of all stages.
#[derive(Debug, Default)]
pub(super) struct Summary {
    passed: usize,
    failed: usize,
    not_run: usize,
    reasons: Vec<String>,
    failures: Vec<String>,
    /// What failed tests say.
    said: Vec<String>,
}

impl Summary {
    /// Adds results that were printed already.
    pub(super) fn add(&mut self, passed: usize, failed: usize) {
        self.passed += passed;
        self.failed += failed;
    }

    /// Names tests that are counted as failed already, with what they said.
    pub(super) fn name_failed(&mut self, tests: &[String], said: &[String]) {
        self.failures.extend_from_slice(tests);
        self.said.extend_from_slice(said);
    }

    /// Adds tests that cannot run here, with what they say about it.
    pub(super) fn add_not_run(&mut self, count: usize, reasons: &[String]) {
        self.not_run += count;
        self.reasons.extend_from_slice(reasons);
    }

    /// How many tests failed or were not run.
    pub(super) fn not_good(&self) -> usize {
        self.failed + self.not_run
    }

    /// Adds something that is one check.
    pub(super) fn check(&mut self, name: &str, result: Result<()>) {
        match result {
            Ok(()) => self.add(1, 0),
            Err(error) => {
                println!("{name}: {error:#}");
                self.failures.push(name.to_owned());
                self.add(0, 1);
            }
        }
    }

    /// Prints the sum as the last line of all.
    pub(super) fn finish(self) -> Result<()> {
        if self.not_run > 0 {
            self.reasons.iter().for_each(|reason| println!("not run: {reason}"));
            println!("{} not run", self.not_run);
        }
        self.said.iter().for_each(|line| println!("{line}"));
        self.failures.iter().for_each(|name| println!("failed: {name}"));
        println!("{} passed, {} failed", self.passed, self.failed);
        match self.failed {
            0 => Ok(()),
            // The sum is printed and must stay the last line.
            _ => std::process::exit(1),
        }
    }
}
