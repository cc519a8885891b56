//! What test programs print: how many tests passed, and the names of those that did not.

use std::collections::BTreeSet;

/// How many lines of a failed test are said again at the end of all, its name among them.
const SAID: usize = 12;

/// How many characters of such a line.
const LINE: usize = 600;

/// What a test program came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Results {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) not_run: usize,
    /// Names that the list at the end calls failed.
    pub(super) failures: Vec<String>,
    /// Beginnings of what failed tests say, each after a line with the test's name.
    pub(super) said: Vec<String>,
    /// Lines of a failed test that may still be kept.
    rest: usize,
    /// Why tests were not run: name and reason.
    pub(super) reasons: Vec<String>,
    /// What tests say that their program counts as passed and that were not run.
    lacking: Vec<String>,
    /// What a program says about tests that it counts as ignored, or leaves out altogether.
    reported: Vec<String>,
    /// Names of tests that the program counts as ignored.
    ignored: BTreeSet<String>,
    in_list: bool,
}

impl Results {
    /// Takes a line in.
    ///
    /// The list of failures follows a line of its own, indented by four; so does, after an empty line,
    /// what the tests printed.
    pub(super) fn read(&mut self, line: &str) {
        if let Some((passed, failed, not_run)) = result_line(line) {
            self.passed += passed;
            self.failed += failed;
            self.not_run += not_run;
        }
        for (prefix, list) in [
            ("not run: ", &mut self.lacking),
            ("ignored: ", &mut self.reported),
            ("skipped: ", &mut self.reasons),
        ] {
            list.extend(line.strip_prefix(prefix).map(|said| said.trim().to_owned()));
        }
        self.ignored.extend(ignored(line).map(str::to_owned));
        self.read_said(line);
        match line.strip_prefix("    ") {
            _ if line == "failures:" => self.in_list = true,
            Some(name) if self.in_list => self.failures.push(name.trim().to_owned()),
            _ => self.in_list = false,
        }
    }

    /// What a failed test says follows a line `---- its name ----`, up to the list of failures.
    fn read_said(&mut self, line: &str) {
        if line.starts_with("---- ") && line.ends_with(" ----") {
            self.rest = SAID;
        } else if line == "failures:" {
            self.rest = 0;
        }
        if self.rest > 0 && !line.is_empty() {
            self.rest -= 1;
            self.said.push(line.chars().take(LINE).collect());
        }
    }

    /// The counts, once the program has ended: what a test says decides whether it was run, even where
    /// its program counts it as passed.
    pub(super) fn counted(mut self) -> Self {
        let is_there =
            |said: &str| said.split_once(": ").is_some_and(|(name, _)| self.ignored.contains(name));
        self.reported.retain(|said| is_there(said));
        self.passed = self.passed.saturating_sub(self.lacking.len());
        self.not_run += self.lacking.len();
        self.reasons =
            [self.reasons, self.lacking.split_off(0), self.reported.split_off(0)].concat();
        self
    }
}

/// The test of a line that calls it ignored.
fn ignored(line: &str) -> Option<&str> {
    let (name, verdict) = line.strip_prefix("test ")?.split_once(" ... ")?;
    verdict.starts_with("ignored").then(|| name.trim())
}

/// Reads the last line of a test program: passed, failed, not run.
fn result_line(line: &str) -> Option<(usize, usize, usize)> {
    let counts = line.strip_prefix("test result:")?;
    let count = |word: &str| {
        let (before, _) = counts.split_once(&format!(" {word}"))?;
        before.rsplit([' ', ';']).next()?.parse().ok()
    };
    Some((count("passed")?, count("failed")?, count("ignored")?))
}

/// Reads the last line of `e2e`: `N passed, N failed, N skipped`.
pub(super) fn summary_line(line: &str) -> Option<[usize; 3]> {
    let mut counts = line.split(", ");
    let mut next = |word: &str| counts.next()?.strip_suffix(word)?.trim_end().parse().ok();
    let found = [next("passed")?, next("failed")?, next("skipped")?];
    counts.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const OUTPUT: &str = "test a::b ... FAILED

failures:

---- a::b ----
    an indented line
waited 90 s

failures:
    a::b
    c

test result: FAILED. 12 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out";

    #[test]
    fn failed_tests_are_named_by_the_list_at_the_end() {
        let mut results = Results::default();
        OUTPUT.lines().for_each(|line| results.read(line));
        assert_eq!(results.failures, ["a::b", "c"]);
        assert_eq!(results.said, ["---- a::b ----", "    an indented line", "waited 90 s"]);
        assert_eq!((results.passed, results.failed, results.not_run), (12, 2, 1));
    }

    const LACKING: &str = "not run: corpus::all: OLM_CORPUS is unset
test corpus::all ... ok
ignored: images::pull: there is no docker-registry
ignored: images::other: it is left out
test images::pull   ... ignored
test units ... ok
test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out";

    #[test]
    fn a_test_that_says_that_it_is_not_run_has_not_passed() {
        let mut results = Results::default();
        LACKING.lines().for_each(|line| results.read(line));
        let results = results.counted();
        assert_eq!((results.passed, results.failed, results.not_run), (1, 0, 2));
        let reasons =
            ["corpus::all: OLM_CORPUS is unset", "images::pull: there is no docker-registry"];
        assert_eq!(results.reasons, reasons);
    }

    #[rstest]
    #[case("test result: ok.", None)]
    #[case("12 passed; 3 failed; 1 ignored", None)]
    #[case("test result: ok. 12 passed; 3 failed; 1 ignored; 0 measured", Some((12, 3, 1)))]
    fn only_the_line_of_a_test_program_counts(
        #[case] line: &str,
        #[case] expected: Option<(usize, usize, usize)>,
    ) {
        assert_eq!(result_line(line), expected);
    }

    #[rstest]
    #[case("3 passed, 1 failed, 12 skipped", Some([3, 1, 12]))]
    #[case("3 passed, 1 failed", None)]
    #[case("3 passed, 1 failed, 12 skipped, and more", None)]
    #[case("passed   12.0 s  smoke::an_operator_that_runs", None)]
    #[case("", None)]
    fn only_the_closing_line_counts(#[case] line: &str, #[case] expected: Option<[usize; 3]>) {
        assert_eq!(summary_line(line), expected);
    }
}
