//! Plays scenarios side by side, those with global catalogs one by one among them, and those that
//! run alone one by one after them; the last are those that a busy machine disturbs.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use futures::{FutureExt, StreamExt, stream};
use tokio::time::timeout;

use super::{Need, Provider, RunsWith, Scenario, TestContext, evidence, healthy};

/// No scenario takes longer: each waits for a few conditions, with a deadline for each.
const LIMIT: Duration = Duration::from_secs(15 * 60);

/// How a scenario went.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The name of the scenario.
    pub name: &'static str,
    /// How long it took.
    pub took: Duration,
    /// What came out.
    pub verdict: ScenarioResult,
}

/// What came out of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScenarioResult {
    /// All that was expected is true.
    Passed,
    /// Something is not.
    Failed {
        /// What was expected, and what is there instead.
        message: String,
        /// The folder with what the cluster held at that moment.
        evidence: Option<PathBuf>,
    },
    /// The cluster lacks something that the scenario needs.
    Skipped {
        /// What it lacks.
        reason: String,
    },
}

/// How scenarios are played.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Scenarios under way at once.
    pub at_once: usize,
    /// The folder for what failures leave behind; none when it is not wanted.
    pub evidence: Option<PathBuf>,
}

/// Plays scenarios and reports each when it is over. The outcomes are in the order of the
/// scenarios. Those that a busy machine disturbs wait for `quiet`, too.
pub async fn play_all(
    provider: &Arc<dyn Provider>,
    scenarios: Vec<Scenario>,
    settings: &Settings,
    quiet: impl Future<Output = ()>,
    report: impl Fn(&Outcome),
) -> Vec<Outcome> {
    let mut groups = [const { Vec::new() }; 5];
    for (number, scenario) in scenarios.into_iter().enumerate() {
        let [others, global, alone, undisturbed, changing] = &mut groups;
        let group = match scenario.beside {
            RunsWith::Others => others,
            RunsWith::OthersWithoutGlobalCatalogs => global,
            RunsWith::None => alone,
            RunsWith::NothingAtAll if scenario.needs.contains(&Need::OlmPods) => changing,
            RunsWith::NothingAtAll => undisturbed,
        };
        group.push(async move {
            (number, outcome(provider, scenario, settings.evidence.as_deref()).await)
        });
    }
    let [others, global, alone, undisturbed, changing] = groups.map(stream::iter);
    let others = others.buffer_unordered(settings.at_once.max(1));
    let beside = stream::select(global.buffer_unordered(1), others);
    // Those that change how the operators run are played one at a time, beside one that does not: all of them rest
    // most of the time.
    let undisturbed = stream::select(changing.buffer_unordered(1), undisturbed.buffer_unordered(1));
    let undisturbed = quiet.map(|()| undisturbed).flatten_stream();
    let mut runs = pin!(beside.chain(alone.buffer_unordered(1)).chain(undisturbed));
    let mut outcomes = Vec::new();
    while let Some(run) = runs.next().await {
        report(&run.1);
        outcomes.push(run);
    }
    outcomes.sort_by_key(|(number, _)| *number);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Plays a scenario in a namespace of its own. It ends at rest, and leaves nothing that others pay for.
///
/// # Errors
///
/// What was expected and is not true. Where `evidence` names a folder, what the cluster held at
/// that moment is there.
pub async fn play(
    provider: &Arc<dyn Provider>,
    scenario: &Scenario,
    evidence: Option<&Path>,
) -> Result<()> {
    let ctx = TestContext::new(Arc::clone(provider), scenario.name).await?;
    let result = timeout(LIMIT, scenario.play(Arc::clone(&ctx))).await;
    let result = result.unwrap_or_else(|_| Err(anyhow!("it is not over after {LIMIT:?}")));
    // A dead operator explains a failure better than what was waited for.
    let result = match result {
        Err(error) => Err(provider.check().err().unwrap_or(error)),
        Ok(()) => provider.check().and(ctx.until_idle().await),
    };
    let result = match result {
        Ok(()) if ctx.facts().audit_log.is_some() => healthy::check(&ctx, scenario.name).await,
        result => result,
    };
    if let (Err(_), Some(folder)) = (&result, evidence) {
        evidence::collect(&ctx, &**provider, folder).await;
    }
    match provider.facts().stays {
        true => result.and(ctx.remove().await),
        false => {
            result?;
            ctx.leave().await
        }
    }
}

async fn outcome(
    provider: &Arc<dyn Provider>,
    scenario: Scenario,
    evidence: Option<&Path>,
) -> Outcome {
    let (name, begun) = (scenario.name, Instant::now());
    let lacking = scenario.needs.iter().find_map(|need| provider.facts().lacks(*need));
    let verdict = match lacking {
        Some(reason) => ScenarioResult::Skipped { reason },
        None => {
            let folder = evidence.map(|root| root.join(name.replace("::", "-")));
            verdict(provider, scenario, folder).await
        }
    };
    Outcome { name, took: begun.elapsed(), verdict }
}

async fn verdict(
    provider: &Arc<dyn Provider>,
    scenario: Scenario,
    folder: Option<PathBuf>,
) -> ScenarioResult {
    let (provider, kept) = (Arc::clone(provider), folder.clone());
    // In a task of its own, so that a panic is the failure of this scenario alone.
    let task = tokio::spawn(async move { play(&provider, &scenario, kept.as_deref()).await });
    let message = match task.await {
        Ok(Ok(())) => return ScenarioResult::Passed,
        Ok(Err(error)) => format!("{error:#}"),
        Err(error) => format!("the scenario itself is broken: {error}"),
    };
    ScenarioResult::Failed { message, evidence: folder.filter(|folder| folder.is_dir()) }
}
