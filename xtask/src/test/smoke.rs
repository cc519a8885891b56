//! One end-to-end scenario on a real node, where this machine can have one.
//!
//! It is a program of its own, `cargo xtask e2e`, whose closing line is read. A skip is not a pass:
//! where the machine cannot do it, that is said and counted as not run.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use olm_testkit::cluster::real::RealCluster;
use olm_testkit::progress::Progress;

use super::summary::Summary;
use crate::workspace;

/// Which scenarios.
const FOCUS: &str = "smoke::";

/// Plays it and adds its results.
pub(super) fn run(summary: &mut Summary) {
    match prepare() {
        Ok(()) => summary.check_counted("e2e smoke on a real node", play),
        Err(reason) => {
            println!("not run: the e2e smoke on a real node: {reason:#}");
            summary.add_not_run(1);
        }
    }
}

/// Gets what a real node needs and may be got here; fails with what is missing after that.
fn prepare() -> Result<()> {
    ensure!(cfg!(target_os = "linux"), "it needs Linux");
    RealCluster::for_this_command("smoke", Progress::to_stderr())?.prepare_machine()
}

/// Passes the output on and returns what the closing line counts: passed, failed, skipped.
fn play() -> Result<[usize; 3]> {
    let mut child = Command::new(workspace::this_program()?)
        .args(["e2e", "--cluster", "real", "--focus", FOCUS])
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start the e2e runner")?;
    let output = child.stdout.take().context("the e2e runner has no output")?;
    let mut counted = None;
    for line in BufReader::new(output).split(b'\n') {
        let line = line.context("cannot read the output of the e2e runner")?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        counted = closing(&line).or(counted);
    }
    let status = child.wait().context("cannot wait for the e2e runner")?;
    match counted {
        Some(counts @ [_, failed, _]) if status.success() || failed > 0 => Ok(counts),
        Some([_, _, skipped]) if skipped > 0 => bail!("the smoke was skipped on a real node"),
        _ => bail!("the e2e runner ended with {status}"),
    }
}

/// Reads `N passed, N failed, N skipped`.
fn closing(line: &str) -> Option<[usize; 3]> {
    let mut counts = line.split(", ");
    let mut next = |word: &str| counts.next()?.strip_suffix(word)?.trim_end().parse().ok();
    let found = [next("passed")?, next("failed")?, next("skipped")?];
    counts.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::closing;

    #[rstest]
    #[case("3 passed, 1 failed, 12 skipped", Some([3, 1, 12]))]
    #[case("3 passed, 1 failed", None)]
    #[case("3 passed, 1 failed, 12 skipped, and more", None)]
    #[case("passed   12.0 s  smoke::an_operator_that_runs", None)]
    #[case("", None)]
    fn only_the_closing_line_counts(#[case] line: &str, #[case] expected: Option<[usize; 3]>) {
        assert_eq!(closing(line), expected);
    }
}
