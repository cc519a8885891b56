//! One pass of a CSV: observe, decide, act, conclude.

use std::collections::BTreeSet;
use std::time::Duration;

use async_trait::async_trait;
use kube::Client;
use olm_effect::Outcome;
use olm_kit::ObjectKey;
use olm_kit::certificates::issue;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::discovery::{ApiKinds, ServerVersion};
use olm_kit::interpreter::Interpreter;
use olm_kit::live;
use olm_kit::tasks::in_place;
use olm_lifecycle::csv::stages::Stages;
use olm_lifecycle::csv::{Decision, Observed, Request, Step, conclude, decide_with};
use olm_types::api::{ClusterServiceVersion, CsvPhase};
use olm_types::gvk::Gvk;
use tokio::time::Instant;

use super::observe::observe;
use super::pods;
use crate::changes::Changes;
use crate::clock;
use crate::metrics::CsvMetrics;
use crate::status_delay::StatusDelay;
use crate::stores::Stores;
use crate::tenancy::Tenancy;

/// Pause before an API that the API server does not serve is looked for again. No watch reports
/// when an API appears in discovery.
const DISCOVERY_RETRY: Duration = Duration::from_secs(10);

/// Most questions that one pass may ask before it decides.
const MOST_QUESTIONS: usize = 4;

/// Reconciles ClusterServiceVersions.
pub struct CsvReconciler {
    /// Where objects are observed.
    pub stores: Stores,
    /// What carries decisions out.
    pub interpreter: Interpreter,
    /// Which installs may be tried again at once.
    pub changes: Changes,
    /// Asks for what is not watched.
    pub client: Client,
    /// Which APIs are served.
    pub kinds: ApiKinds,
    /// The version of the API server.
    pub server_version: ServerVersion,
    /// The rules of a CSV's life.
    pub stages: Stages,
    /// How far the owners of namespaces are trusted.
    pub tenancy: Tenancy,
    /// What is counted.
    pub metrics: CsvMetrics,
    /// Statuses that only refresh what is there.
    pub status_delay: StatusDelay<ObjectKey>,
}

#[async_trait]
impl Reconciler<ObjectKey> for CsvReconciler {
    async fn reconcile(&self, key: &ObjectKey) -> Result<Conclusion, ReconcileError> {
        let Some(mut observed) = observe(&self.stores, key) else {
            self.status_delay.forget(key);
            return Ok(Conclusion::Done);
        };
        observed.server_version = self.server_version.current().await;
        observed.trust = self.tenancy.trust(&self.stores).await?;
        observed.cluster_changed = self.changes.take(key);
        let result = self.pass(&mut observed).await;
        if result.is_err() && observed.cluster_changed {
            self.changes.mark(key.clone());
        }
        result
    }
}

impl CsvReconciler {
    async fn pass(&self, observed: &mut Observed) -> Result<Conclusion, ReconcileError> {
        let decision = self.decide(observed).await?;
        for note in &decision.notes {
            tracing::debug!(note);
        }
        let interpreter = self.interpreter.on_behalf_of(observed.namespace());
        let outcomes = interpreter.execute(&decision.effects).await;
        self.conclude(observed, &decision, &outcomes).await
    }

    async fn decide(&self, observed: &mut Observed) -> Result<Decision, ReconcileError> {
        for _ in 0..MOST_QUESTIONS {
            let decide = || decide_with(&self.stages, observed, clock::now());
            match in_place::read(weight(observed), decide) {
                Step::Decided(decision) => return Ok(decision),
                Step::Need(request) => self.fulfil(request, observed).await?,
            }
        }
        Err(ReconcileError::message("the decision asked the same question again"))
    }

    async fn fulfil(
        &self,
        request: Request,
        observed: &mut Observed,
    ) -> Result<(), ReconcileError> {
        match request {
            Request::Served(apis) => self.look_for(apis, observed).await,
            Request::Certificates(order) => {
                let issued = issue(&order).map_err(ReconcileError::other)?;
                observed.serving.issued = Some(issued);
                Ok(())
            }
            Request::Live(targets) => {
                for target in targets {
                    let found = live::read(&self.client, &target).await?;
                    observed.live.insert(target, found);
                }
                Ok(())
            }
            Request::Pods(wanted) => {
                let found = pods::list(&self.client, observed.namespace(), &wanted).await?;
                observed.pods = Some(found);
                Ok(())
            }
        }
    }

