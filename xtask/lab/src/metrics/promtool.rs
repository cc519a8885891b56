//! Has Prometheus' own tool check the alerts and evaluate them on made-up series.
//!
//! `promtool` comes with Debian's package `prometheus`. Where it is missing and may be installed, it
//! is; where not, that is said, and nothing counts as passed.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use olm_rig::debian;
use olm_testkit::progress::Progress;
use serde_json::Value;

use super::rules;

/// The program, and the package that brings it.
const PROGRAM: &str = "promtool";
const PACKAGE: &str = "prometheus";

/// What firing and silent alerts look like.
const TESTS: &str = "alerts.test.yaml";

/// Gets the program.
///
/// # Errors
///
/// When it is not here and cannot be installed; the message says why.
pub fn prepare() -> Result<()> {
    if debian::is_on_path(PROGRAM) {
        return Ok(());
    }
    ensure!(debian::is_root(), "{PROGRAM} of the Debian package {PACKAGE} is missing");
    debian::install(&[PACKAGE], &Progress::to_stderr())?;
    ensure!(debian::is_on_path(PROGRAM), "the package {PACKAGE} brought no {PROGRAM}");
    Ok(())
}

/// Checks the rules, and plays the tests beside them.
///
/// # Errors
///
/// When a rule is wrong, or fires when it should not; the message is the program's.
pub fn run() -> Result<()> {
    let folder = tempfile::tempdir().context("cannot create a folder")?;
    let groups = rules::object()?.get("spec").cloned().unwrap_or(Value::Null);
    let groups = yaml_serde::to_string(&groups).context("cannot write the rules")?;
    fs::write(folder.path().join("rules.yaml"), groups).context("cannot write the rules")?;
    let tests = rules::folder().join(TESTS);
    fs::copy(&tests, folder.path().join(TESTS))
        .with_context(|| format!("cannot copy {}", tests.display()))?;
    every_alert_is_tested(&tests)?;
    promtool(folder.path(), &["check", "rules", "rules.yaml"])?;
    promtool(folder.path(), &["test", "rules", TESTS])
}

fn promtool(folder: &Path, args: &[&str]) -> Result<()> {
    let output = Command::new(PROGRAM).args(args).current_dir(folder).output();
    let output = output.with_context(|| format!("cannot run {PROGRAM}"))?;
    let said = [output.stdout, output.stderr].concat();
    if !output.status.success() {
        bail!("{PROGRAM} {}:\n{}", args.join(" "), String::from_utf8_lossy(&said));
    }
    Ok(())
}

/// Each alert is seen silent and seen firing.
fn every_alert_is_tested(tests: &Path) -> Result<()> {
    let text = fs::read_to_string(tests).context("cannot read the tests of the alerts")?;
    let tests: Value =
        yaml_serde::from_str(&text).context("the tests of the alerts are no YAML")?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let looks = list(&tests["tests"]).into_iter().flat_map(|test| list(&test["alert_rule_test"]));
    let looks: Vec<(Value, bool)> = looks
        .map(|look| (look["alertname"].clone(), !list(&look["exp_alerts"]).is_empty()))
        .collect();
    for rules::Alert { alert, .. } in rules::alerts()? {
        for fires in [true, false] {
            let seen = looks.iter().any(|(name, fired)| name == alert.as_str() && *fired == fires);
            let word = if fires { "firing" } else { "silent" };
            ensure!(seen, "no test sees {alert} {word}");
        }
    }
    Ok(())
}
