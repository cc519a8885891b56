//! Writes ClusterOperators. The kind is not watched: outside of OpenShift it does not exist.

use std::time::Duration;

use async_trait::async_trait;
use olm_effect::Effect;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::discovery::{Optional, OptionalKind};
use olm_kit::interpreter::Interpreter;
use olm_kit::key::QueueKey;
use olm_lifecycle::cluster_operator::{decide_olm, decide_package_server};
use olm_lifecycle::tenancy::Trust;
use serde_json::Value;

use super::{Report, observe};
use crate::clock;
use crate::queues::Queues;
use crate::stores::Stores;
use crate::tenancy::Tenancy;

/// Pause before another client's change of the object is noticed: it is not watched.
const LOOK: Duration = Duration::from_secs(60);

/// Reconciles ClusterOperators, by name.
pub struct ClusterOperatorReconciler {
    /// Where CSVs are observed.
    pub stores: Stores,
    /// Whose CSVs have a say in what concerns the whole cluster.
    pub tenancy: Tenancy,
    /// The kind that is reported to.
    pub kind: OptionalKind,
    /// What carries decisions out.
    pub interpreter: Interpreter,
    /// What is reported, and under which names.
    pub report: Report,
}

#[async_trait]
impl Reconciler<String> for ClusterOperatorReconciler {
    async fn reconcile(&self, name: &String) -> Result<Conclusion, ReconcileError> {
        let live = match self.kind.look_for(name).await.map_err(ReconcileError::other)? {
            Optional::NoSuchKind => return Ok(Conclusion::RequeueAfter(OptionalKind::PROBE)),
            Optional::NoSuchObject => None,
            Optional::Is(object) => Some(object),
        };
        let trust = self.tenancy.trust(&self.stores).await?;
        let effects = self.decide(name, &trust, live);
        let outcomes = self.interpreter.execute(&effects).await;
        ReconcileError::from_outcomes(&outcomes)?;
        let created =
            outcomes.iter().any(|outcome| matches!(outcome, olm_effect::Outcome::Created(_)));
        let pause = if created { Duration::ZERO } else { LOOK };
        Ok(Conclusion::RequeueAfter(pause))
    }
}

impl ClusterOperatorReconciler {
    fn decide(&self, name: &str, trust: &Trust, live: Option<Value>) -> Vec<Effect> {
        let now = clock::now();
        let effect = match name == self.report.names.olm {
            true => decide_olm(&observe::olm(&self.stores, &self.report, trust, live), now),
            false => decide_package_server(
                &observe::package_server(&self.stores, &self.report, live),
                now,
            ),
        };
        effect.into_iter().collect()
    }
}

/// A reconciler whose first success is reported.
pub struct ReportingReconciler<R> {
    /// Does the work.
    pub inner: R,
    /// Where successes are noted.
    pub report: Report,
    /// Who is woken by the first.
    pub queues: Queues,
}

#[async_trait]
impl<Key: QueueKey, R: Reconciler<Key>> Reconciler<Key> for ReportingReconciler<R> {
    async fn reconcile(&self, key: &Key) -> Result<Conclusion, ReconcileError> {
        let conclusion = self.inner.reconcile(key).await;
        if conclusion.is_ok() && self.report.note_success() {
            self.queues.add_reports();
        }
        conclusion
    }
}
