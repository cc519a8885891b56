//! What the suite reports, spec by spec, and what is made of it.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use super::expected::{DIFFERENCES, NOT_RUN, find};

/// Why a spec is not run that the suite itself leaves out.
const PENDING: &str = "the suite leaves it out";

/// The longest message of a failure that is shown, in lines.
const LINES: usize = 12;

/// How the specs went.
#[derive(Debug, Default)]
pub(super) struct Report {
    passed: usize,
    failed: Vec<Failed>,
    /// Failures that a list expects, by the subject of the row about them.
    differ: BTreeMap<&'static str, usize>,
    /// Specs that pass although the list expects a failure.
    out_of_date: Vec<String>,
    /// By reason.
    not_run: BTreeMap<String, usize>,
}

#[derive(Debug)]
struct Failed {
    spec: String,
    message: String,
}

/// Ginkgo's report of a suite, as far as it is read.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GinkgoReport {
    spec_reports: Option<Vec<SpecReport>>,
    special_suite_failure_reasons: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct SpecReport {
    container_hierarchy_texts: Option<Vec<String>>,
    leaf_node_type: String,
    #[serde(default)]
    leaf_node_text: String,
    state: String,
    failure: Option<Failure>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Failure {
    #[serde(default)]
    message: String,
}

impl Report {
    /// Reads what the suite has written.
    ///
    /// # Errors
    ///
    /// It cannot be read, or what has to happen before the specs has failed.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).context("cannot read the suite's report")?;
        let suites: Vec<GinkgoReport> =
            serde_json::from_str(&text).context("the suite's report is of another form")?;
        let mut report = Self::default();
        for suite in suites {
            for spec in suite.spec_reports.into_iter().flatten() {
                report.add(&spec)?;
            }
            let reasons = suite.special_suite_failure_reasons.unwrap_or_default();
            ensure!(
                reasons.is_empty(),
                "the suite was not played to its end: {}",
                reasons.join(", ")
            );
        }
        Ok(report)
    }

    /// Whether nothing failed but what the list expects, and all of that did.
    pub(super) fn is_good(&self) -> bool {
        self.failed.is_empty() && self.out_of_date.is_empty() && self.passed > 0
    }

    fn add(&mut self, spec: &SpecReport) -> Result<()> {
        let (name, message) = (spec.name(), spec.message());
        match (spec.leaf_node_type.as_str(), spec.state.as_str()) {
            ("It", "passed") if find(&DIFFERENCES, &name).is_some() => self.out_of_date.push(name),
            ("It", "passed") => self.passed += 1,
            ("It", "pending") => *self.not_run.entry(PENDING.to_owned()).or_default() += 1,
            ("It", "skipped") => self.skipped(&name, message),
            ("It", _) => self.failed(name, message),
            (_, "passed" | "skipped") => {}
            (kind, state) => bail!("{kind} of the suite {state}: {message}"),
        }
        Ok(())
    }

    /// A spec that is not in focus was not asked for.
    fn skipped(&mut self, name: &str, message: &str) {
        let listed = find(&NOT_RUN, name).map(str::to_owned);
        let itself = (!message.is_empty()).then(|| format!("it leaves itself out: {message}"));
        if let Some(reason) = listed.or(itself) {
            *self.not_run.entry(reason).or_default() += 1;
        }
    }

    fn failed(&mut self, spec: String, message: &str) {
        match find(&DIFFERENCES, &spec) {
            Some(row) => *self.differ.entry(row).or_default() += 1,
            None => self.failed.push(Failed { spec, message: message.to_owned() }),
        }
    }
}

impl SpecReport {
    /// With the names of what contains it, as the suite prints it.
    fn name(&self) -> String {
        let containers = self.container_hierarchy_texts.iter().flatten().map(String::as_str);
        let texts: Vec<&str> = containers.chain([self.leaf_node_text.as_str()]).collect();
        texts.join(" ")
    }

    fn message(&self) -> &str {
        self.failure.as_ref().map_or("", |failure| failure.message.as_str())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Failed { spec, message } in &self.failed {
            writeln!(f, "FAILED   {spec}")?;
            message.lines().take(LINES).try_for_each(|line| writeln!(f, "    {line}"))?;
        }
        for spec in &self.out_of_date {
            writeln!(f, "listed as a difference, and passes: {spec}")?;
        }
        for (row, count) in &self.differ {
            writeln!(f, "{count} differ as docs/differences.md says: {row}")?;
        }
        for (reason, count) in &self.not_run {
            writeln!(f, "{count} not run: {reason}")?;
        }
        let not_run: usize = self.not_run.values().sum();
        let differ: usize = self.differ.values().sum();
        let (passed, failed) = (self.passed, self.failed.len());
        write!(f, "{passed} passed, {failed} failed, {differ} differ, {not_run} not run")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn spec(name: &str, state: &str, message: &str) -> Value {
        json!({
            "ContainerHierarchyTexts": ["Install Plan"], "LeafNodeType": "It",
            "LeafNodeText": name, "State": state, "Failure": {"Message": message},
        })
    }

    fn report(specs: &[Value]) -> Result<Report> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        let suite = json!([{"SpecReports": specs, "SpecialSuiteFailureReasons": null}]);
        fs::write(&path, suite.to_string()).unwrap();
        Report::read(&path)
    }

    #[test]
    fn specs_are_counted_by_what_became_of_them() {
        let (difference, row) = DIFFERENCES[0];
        let (left_out, reason) = NOT_RUN[0];
        let read = report(&[
            spec("a", "passed", ""),
            spec("b", "failed", "Timed out\nExpected"),
            spec(difference, "failed", "Timed out"),
            spec(left_out, "skipped", ""),
            spec("c", "skipped", "in KIND"),
            spec("d", "skipped", ""),
            spec("e", "pending", ""),
        ]);
        let read = read.unwrap();
        assert!(!read.is_good());
        let expected = format!(
            "FAILED   Install Plan b\n    Timed out\n    Expected\n1 differ as docs/differences.md \
             says: {row}\n1 not run: it leaves itself out: in KIND\n1 not run: {PENDING}\n1 not run: \
             {reason}\n1 passed, 1 failed, 1 differ, 3 not run"
        );
        assert_eq!(read.to_string(), expected);
    }

    #[test]
    fn a_difference_that_is_none_any_more_is_said() {
        let (difference, _) = DIFFERENCES[0];
        let passes = report(&[spec("a", "passed", ""), spec(difference, "passed", "")]).unwrap();
        assert!(!passes.is_good());
        assert!(passes.to_string().contains(&format!("and passes: Install Plan {difference}\n")));
        assert!(report(&[spec("a", "passed", "")]).unwrap().is_good());
    }

    #[test]
    fn a_suite_that_does_not_begin_is_an_error() {
        let before = json!({
            "LeafNodeType": "BeforeSuite", "State": "failed",
            "Failure": {"Message": "no catalog"},
        });
        let error = report(&[before]).unwrap_err().to_string();
        assert_eq!(error, "BeforeSuite of the suite failed: no catalog");
    }
}
