//! Counting what passed and failed.

use anyhow::{Result, bail};

/// The sum of all steps.
#[derive(Debug, Default)]
pub(super) struct Summary {
    passed: usize,
    failed: usize,
    not_run: usize,
    failures: Vec<String>,
    unsteady: Vec<String>,
}

impl Summary {
    /// Adds results that were printed already.
    pub(super) fn add(&mut self, passed: usize, failed: usize) {
        self.passed += passed;
        self.failed += failed;
    }

    /// Names a test that is counted as failed already.
    pub(super) fn name_failed(&mut self, test: &str) {
        self.failures.push(test.to_owned());
    }

    /// A test that was counted as failed passed when it was played again. It stays named.
    pub(super) fn passed_again(&mut self, test: &str) {
        self.failed -= 1;
        self.passed += 1;
        self.unsteady.push(test.to_owned());
    }

    /// Adds tests that say that they cannot run here.
    pub(super) fn add_not_run(&mut self, count: usize) {
        self.not_run += count;
    }

    /// Adds a step that is one check.
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

    /// Adds a step that counts for itself: passed, failed, not run.
    pub(super) fn check_counted(&mut self, name: &str, step: impl FnOnce() -> Result<[usize; 3]>) {
        match step() {
            Ok([passed, failed, not_run]) => {
                self.add(passed, failed);
                self.add_not_run(not_run);
                self.failures.extend((failed > 0).then(|| name.to_owned()));
            }
            Err(error) => self.check(name, Err(error)),
        }
    }

    /// Prints the sum as the last line of all.
    pub(super) fn finish(self) -> Result<()> {
        println!();
        if self.not_run > 0 {
            println!("{} not run: they say why above", self.not_run);
        }
        for name in &self.unsteady {
            println!(
                "unsteady: {name} failed beside the others and passed when played again alone"
            );
        }
        self.failures.iter().for_each(|name| println!("failed: {name}"));
        println!("{} passed, {} failed", self.passed, self.failed);
        match self.failed {
            0 => Ok(()),
            // The sum is printed and must stay the last line.
            _ => std::process::exit(1),
        }
    }
}

/// Reads the last line of a test binary: passed, failed, ignored.
pub(super) fn result_line(line: &str) -> Result<(usize, usize, usize)> {
    let count = |word: &str| {
        let (before, _) = line.split_once(&format!(" {word}"))?;
        before.rsplit([' ', ';']).next()?.parse().ok()
    };
    match (count("passed"), count("failed"), count("ignored")) {
        (Some(passed), Some(failed), Some(ignored)) => Ok((passed, failed, ignored)),
        _ => bail!("cannot read {line:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::result_line;

    #[test]
    fn the_line_of_a_test_binary_is_read() {
        let line =
            "test result: FAILED. 12 passed; 3 failed; 1 ignored; 0 measured; 0 filtered out";
        assert_eq!(result_line(line).unwrap(), (12, 3, 1));
        assert!(result_line("test result: ok.").is_err());
    }
}
