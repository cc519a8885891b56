//! The ClusterOperator, on OpenShift and when a flag names it. A reconcile means that everything that
//! is watched was read and that this replica acts: what v0 reports as available.

use std::time::Duration;

use async_trait::async_trait;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::discovery::{Optional, OptionalKind};
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::cluster_operator::{CatalogReport, decide_catalog};
use serde_json::Value;

use crate::clock;
use crate::stores::Stores;

/// Pause before the next report, as in v0: neither the object nor what it lists wakes this.
const LOOK: Duration = Duration::from_secs(30);

/// Reconciles the ClusterOperator, by name.
pub struct ClusterOperatorReconciler {
    /// Where Subscriptions and InstallPlans are observed.
    pub stores: Stores,
    /// The kind that is reported to.
    pub kind: OptionalKind,
    /// What carries decisions out.
    pub interpreter: Interpreter,
    /// Namespace of OLM.
    pub namespace: String,
    /// Version of OpenShift, if the environment says it.
    pub release: Option<String>,
}

#[async_trait]
impl Reconciler<String> for ClusterOperatorReconciler {
    async fn reconcile(&self, name: &String) -> Result<Conclusion, ReconcileError> {
        let live = match self.kind.look_for(name).await.map_err(ReconcileError::other)? {
            Optional::NoSuchKind => return Ok(Conclusion::RequeueAfter(OptionalKind::PROBE)),
            Optional::NoSuchObject => None,
            Optional::Is(object) => Some(object),
        };
        let pause = if live.is_some() { LOOK } else { Duration::ZERO };
        let effect = decide_catalog(&self.report(name, live), clock::now());
        self.interpreter.act(effect.as_slice()).await?;
        Ok(Conclusion::RequeueAfter(pause))
    }
}

impl ClusterOperatorReconciler {
    fn report(&self, name: &str, live: Option<Value>) -> CatalogReport {
        CatalogReport {
            name: name.to_owned(),
            live,
            subscriptions: self.stores.subscriptions.list_in(&self.namespace),
            plans: self.stores.plans.list_in(&self.namespace),
            namespace: self.namespace.clone(),
            release: self.release.clone(),
            olm_version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}
