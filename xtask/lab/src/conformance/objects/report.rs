//! What a reader sees.

use std::collections::BTreeMap;

use anyhow::Result;
use olm_testkit::dump::Difference;
use serde_json::Value;

use super::accepted::IntendedDifference;
use super::compare::{DifferenceKind, Finding, StepFindings};
use super::play::{Outcome, Played};
use super::recording::Recording;

/// The longest value that is shown, in characters.
const LONGEST_VALUE: usize = 240;

/// What is shown of two long texts before the place where they part.
const CONTEXT: usize = 60;

/// How a scenario went; the error says why it could not be played.
#[derive(Debug)]
pub(super) struct RecordingResult {
    played: Result<Vec<Played>>,
}

impl RecordingResult {
    /// The verdict on what was played.
    pub(super) fn of(played: Result<Vec<Played>>) -> Self {
        Self { played }
    }

    /// Whether nothing differs but what is accepted.
    pub(super) fn passed(&self) -> bool {
        self.played.as_ref().is_ok_and(|steps| {
            steps.iter().all(|step| match &step.outcome {
                Outcome::Compared(judged) => judged.failures.is_empty(),
                Outcome::Restless(_) | Outcome::Unknown => false,
            })
        })
    }

    /// How many differences are accepted, by reason.
    fn accepted(&self) -> BTreeMap<IntendedDifference, usize> {
        let mut all = BTreeMap::new();
        for step in self.played.iter().flatten() {
            for (reason, count) in step.judged().into_iter().flat_map(|judged| &judged.accepted) {
                *all.entry(*reason).or_default() += count;
            }
        }
        all
    }
}

impl Played {
    fn judged(&self) -> Option<&StepFindings> {
        match &self.outcome {
            Outcome::Compared(judged) | Outcome::Restless(judged) => Some(judged),
            Outcome::Unknown => None,
        }
    }
}

/// Prints what a scenario is called.
pub(super) fn name(recording: &Recording) {
    println!("\n{} ({})", recording.title, recording.file);
}

/// Prints what differs in a scenario.
pub(super) fn verdict(verdict: &RecordingResult) {
    match &verdict.played {
        Ok(steps) => steps.iter().for_each(step),
        Err(error) => println!("  could not be played: {error:#}"),
    }
    accepted("  ", &verdict.accepted());
    println!("  {}", if verdict.passed() { "passed" } else { "FAILED" });
}

/// Prints what is accepted, and how many scenarios went how.
pub(super) fn summary_line(verdicts: &[RecordingResult]) {
    let mut all: BTreeMap<IntendedDifference, usize> = BTreeMap::new();
    for (reason, count) in verdicts.iter().flat_map(RecordingResult::accepted) {
        *all.entry(reason).or_default() += count;
    }
    println!("\nAccepted differences of all scenarios:");
    accepted("  ", &all);
    let passed = verdicts.iter().filter(|verdict| verdict.passed()).count();
    let differences: usize = all.values().sum();
    println!(
        "\n{passed} passed, {} failed ({differences} differences on purpose)",
        verdicts.len() - passed
    );
}

fn accepted(indent: &str, all: &BTreeMap<IntendedDifference, usize>) {
    all.iter().for_each(|(reason, count)| println!("{indent}{count:>4}  {reason}"));
}

fn step(played: &Played) {
    println!("  after: {}", played.after);
    match &played.outcome {
        Outcome::Unknown => println!("    not played: no action is known that leads here"),
        Outcome::Restless(_) => println!("    objects were still changing when the time was over"),
        Outcome::Compared(_) => {}
    }
    let failures = played.judged().map_or(&[][..], |judged| &judged.failures);
    for kind in failures.chunk_by(|one, next| one.key.kind == next.key.kind) {
        kind.iter().take(1).for_each(|finding| println!("    {}", finding.key.kind));
        kind.chunk_by(|one, next| one.key == next.key).for_each(object);
    }
}

/// What differs in one object; the same difference in several elements of a list once.
fn object(findings: &[Finding]) {
    findings.iter().take(1).for_each(|finding| println!("      {}", finding.key.full_name()));
    let mut shown: Vec<(&Finding, usize)> = Vec::new();
    for finding in findings {
        match shown.iter_mut().find(|(first, _)| first.what.is_like(&finding.what)) {
            Some((_, count)) => *count += 1,
            None => shown.push((finding, 1)),
        }
    }
    shown.into_iter().for_each(|(finding, count)| self::finding(finding, count));
}

fn finding(finding: &Finding, count: usize) {
    match &finding.what {
        DifferenceKind::Missing => println!("        missing: only v0 has it"),
        DifferenceKind::Extra => println!("        extra: v0 has no such object"),
        DifferenceKind::Left => println!("        left: v0 removed it"),
        DifferenceKind::Field(difference) => field(difference, count),
    }
}

fn field(difference: &Difference, count: usize) {
    let (v0, ours) = shown(&difference.expected, &difference.found);
    match count {
        1 => println!("        {}", difference.path),
        _ => println!("        {} (and {} like it)", difference.path, count - 1),
    }
    println!("          v0    {v0}");
    println!("          ours  {ours}");
}

/// Both values on one line each; long ones from shortly before the place where they part.
fn shown(v0: &Option<Value>, ours: &Option<Value>) -> (String, String) {
    let text = |value: &Option<Value>| match value {
        Some(value) => value.to_string(),
        None => "-".to_owned(),
    };
    let (v0, ours) = (text(v0), text(ours));
    let common = v0.chars().zip(ours.chars()).take_while(|(left, right)| left == right).count();
    let longest = v0.chars().count().max(ours.chars().count());
    let start = if longest > LONGEST_VALUE { common.saturating_sub(CONTEXT) } else { 0 };
    (window(&v0, start), window(&ours, start))
}

fn window(text: &str, start: usize) -> String {
    let part: String = text.chars().skip(start).take(LONGEST_VALUE).collect();
    let before = if start > 0 { "…" } else { "" };
    let after = if text.chars().count() > start + LONGEST_VALUE { "…" } else { "" };
    format!("{before}{part}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_shown_where_they_part() {
        let long = |end: &str| Some(Value::from(format!("{}{end}", "x".repeat(500))));
        let (v0, ours) = shown(&long("a"), &long("b"));
        assert_eq!(v0, format!("…{}a\"", "x".repeat(CONTEXT)));
        assert_eq!(ours, format!("…{}b\"", "x".repeat(CONTEXT)));
        let (v0, ours) = shown(&Some(true.into()), &None);
        assert_eq!((v0.as_str(), ours.as_str()), ("true", "-"));
    }
}
