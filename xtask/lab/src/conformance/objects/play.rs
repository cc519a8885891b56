//! A scenario, played with our operators.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use olm_testkit::dump::{Dump, Normaliser};
use olm_testkit::fixture::{Fixture, FixturePaths};
use olm_testkit::progress::Progress;
use tokio::time::Instant;

use super::compare::{Known, ObservedStep, StepFindings, judge};
use super::normalise::normalise;
use super::recording::{Recording, Step};
use super::{actions, snapshot};

/// Rest after which objects are compared: watches, queues and the simulated node answer sooner.
const QUIET: Duration = Duration::from_secs(3);

/// Rest after which nothing more is expected, when something differs: back-off may have grown.
const LONG_QUIET: Duration = Duration::from_secs(10);

/// The name of the catalog in the recordings.
const CATALOG: &str = "community";

/// What a step may take at most, far more than any needs on an idle machine.
const TIMEOUT: Duration = Duration::from_secs(120);

/// What all scenarios share.
#[derive(Debug)]
pub(super) struct Setting<'a> {
    /// The folder with the binaries.
    pub binaries: &'a Path,
    /// Where the catalog is served.
    pub catalog: &'a str,
    /// Where objects and logs are kept.
    pub save: Option<&'a Path>,
    /// The only kind that is compared.
    pub kind: Option<&'a str>,
}

/// How a step went.
#[derive(Debug)]
pub(super) struct Played {
    /// The event in words.
    pub after: String,
    pub outcome: Outcome,
}

/// What became of a step.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Objects came to rest and were compared.
    Compared(StepFindings),
    /// Objects were still changing when the time was over; they were compared as they were.
    Restless(StepFindings),
    /// It is not written down what leads to the step, so this and the next ones were not played.
    Unknown,
}

/// Plays a scenario on a cluster of its own.
pub(super) async fn play(recording: &Recording, setting: &Setting<'_>) -> Result<Vec<Played>> {
    let folder = setting.save.map(|save| save.join(&recording.file));
    if let Some(folder) = &folder {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let silent = Progress::new(|_| {});
    let places = FixturePaths::of(setting.binaries, folder.as_deref());
    let fixture = Fixture::start("objects", &places, silent).await?;
    fixture.start_operators().await?;
    fixture.add_catalog(CATALOG, setting.catalog).await?;
    let mut replay = Replay { fixture: &fixture, normaliser: Normaliser::default(), setting };
    let played = replay.play(recording, folder.as_deref()).await;
    // A dead operator explains a failure better than what it leads to.
    let played = fixture.check().and(played);
    fixture.end().await?;
    played
}

struct Replay<'a> {
    fixture: &'a Fixture,
    normaliser: Normaliser,
    setting: &'a Setting<'a>,
}

impl Replay<'_> {
    async fn play(&mut self, recording: &Recording, save: Option<&Path>) -> Result<Vec<Played>> {
        let deadline = Instant::now() + TIMEOUT;
        snapshot::until_idle(&self.fixture.client, QUIET, deadline).await?;
        let mut before = self.state().await?;
        let (mut known, mut played) = (Known::new(), Vec::new());
        for (number, step) in recording.steps.iter().enumerate() {
            let after = step.after.clone();
            let Some(action) = actions::action(&recording.file, number, &after) else {
                played.push(Played { after, outcome: Outcome::Unknown });
                break;
            };
            actions::perform(action, &self.fixture.client, recording, &self.normaliser).await?;
            let (state, outcome) = self.compare(step, &known, &before).await?;
            if let Some(folder) = save {
                write(&folder.join(format!("step-{}.json", number + 1)), &state)?;
            }
            played.push(Played { after, outcome });
            known.extend(step.touched.clone());
            before = state;
        }
        Ok(played)
    }

    /// Compares when all is at rest. Differences get more time to go away by themselves.
    async fn compare(
        &mut self,
        step: &Step,
        known: &Known,
        before: &Dump,
    ) -> Result<(Dump, Outcome)> {
        let deadline = Instant::now() + TIMEOUT;
        let mut rests = [QUIET, LONG_QUIET].into_iter().peekable();
        loop {
            let quiet = rests.next().unwrap_or(LONG_QUIET);
            let rested = snapshot::until_idle(&self.fixture.client, quiet, deadline).await?;
            let after = self.state().await?;
            let judged =
                judge(step, known, &ObservedStep { before, after: &after }, self.setting.kind);
            if !rested {
                return Ok((after, Outcome::Restless(judged)));
            }
            if judged.failures.is_empty() || rests.peek().is_none() {
                return Ok((after, Outcome::Compared(judged)));
            }
        }
    }

    async fn state(&mut self) -> Result<Dump> {
        self.fixture.check()?;
        Ok(normalise(&mut self.normaliser, snapshot::objects(&self.fixture.client).await?))
    }
}

/// Writes the objects of a step in the form of the recordings.
fn write(path: &Path, state: &Dump) -> Result<()> {
    let objects: Vec<_> = state.values().collect();
    let text = serde_json::to_string_pretty(&objects).context("objects cannot be written")?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
