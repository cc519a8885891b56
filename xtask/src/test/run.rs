//! A run of stages: what they came to, and how long each took.

use std::fs;
use std::time::{Duration, Instant, UNIX_EPOCH};

use anyhow::{Context, Result};
use serde_json::json;

use super::summary::Summary;
use crate::progress::Progress;
use crate::workspace::target;
use olm_tools::times;

/// Where the times are, below the target folder.
const TIMES: &str = "ci-times.json";

/// When whoever started this began, in seconds since 1970: what came before belongs to the run.
const BEGAN: &str = "OLM_RUN_BEGAN";

/// Stages under way, or over.
pub(super) struct Run {
    pub(super) summary: Summary,
    pub(super) progress: Progress,
    begun: Instant,
    before: Option<Duration>,
    times: Vec<(&'static str, Duration)>,
}

impl Run {
    /// Nothing has run yet.
    pub(super) fn new() -> Self {
        let (summary, progress) = (Summary::default(), Progress::new());
        let (before, mut times) = (before(), Vec::new());
        times.extend(before.map(|before| ("this program, and what it needs", before)));
        Self { summary, progress, begun: Instant::now(), before, times }
    }

    /// Runs a stage.
    pub(super) fn stage<T>(&mut self, name: &'static str, stage: impl FnOnce(&mut Self) -> T) -> T {
        println!("\n== {name}");
        let (begun, task) = (Instant::now(), self.progress.begin(name));
        let came_to = stage(self);
        let took = begun.elapsed();
        drop(task);
        times::remember(name, took);
        self.times.push((name, took));
        came_to
    }

    /// Runs a stage that is one check.
    pub(super) fn check(
        &mut self,
        name: &'static str,
        check: impl FnOnce(&Progress) -> Result<()>,
    ) {
        self.stage(name, |run| {
            let result = check(&run.progress);
            run.summary.check(name, result);
        });
    }

    /// Prints and writes the times, prints the sum, and fails when something did.
    pub(super) fn finish(self) -> Result<()> {
        let total = self.begun.elapsed() + self.before.unwrap_or_default();
        println!("\n{}", table(&self.times, total));
        let stages =
            self.times.iter().map(|(name, took)| json!({"stage": name, "seconds": seconds(*took)}));
        let stages: Vec<_> = stages.collect();
        let document = json!({"stages": stages, "seconds": seconds(total)});
        let file = target().join(TIMES);
        fs::write(&file, format!("{document:#}\n")).context("cannot write the table of times")?;
        self.summary.finish()
    }
}

/// How long ago whoever started this began.
fn before() -> Option<Duration> {
    let began = std::env::var(BEGAN).ok()?.parse().ok()?;
    (UNIX_EPOCH + Duration::from_secs(began)).elapsed().ok()
}

/// The stages with their seconds.
fn table(times: &[(&str, Duration)], total: Duration) -> String {
    let row = |name: &str, took: Duration| format!("{:>7.1} s  {name}\n", took.as_secs_f64());
    let rows: String = times.iter().map(|(name, took)| row(name, *took)).collect();
    format!("{rows}{}", row("all", total))
}

/// Seconds with one digit behind the point.
fn seconds(took: Duration) -> f64 {
    (took.as_secs_f64() * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_line_for_each_stage_and_their_sum() {
        let times = [("tidy", Duration::from_millis(1_240)), ("build", Duration::from_secs(100))];
        let expected = "    1.2 s  tidy\n  100.0 s  build\n  102.0 s  all\n";
        assert_eq!(table(&times, Duration::from_secs(102)), expected);
    }
}
