//! Runs the resolver, and tells what it found.

use std::sync::Arc;
use std::time::Instant;

use olm_catalog::snapshot::SnapshotSet;
use olm_kit::metrics::SummaryVec;
use olm_lifecycle::subscription::resolution::{Choice, Failure, Namespace};
use olm_resolver::{Chosen, Resolution, ResolutionRequest, ResolveError, Resolver};
use olm_types::api::ClusterServiceVersion;

use super::facts;

/// Everything that a resolution depends on, owned.
pub(super) struct Question {
    pub(super) namespace: Namespace,
    pub(super) csvs: Vec<Arc<ClusterServiceVersion>>,
    pub(super) universe: SnapshotSet,
    pub(super) fail_forward: bool,
}

/// Resolves on a thread of its own: a large problem must not hold up other work.
pub(super) async fn solve(
    question: Question,
    durations: &SummaryVec,
) -> Result<Vec<Choice>, Failure> {
    let start = Instant::now();
    let namespace = question.namespace.name.clone();
    let answer = tokio::task::spawn_blocking(move || answer(&question)).await;
    let answer =
        answer.map_err(|error| Failure::Prevented(format!("resolution was aborted: {error}")))?;
    let outcome = if answer.is_ok() { "succeeded" } else { "failed" };
    durations.observe(&[outcome], start.elapsed().as_secs_f64());
    match answer {
        Ok(resolution) => {
            resolution.chosen.iter().for_each(|chosen| tell(&namespace, chosen));
            Ok(resolution.chosen.iter().map(choice).collect())
        }
        Err(error @ ResolveError::NotSatisfiable(_)) => {
            Err(Failure::NotSatisfiable(error.to_string()))
        }
        Err(error) => Err(Failure::Prevented(error.to_string())),
    }
}

fn answer(question: &Question) -> Result<Resolution, ResolveError> {
    let subscriptions = question.namespace.subscriptions.iter();
    let request = ResolutionRequest {
        subscriptions: subscriptions
            .map(|subscription| facts::subscription(subscription))
            .collect(),
        installed: question.csvs.iter().map(|csv| facts::installed(csv)).collect(),
        fail_forward: question.fail_forward,
        ..ResolutionRequest::new(&question.namespace.name, &question.universe)
    };
    Resolver::default().resolve(&request)
}

fn choice(chosen: &Chosen) -> Choice {
    Choice {
        entry: Arc::clone(&chosen.entry),
        replaces: chosen.replaces.as_deref().map(str::to_owned),
    }
}

/// One line per chosen bundle: what, from where, instead of what, and why.
fn tell(namespace: &str, chosen: &Chosen) {
    let entry = &chosen.entry;
    let why: Vec<_> = chosen.wanted_by.iter().map(ToString::to_string).collect();
    tracing::info!(
        namespace,
        bundle = %entry.name,
        package = %entry.package,
        channel = %entry.channel,
        catalog = %entry.catalog,
        replaces = chosen.replaces.as_deref().unwrap_or_default(),
        wanted_by = why.join("; "),
        "resolved"
    );
}
