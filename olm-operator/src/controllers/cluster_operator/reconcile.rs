//! Writes ClusterOperators. The kind is not watched: outside of OpenShift it does not exist.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject};
use kube::core::GroupVersionKind;
use olm_effect::Effect;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::discovery::ApiKinds;
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::cluster_operator::{API, decide_olm, decide_package_server};
use serde_json::Value;

use super::Report;
use super::observe;
use crate::clock;
use crate::stores::Stores;

/// Pause before the kind is looked for again, as in v0.
const PROBE: Duration = Duration::from_secs(60);

/// Pause before somebody else's change of the object is noticed: it is not watched.
const LOOK: Duration = Duration::from_secs(60);

/// Reconciles ClusterOperators, by name.
pub struct ClusterOperatorReconciler {
    /// Where CSVs are observed.
    pub stores: Stores,
    /// Reads the object itself.
    pub client: Client,
    /// Which APIs are served.
    pub kinds: ApiKinds,
    /// What carries decisions out.
    pub interpreter: Interpreter,
    /// What is told, and under which names.
    pub report: Report,
    /// Whether the log says already that the kind is missing.
    pub told: AtomicBool,
}

#[async_trait]
impl Reconciler<String> for ClusterOperatorReconciler {
    async fn reconcile(&self, name: &String) -> Result<Conclusion, ReconcileError> {
        let (group, version, kind) = API;
        let served = self.kinds.resolve(group, version, kind).await;
        let Some(served) = served.map_err(ReconcileError::other)? else {
            if !self.told.swap(true, Ordering::Relaxed) {
                tracing::warn!(
                    name,
                    "this cluster knows no ClusterOperators (config.openshift.io/v1), so there is \
                     nothing to report to; it is looked for every minute"
                );
            }
            return Ok(Conclusion::RequeueAfter(PROBE));
        };
        let live = self.read(name, &served.resource.plural).await?;
        let effects = self.decide(name, live);
        let outcomes = self.interpreter.execute(&effects).await;
        ReconcileError::from_outcomes(&outcomes)?;
        let created =
            outcomes.iter().any(|outcome| matches!(outcome, olm_effect::Outcome::Created(_)));
        let pause = if created { Duration::ZERO } else { LOOK };
        Ok(Conclusion::RequeueAfter(pause))
    }
}

impl ClusterOperatorReconciler {
    fn decide(&self, name: &str, live: Option<Value>) -> Vec<Effect> {
        let now = clock::now();
        let effect = match name == self.report.names.olm {
            true => decide_olm(&observe::olm(&self.stores, &self.report, live), now),
            false => decide_package_server(
                &observe::package_server(&self.stores, &self.report, live),
                now,
            ),
        };
        effect.into_iter().collect()
    }

    async fn read(&self, name: &str, plural: &str) -> Result<Option<Value>, ReconcileError> {
        let (group, version, kind) = API;
        let gvk = GroupVersionKind::gvk(group, version, kind);
        let resource = ApiResource::from_gvk_with_plural(&gvk, plural);
        let api: Api<DynamicObject> = Api::all_with(self.client.clone(), &resource);
        let found = api.get_opt(name).await.map_err(ReconcileError::other)?;
        found.map(|object| serde_json::to_value(object).map_err(ReconcileError::other)).transpose()
    }
}
