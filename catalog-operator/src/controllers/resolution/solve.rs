//! Runs the resolver, and reports what it found.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use kube::Client;
use olm_catalog::snapshot::SnapshotSet;
use olm_kit::discovery;
use olm_kit::tasks::blocking;
use olm_lifecycle::subscription::holding;
use olm_lifecycle::subscription::resolution::{
    Choice, Failure, KeptBack, Namespace, Orphans, Unusable,
};
use olm_resolver::{
    Chosen, InstalledCsv, Policy, Refusal, ResolutionOutcome, ResolutionRequest, ResolveError,
    Resolver, SubscriptionFacts,
};
use olm_types::api::ClusterServiceVersion;
use olm_types::version::Version;
use tokio::sync::Semaphore;

use super::messages;
use super::outcome::Outcome;
use crate::metrics::ResolutionTimes;

/// How namespaces are resolved.
#[derive(Clone)]
pub struct Rules {
    /// What a failure stops.
    pub policy: Policy,
    /// Where the version of the cluster is asked for, if bundles are checked against it.
    pub cluster: Option<Client>,
    /// Shared by all namespaces, as it remembers what it has read in catalogs.
    pub resolver: Arc<Resolver>,
}

impl Rules {
    /// The rules for a namespace some of whose catalogs cannot be used: where these block, nothing
    /// is resolved without them, which is what v0's policy says.
    pub(super) fn given(&self, block: bool, unusable: &Unusable) -> Self {
        let policy = if block && !unusable.is_empty() { Policy::V0 } else { self.policy };
        Self { policy, ..self.clone() }
    }
}

/// Everything that a resolution depends on, owned.
pub(super) struct ResolutionInputs {
    pub(super) namespace: Namespace,
    pub(super) csvs: Vec<Arc<ClusterServiceVersion>>,
    pub(super) universe: SnapshotSet,
    pub(super) fail_forward: bool,
}

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Solved {
    pub(super) choices: Vec<Choice>,
    pub(super) refused: Vec<Refused>,
    /// What CSVs lack that no Subscription refers to, where that concerns no Subscription.
    pub(super) orphans: Orphans,
    /// Why upgrades are blocked or held back, by Subscription.
    pub(super) kept_back: KeptBack,
    /// What was chosen, for the log.
    pub(super) outcome: Outcome,
}

/// Subscriptions that get nothing, for one reason.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) subscriptions: BTreeSet<String>,
    pub(super) failure: Failure,
}

/// Problems that are solved at the same time: each takes a processor, and memory.
static SOLVING: Semaphore = Semaphore::const_new(4);

/// Resolves on a thread of its own: a large problem must not hold up other work.
pub(super) async fn solve(
    question: ResolutionInputs,
    rules: &Rules,
    times: &ResolutionTimes,
) -> Solved {
    let start = Instant::now();
    let namespace = question.namespace.name.clone();
    let (policy, resolver) = (rules.policy, rules.resolver.clone());
    let all = question.namespace.names();
    let version = cluster_version(rules.cluster.as_ref()).await;
    let permit = SOLVING.acquire().await;
    let answer = move || resolver.outcome(&request(&question, version), policy);
    let answer = blocking(answer).await;
    drop(permit);
    let solved = match answer {
        Ok(answer) => solved(&namespace, &answer),
        Err(error) => {
            let failure = Failure::Prevented(format!("resolution was aborted: {error}"));
            let refused = vec![Refused { subscriptions: all, failure }];
            Solved { refused, ..Solved::default() }
        }
    };
    times.observe(start.elapsed(), solved.refused.is_empty());
    solved
}

fn request(question: &ResolutionInputs, cluster_version: Option<Version>) -> ResolutionRequest<'_> {
    let subscriptions = question.namespace.subscriptions.iter();
    let held = question.namespace.held.iter();
    ResolutionRequest {
        subscriptions: subscriptions.map(|one| SubscriptionFacts::from(&**one)).collect(),
        held: held.filter_map(|one| Some(SubscriptionFacts::held(one, holding(one)?))).collect(),
        installed: question.csvs.iter().map(|csv| InstalledCsv::from(&**csv)).collect(),
        fail_forward: question.fail_forward,
        cluster_version,
        ..ResolutionRequest::new(&question.namespace.name, &question.universe)
    }
}

/// The version of the cluster, without what follows a `-`; nothing if no rule needs it, or if
/// it cannot be read: then nothing is refused because of it.
async fn cluster_version(client: Option<&Client>) -> Option<Version> {
    match discovery::server_version(client?).await {
        Ok(text) => Version::parse_tolerant(text.split('-').next().unwrap_or_default()).ok(),
        Err(error) => {
            tracing::warn!(%error, "bundles are not checked against the version of the cluster");
            None
        }
    }
}

fn solved(namespace: &str, answer: &ResolutionOutcome) -> Solved {
    let chosen = &answer.resolution.chosen;
    for fault in &answer.left_out {
        tracing::warn!(namespace, %fault, "left out of the resolution");
    }
    let (orphans, refusals): (Vec<_>, Vec<_>) =
        answer.refusals.iter().partition(|refusal| refusal.subscriptions.is_empty());
    Solved {
        choices: chosen.iter().map(choice).collect(),
        refused: refusals.into_iter().map(refused).collect(),
        orphans: orphans.into_iter().flat_map(orphaned).collect(),
        kept_back: kept_back(answer),
        outcome: Outcome::of(chosen),
    }
}

fn kept_back(answer: &ResolutionOutcome) -> KeptBack {
    let blocked = answer.blocked.iter();
    let held = answer.held.iter();
    KeptBack {
        blocked: blocked
            .map(|upgrade| (upgrade.subscription.clone(), messages::blocked(upgrade)))
            .collect(),
        held: held
            .map(|upgrade| (upgrade.subscription.name.clone(), messages::held(upgrade)))
            .collect(),
    }
}

fn refused(refusal: &Refusal) -> Refused {
    let failure = match &refusal.error {
        ResolveError::NotSatisfiable(explanation) => {
            Failure::NotSatisfiable(messages::refused(explanation))
        }
        error => Failure::Prevented(error.to_string()),
    };
    Refused { subscriptions: refusal.subscriptions.iter().cloned().collect(), failure }
}

fn orphaned(refusal: &Refusal) -> impl Iterator<Item = (String, String)> {
    let why = refusal.error.summary();
    refusal.csvs.iter().map(move |csv| (csv.clone(), why.clone()))
}

fn choice(chosen: &Chosen) -> Choice {
    Choice {
        entry: Arc::clone(&chosen.entry),
        replaces: chosen.replaces.as_deref().map(str::to_owned),
        needed_by: chosen.needed_by.clone(),
        part: chosen.part,
    }
}
