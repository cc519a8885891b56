//! Subscriptions, each by itself (spec catalog-operator 2.2).

mod observe;

use async_trait::async_trait;
use kube::Client;
use observe::observe;
use olm_kit::ObjectKey;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::interpreter::Interpreter;
use olm_kit::queue::Queue;
use olm_lifecycle::subscription::sync;

use crate::catalogs::Catalogs;
use crate::clock;
use crate::metrics::CatalogMetrics;
use crate::stores::Stores;

/// Reconciles Subscriptions.
pub struct SubscriptionReconciler {
    pub(crate) stores: Stores,
    pub(crate) catalogs: Catalogs,
    pub(crate) client: Client,
    pub(crate) interpreter: Interpreter,
    pub(crate) namespaces: Queue<String>,
    pub(crate) global_namespace: String,
    pub(crate) metrics: CatalogMetrics,
}

#[async_trait]
impl Reconciler<ObjectKey> for SubscriptionReconciler {
    async fn reconcile(&self, key: &ObjectKey) -> Result<Conclusion, ReconcileError> {
        self.metrics.count_subscriptions(self.stores.subscriptions.len());
        if let Some(subscription) = self.stores.subscriptions.get_key(key) {
            self.metrics.syncs.count(&subscription);
            let observed = observe(
                subscription,
                &self.stores,
                &self.catalogs,
                &self.client,
                &self.global_namespace,
            )
            .await?;
            let effects: Vec<_> = sync::decide(&observed, clock::now()).into_iter().collect();
            self.interpreter.act(&effects).await?;
        } else {
            self.metrics.syncs.forget(key);
        }
        // The namespace of a deleted Subscription is resolved, too: others may have waited for it.
        self.namespaces.add(key.namespace.clone().unwrap_or_default());
        Ok(Conclusion::Done)
    }
}
