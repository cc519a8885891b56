//! `cargo test`, with its output passed on and counted.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use super::summary::{Summary, result_line};
use crate::workspace::cargo;

/// Runs the tests and adds their results; returns the names of those that failed.
pub(super) fn run(args: &[&str], summary: &mut Summary) -> Vec<String> {
    if std::env::var_os("OLM_CORPUS").is_none() {
        println!("not run: tests over corpora outside this repository (set OLM_CORPUS)");
    }
    let mut failed_before = 0;
    let mut names = Failures::default();
    let counted = stream(args, |line| {
        names.read(line);
        if line.starts_with("test result:") {
            let (passed, not_passed, ignored) = result_line(line)?;
            summary.add(passed, not_passed);
            summary.add_not_run(ignored);
            failed_before += not_passed;
        }
        Ok(())
    });
    match counted {
        // Nothing failed as a test, so the failure is one of compilation or of a test binary.
        Err(error) if failed_before == 0 => summary.check("cargo test", Err(error)),
        _ => {}
    }
    names.found
}

/// Whether a test that failed passes now. Only the line of that very test is believed.
pub(super) fn passes(args: &[&str], test: &str) -> bool {
    let args = [args, &["--", "--exact", test]].concat();
    let mut passed = false;
    let played = stream(&args, |line| {
        passed |= is_pass_of(line, test);
        Ok(())
    });
    played.is_ok() && passed
}

/// Names that test binaries list as failed at their end.
#[derive(Debug, Default)]
struct Failures {
    found: Vec<String>,
    in_list: bool,
}

impl Failures {
    /// The list follows a line of its own, indented by four; so does, after an empty line, what the
    /// tests printed.
    fn read(&mut self, line: &str) {
        match line.strip_prefix("    ") {
            _ if line == "failures:" => self.in_list = true,
            Some(name) if self.in_list => self.found.push(name.trim().to_owned()),
            _ => self.in_list = false,
        }
    }
}

fn is_pass_of(line: &str, test: &str) -> bool {
    let rest = line.strip_prefix("test ").and_then(|line| line.strip_prefix(test));
    rest.is_some_and(|rest| rest.trim() == "... ok")
}

/// Passes the output on, and each line to `read`.
fn stream(args: &[&str], mut read: impl FnMut(&str) -> Result<()>) -> Result<()> {
    let mut child =
        cargo().args(args).stdout(Stdio::piped()).spawn().context("cannot run cargo test")?;
    let output = child.stdout.take().context("cargo test has no output")?;
    for line in BufReader::new(output).split(b'\n') {
        let line = line.context("cannot read the output of cargo test")?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        read(&line)?;
    }
    let status = child.wait().context("cannot wait for cargo test")?;
    match status.success() {
        true => Ok(()),
        false => bail!("cargo test failed"),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::{Failures, is_pass_of};

    const OUTPUT: &str = "test a::b ... FAILED

failures:

---- a::b ----
    an indented line
waited 90 s

failures:
    a::b
    c

test result: FAILED. 0 passed; 2 failed";

    #[test]
    fn failed_tests_are_named_by_the_list_at_the_end() {
        let mut failures = Failures::default();
        OUTPUT.lines().for_each(|line| failures.read(line));
        assert_eq!(failures.found, ["a::b", "c"]);
    }

    #[rstest]
    #[case("test a::b          ... ok", true)]
    #[case("test a::b ... ok", true)]
    #[case("test a::b          ... FAILED", false)]
    #[case("test a::b          ... ignored", false)]
    #[case("test a::bc ... ok", false)]
    #[case("test result: ok. 1 passed", false)]
    fn only_its_own_line_is_a_pass(#[case] line: &str, #[case] expected: bool) {
        assert_eq!(is_pass_of(line, "a::b"), expected);
    }
}
