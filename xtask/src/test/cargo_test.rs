//! `cargo test`, with its output passed on and counted.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use super::summary::{Summary, result_line};
use crate::workspace::cargo;

/// Runs the tests and adds their results.
pub(super) fn run(args: &[&str], summary: &mut Summary) {
    if std::env::var_os("OLM_CORPUS").is_none() {
        println!("not run: tests over corpora outside this repository (set OLM_CORPUS)");
    }
    let mut failed_before = 0;
    match stream(args, summary, &mut failed_before) {
        // Nothing failed as a test, so the failure is one of compilation or of a test binary.
        Err(error) if failed_before == 0 => summary.check("cargo test", Err(error)),
        _ => {}
    }
}

fn stream(args: &[&str], summary: &mut Summary, failed: &mut usize) -> Result<()> {
    let mut child =
        cargo().args(args).stdout(Stdio::piped()).spawn().context("cannot run cargo test")?;
    let output = child.stdout.take().context("cargo test has no output")?;
    for line in BufReader::new(output).split(b'\n') {
        let line = line.context("cannot read the output of cargo test")?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        if line.starts_with("test result:") {
            let (passed, not_passed, ignored) = result_line(&line)?;
            summary.add(passed, not_passed);
            summary.add_not_run(ignored);
            *failed += not_passed;
        }
    }
    let status = child.wait().context("cannot wait for cargo test")?;
    match status.success() {
        true => Ok(()),
        false => bail!("cargo test failed"),
    }
}