    async fn look_for(
        &self,
        apis: BTreeSet<Gvk>,
        observed: &mut Observed,
    ) -> Result<(), ReconcileError> {
        for api in apis {
            let found = self.kinds.resolve(&api.group, &api.version, &api.kind).await;
            let found = found.map_err(ReconcileError::other)?;
            observed.served.insert(api, found.is_some());
        }
        Ok(())
    }

    async fn conclude(
        &self,
        observed: &Observed,
        decision: &Decision,
        outcomes: &[Outcome],
    ) -> Result<Conclusion, ReconcileError> {
        let conclusion = conclude(observed, decision, outcomes, clock::now());
        let left = self.left(&observed.csv, conclusion.refreshes);
        if left.is_zero() {
            self.interpreter.act(&conclusion.effects).await?;
            self.status_delay.forget(&ObjectKey::of(observed.csv.as_ref()));
        }
        if let Some(phase) = conclusion.entered {
            let why = decision.status.phase.as_ref().map(|to| to.message.as_str());
            let unmet = unmet(decision);
            tracing::info!(from = %observed.phase(), to = %phase, why, ?unmet, "phase changed");
            if phase == CsvPhase::Replacing {
                self.metrics.upgraded();
            }
        }
        if let Some(refusal) = conclusion.failure {
            return Err(refusal.into());
        }
        let missing_api = observed.served.values().any(|served| !served);
        let due = conclusion.requeue_at.map(clock::until);
        let due = due.into_iter().chain(missing_api.then_some(DISCOVERY_RETRY));
        let due = due.chain((!left.is_zero()).then_some(left)).min();
        Ok(due.map_or(Conclusion::Done, Conclusion::RequeueAfter))
    }

    /// For how long a status still waits that only refreshes what is there.
    fn left(&self, csv: &ClusterServiceVersion, refreshes: Option<u64>) -> Duration {
        let left = |digest| self.status_delay.left(ObjectKey::of(csv), digest, Instant::now());
        refreshes.map(left).unwrap_or_default()
    }
}

/// What was required and not found, for the log: the status says so only until the next look.
fn unmet(decision: &Decision) -> Vec<String> {
    let requirements = decision.status.requirements.iter().flatten();
    // `NotPresent`, `PresentNotSatisfied`, `PresentNotAvailable`, `DeploymentNotFound`.
    let unmet = requirements.filter(|one| one.status.contains("Not"));
    let named = unmet.map(|one| {
        let rules = one.dependents.iter().filter(|rule| rule.status.contains("Not"));
        let rules: Vec<&str> = rules.filter_map(|rule| rule.message.as_deref()).collect();
        format!("{} {}: {} {}", one.kind, one.name, one.message, rules.join("; "))
    });
    named.collect()
}

/// About how many bytes a decision looks at. What a CSV asks for is compared with what there is, so that
/// a large one takes a while.
fn weight(observed: &Observed) -> usize {
    /// Bytes of an entry of a list that most are larger than.
    const ENTRY: usize = 64;
    let (metadata, spec) = (&observed.csv.metadata, &observed.csv.spec);
    let annotations = metadata.annotations.iter().flatten();
    let annotations: usize = annotations.map(|(key, value)| key.len() + value.len()).sum();
    let strategy = spec.install.spec.iter();
    let entries: usize = strategy
        .map(|strategy| {
            let blocks = strategy.permissions.iter().chain(&strategy.cluster_permissions);
            let rules: usize = blocks.map(|block| 1 + block.rules.len()).sum();
            let names = strategy.permissions.iter().chain(&strategy.cluster_permissions);
            let names = names.flat_map(|block| &block.rules);
            let names: usize =
                names.map(|rule| rule.resource_names.as_ref().map_or(0, Vec::len)).sum();
            rules + names + strategy.deployments.len()
        })
        .sum();
    let crds = spec.customresourcedefinitions.iter();
    let crds: usize = crds.map(|crds| crds.owned.len() + crds.required.len()).sum();
    let around = observed.siblings.len() + observed.roles.len() + spec.native_apis.len();
    annotations + ENTRY * (entries + crds + around + spec.webhookdefinitions.len())
}
