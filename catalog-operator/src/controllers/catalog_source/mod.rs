//! CatalogSources: what serves them, their connections and their status (spec catalog-operator 1).

mod hosting;
mod observe;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use kube::Client;
use olm_effect::{Outcome, Refusal};
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::discovery::ServerVersion;
use olm_kit::interpreter::Interpreter;
use olm_kit::leader::Leadership;
use olm_kit::watch::Store;
use olm_kit::{ObjectKey, live};
use olm_lifecycle::catalog_source::registry::Settings;
use olm_lifecycle::catalog_source::{
    Observed, Plan, conclude, foreign, has_template, include, plan,
};
use olm_types::api::CatalogSource;
use olm_types::bundle::CatalogKey;
use serde_json::Value;

use crate::catalogs::Catalogs;
use crate::clock;
use crate::digest::DigestSource;
use crate::metrics::CatalogMetrics;
use crate::servers::ServerStores;

pub use hosting::Hosts;

/// How often a catalog with an image template is looked at: the version of the cluster may change,
/// and no event says so.
const TEMPLATES: Duration = Duration::from_secs(15 * 60);

/// Reconciles CatalogSources.
pub struct CatalogSourceReconciler {
    pub(crate) store: Store<CatalogSource>,
    pub(crate) servers: ServerStores,
    pub(crate) catalogs: Catalogs,
    pub(crate) settings: Settings,
    /// Who is asked for digests; none when Pods look for newer images.
    pub(crate) digests: Option<Arc<dyn DigestSource>>,
    /// Who serves catalogs in this process; none when Pods serve all of them.
    pub(crate) hosts: Option<Hosts>,
    pub(crate) version: ServerVersion,
    pub(crate) client: Client,
    pub(crate) interpreter: Interpreter,
    pub(crate) leadership: Leadership,
    /// When the first catalog was looked at as the leader.
    pub(crate) acting_since: OnceLock<Timestamp>,
    pub(crate) metrics: CatalogMetrics,
}

#[async_trait]
impl Reconciler<ObjectKey> for CatalogSourceReconciler {
    async fn reconcile(&self, key: &ObjectKey) -> Result<Conclusion, ReconcileError> {
        let namespace = key.namespace.as_deref().unwrap_or_default();
        let catalog_key = CatalogKey::new(namespace, &key.name);
        self.metrics.count_catalogs(self.store.len());
        let Some(catalog) = self.store.get_key(key) else {
            self.catalogs.forget(&catalog_key);
            self.metrics.forget_catalog(namespace, &key.name);
            self.hosts.iter().for_each(|hosts| hosts.host.release(&catalog_key));
            return Ok(Conclusion::Done);
        };
        if catalog.metadata.deletion_timestamp.is_some() {
            // What serves it goes with it; nothing is made for it any more.
            return Ok(Conclusion::Done);
        }
        if !self.leadership.is_leader() {
            return self.follow(&catalog, &catalog_key).await;
        }
        self.acting_since.get_or_init(clock::now);
        let observed = self.observe(catalog, &catalog_key).await?;
        let ready =
            matches!(&observed.connection, Ok(Some(connection)) if connection.state == "READY");
        self.metrics.ready.with_label_values(&[namespace, &key.name]).set(i64::from(ready));
        let (observed, plan, outcomes) = self.serve(observed, &catalog_key).await?;
        let conclusion = conclude(&observed, &plan, &outcomes, clock::now());
        let unserved = conclusion.error.is_some() || plan.steps.is_empty();
        if unserved && self.catalogs.connection(&catalog_key).is_none() {
            // No key should wait for a catalog that may never be served.
            self.catalogs.disconnect(&catalog_key);
        }
        self.interpreter.act(conclusion.status.as_slice()).await?;
        if let Some(error) = conclusion.error {
            return Err(ReconcileError::message(error));
        }
        let templates = has_template(&observed.catalog).then_some(TEMPLATES);
        let next = conclusion.next.into_iter().chain(templates).min();
        Ok(next.map_or(Conclusion::Done, Conclusion::RequeueAfter))
    }
}

impl CatalogSourceReconciler {
    /// What a replica does that does not lead: it knows the catalog, so that it can serve its
    /// packages and take over at once.
    async fn follow(
        &self,
        catalog: &CatalogSource,
        key: &CatalogKey,
    ) -> Result<Conclusion, ReconcileError> {
        let connected = self.connect(catalog, key).await?;
        match connected.connection {
            Ok(_) => Ok(Conclusion::Done),
            Err(why) => Err(ReconcileError::message(why)),
        }
    }

    /// Carries out the plan. Objects of the catalog that are there without the label by which they
    /// are watched come to light when they cannot be created; then there is a second round.
    async fn serve(
        &self,
        observed: Observed,
        key: &CatalogKey,
    ) -> Result<(Observed, Plan, Vec<Outcome>), Refusal> {
        let (plan, outcomes) = self.round(&observed).await;
        let hidden = self.hidden(&plan, &outcomes, &observed.catalog).await?;
        if hidden.is_empty() {
            return Ok((observed, plan, outcomes));
        }
        let mut observed = self.observe(observed.catalog, key).await?;
        hidden.into_iter().for_each(|object| include(&mut observed.server, object));
        let (plan, outcomes) = self.round(&observed).await;
        Ok((observed, plan, outcomes))
    }

    async fn round(&self, observed: &Observed) -> (Plan, Vec<Outcome>) {
        let plan = plan(observed, &self.settings, clock::now());
        let outcomes = self.interpreter.execute(&plan.effects()).await;
        (plan, outcomes)
    }

    /// The objects that stood in the way and belong to the catalog.
    async fn hidden(
        &self,
        plan: &Plan,
        outcomes: &[Outcome],
        catalog: &CatalogSource,
    ) -> Result<Vec<Value>, Refusal> {
        let mut hidden = Vec::new();
        for (step, outcome) in plan.steps.iter().zip(outcomes) {
            if !matches!(outcome, Outcome::AlreadyExists) {
                continue;
            }
            let found = live::read(&self.client, &step.effect.target).await?;
            hidden.extend(found.filter(|object| !foreign(object, catalog)));
        }
        Ok(hidden)
    }
}
