//! What is printed.

use std::fmt;
use std::time::Duration;

use olm_types::api::CsvPhase;

/// What came of a package.
#[derive(Debug)]
pub(super) struct Line {
    pub package: String,
    /// How many versions the catalog has.
    pub versions: usize,
    /// How many of them succeeded.
    pub succeeded: usize,
    /// How many of these by an upgrade.
    pub upgraded: usize,
    pub problems: Vec<Problem>,
    /// Objects that stayed after the package was removed.
    pub left: Vec<String>,
    pub took: Duration,
}

/// A version that did not succeed.
#[derive(Debug)]
pub(super) struct Problem {
    pub version: String,
    pub phase: CsvPhase,
    /// Object, field and what it says.
    pub said: String,
    /// What the catalog lacks for it.
    pub missing: Option<String>,
}

impl Line {
    /// Whether everything that is possible here succeeded and went away again.
    pub(super) fn is_good(&self) -> bool {
        self.left.is_empty() && self.problems.iter().all(|problem| problem.missing.is_some())
    }

    fn verdict(&self) -> &'static str {
        match (self.is_good(), self.problems.is_empty()) {
            (true, true) => "Succeeded",
            (true, false) => "not possible here",
            (false, _) => "FAILED",
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { package, versions, succeeded, upgraded, took, .. } = self;
        let (verdict, seconds) = (self.verdict(), took.as_secs_f64());
        write!(f, "{package:<28} {versions:>8} {succeeded:>9} {upgraded:>8} {seconds:>7.1}  ")?;
        write!(f, "{verdict}")?;
        for problem in &self.problems {
            let Problem { version, phase, said, missing } = problem;
            write!(f, "\n  {version} stays in phase \"{phase}\": {said}")?;
            if let Some(missing) = missing {
                write!(f, "\n    not possible here: bundle {version}, {missing}")?;
            }
        }
        match self.left.as_slice() {
            [] => Ok(()),
            left => {
                write!(f, "\n  left behind:")?;
                left.iter().try_for_each(|one| write!(f, "\n    {one}"))
            }
        }
    }
}

/// The closing table.
pub(super) fn table(lines: &[Line]) -> String {
    let mut text = format!(
        "\n{:<28} {:>8} {:>9} {:>8} {:>7}  phase reached, reason\n",
        "package", "versions", "succeeded", "upgraded", "seconds"
    );
    for line in lines {
        text.push_str(&format!("{line}\n"));
    }
    let passed = lines.iter().filter(|line| line.is_good()).count();
    text.push_str(&format!("{passed} passed, {} failed\n", lines.len() - passed));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(problems: Vec<Problem>, left: &[&str]) -> Line {
        Line {
            package: "p".to_owned(),
            versions: 2,
            succeeded: 2 - problems.len(),
            upgraded: 0,
            problems,
            left: left.iter().map(|one| (*one).to_owned()).collect(),
            took: Duration::from_secs(3),
        }
    }

    fn problem(missing: Option<&str>) -> Problem {
        Problem {
            version: "p.v1".to_owned(),
            phase: CsvPhase::Pending,
            said: "ClusterServiceVersion p.v1, status.reason RequirementsNotMet: a".to_owned(),
            missing: missing.map(str::to_owned),
        }
    }

    #[test]
    fn only_what_the_catalog_lacks_excuses_a_version() {
        let excused = line(vec![problem(Some("property olm.gvk.required: nothing"))], &[]);
        let lines = [line(Vec::new(), &[]), excused, line(vec![problem(None)], &[])];
        assert_eq!(lines.each_ref().map(Line::is_good), [true, true, false]);
        assert!(table(&lines).ends_with("2 passed, 1 failed\n"));
        let left = line(Vec::new(), &["Role ns/r: should not exist"]);
        assert!(!left.is_good() && left.to_string().contains("left behind"));
    }
}
