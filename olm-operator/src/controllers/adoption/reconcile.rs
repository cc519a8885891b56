//! Puts labels on what belongs together.

use async_trait::async_trait;
use olm_effect::{Effect, Outcome};
use olm_kit::ObjectKey;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::digest;
use olm_lifecycle::operator::{adopt_by_csv, adopt_by_subscription};
use tokio::time::Instant;

use super::observe::{owned, plan_labels};
use crate::components::ComponentIndex;
use crate::status_delay::StatusDelay;
use crate::stores::Stores;
use crate::tenancy::Tenancy;

/// Adopts for Subscriptions.
pub struct SubscriptionAdoptionReconciler {
    /// Where objects are observed.
    pub stores: Stores,
    /// What carries decisions out.
    pub interpreter: Interpreter,
    /// Subscriptions whose status is about to change again: catalog-operator writes it, and would meet a label
    /// that comes in between as a conflict.
    pub status_delay: StatusDelay<ObjectKey>,
}

#[async_trait]
impl Reconciler<ObjectKey> for SubscriptionAdoptionReconciler {
    async fn reconcile(&self, key: &ObjectKey) -> Result<Conclusion, ReconcileError> {
        let Some(subscription) = self.stores.subscriptions.get_key(key) else {
            self.status_delay.forget(key);
            return Ok(Conclusion::Done);
        };
        let namespace = key.namespace.as_deref();
        let status = subscription.status.as_ref();
        let csv = status.and_then(|status| status.installed_csv.as_deref());
        let csv = csv.and_then(|name| self.stores.csvs.get(namespace, name));
        let plans = plan_labels(&self.stores, &subscription);
        let all = self.stores.subscriptions.list_in(namespace.unwrap_or_default());
        let effects = adopt_by_subscription(&subscription, &all, csv.as_deref(), &plans);
        if !effects.is_empty() {
            let left =
                self.status_delay.left(key.clone(), digest(&subscription.status), Instant::now());
            if !left.is_zero() {
                return Ok(Conclusion::RequeueAfter(left));
            }
        }
        let labelled = label(&self.interpreter, &effects).await?;
        self.status_delay.forget(key);
        Ok(labelled)
    }
}

/// Adopts for CSVs.
pub struct CsvAdoptionReconciler {
    /// Where objects are observed.
    pub stores: Stores,
    /// Who belongs to which CSV.
    pub index: ComponentIndex,
    /// How far the owners of namespaces are trusted.
    pub tenancy: Tenancy,
    /// What carries decisions out.
    pub interpreter: Interpreter,
}

#[async_trait]
impl Reconciler<ObjectKey> for CsvAdoptionReconciler {
    async fn reconcile(&self, key: &ObjectKey) -> Result<Conclusion, ReconcileError> {
        let Some(csv) = self.stores.csvs.get_key(key) else { return Ok(Conclusion::Done) };
        let trust = self.tenancy.trust(&self.stores).await?;
        let owned = owned(&self.stores, &self.index, &csv, &trust);
        label(&self.interpreter, &adopt_by_csv(&csv, &owned)).await
    }
}

/// Labels one object after the other; one that cannot be labelled stops no other.
async fn label(
    interpreter: &Interpreter,
    effects: &[Effect],
) -> Result<Conclusion, ReconcileError> {
    let mut outcomes: Vec<Outcome> = Vec::new();
    for effect in effects {
        outcomes.extend(interpreter.execute(std::slice::from_ref(effect)).await);
    }
    ReconcileError::from_outcomes(&outcomes)?;
    Ok(Conclusion::Done)
}
