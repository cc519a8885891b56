//! What a run leaves for people and for machines: `junit.xml`, `report.json` and a summary line.

mod json;
mod junit;

use std::fmt;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use super::figures::Figures;
use super::{Outcome, ScenarioResult};

/// A run that is over.
#[derive(Debug)]
pub struct Report {
    /// What played the cluster, `local` for example.
    pub cluster: String,
    /// The version of the API server.
    pub kubernetes: String,
    /// How each scenario went.
    pub outcomes: Vec<Outcome>,
    /// What was measured.
    pub figures: Figures,
    /// From the start of the cluster to the end of the last scenario.
    pub took: Duration,
}

/// How many scenarios went how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All that was expected is true.
    pub passed: usize,
    /// Something is not.
    pub failed: usize,
    /// The cluster lacks what they need.
    pub skipped: usize,
}

impl Report {
    /// Writes both files into a folder.
    pub fn write(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        let files = [("junit.xml", junit::render(self)), ("report.json", json::render(self))];
        for (name, content) in files {
            let path = folder.join(name);
            fs::write(&path, content)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }

    /// Counts the outcomes.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for outcome in &self.outcomes {
            match outcome.verdict {
                ScenarioResult::Passed => tally.passed += 1,
                ScenarioResult::Failed { .. } => tally.failed += 1,
                ScenarioResult::Skipped { .. } => tally.skipped += 1,
            }
        }
        tally
    }

    /// The summary line, and each skipped scenario with its reason.
    pub fn summary_line(&self) -> String {
        let skipped = self.outcomes.iter().filter_map(|outcome| match &outcome.verdict {
            ScenarioResult::Skipped { reason } => {
                Some(format!("\nskipped: {}: {reason}", outcome.name))
            }
            ScenarioResult::Passed | ScenarioResult::Failed { .. } => None,
        });
        [self.tally().to_string()].into_iter().chain(skipped).collect()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, failed, skipped } = self;
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}

#[cfg(test)]
mod tests;
