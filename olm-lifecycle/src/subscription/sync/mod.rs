//! One Subscription by itself (spec catalog-operator 2.2).
//!
//! v0 writes the status once per reconciler and may meet its own write as a conflict; here all
//! changes become one write.

use std::sync::Arc;

use jiff::Timestamp;
use kube_core::ResourceExt;
use olm_effect::Effect;
use olm_types::api::{CatalogSource, Subscription, SubscriptionState};
use olm_types::bundle::Entry;

use super::plan_status::{self, ReferencedPlan};
use super::readiness::{self, CsvState, View};
use super::resolution::is_pending;
use super::{deprecations, health, policy};

/// What is known about a Subscription.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The Subscription.
    pub subscription: Arc<Subscription>,
    /// The InstallPlan that it names.
    pub plan: ReferencedPlan,
    /// The catalogs of its namespace and of the global one, each once.
    pub catalogs: Vec<Arc<CatalogSource>>,
    /// The installed bundle in the Subscription's catalog, if that is loaded and has it.
    pub installed: Option<Arc<Entry>>,
    /// The installed CSV, if it is there.
    pub operator: Option<CsvState>,
}

/// The status write that brings all conditions up to date, if one is needed.
pub fn decide(observed: &Observed, now: Timestamp) -> Option<Effect> {
    let subscription = &*observed.subscription;
    let before = subscription.status.clone().unwrap_or_default();
    let status = plan_status::reconcile(&before, subscription, &observed.plan, now);
    let status = status.unwrap_or(before);
    let health =
        health::reconcile(&status, &subscription.spec, health_of(&observed.catalogs, now), now);
    let status = health.unwrap_or(status);
    let entry = observed.installed.as_deref();
    let deprecations = deprecations::reconcile(&status, &subscription.spec, entry, now);
    let status = deprecations.unwrap_or(status);
    let status = policy::reconcile(&status, subscription, now).unwrap_or(status);
    let plan = match &observed.plan {
        ReferencedPlan::Found(plan) => Some(&**plan),
        ReferencedPlan::None | ReferencedPlan::Missing => None,
    };
    // No resolution takes the spec into account while it is held, or while its plan is pending.
    let is_left = policy::is_held(subscription)
        || (is_pending(plan, subscription) && status.state == SubscriptionState::UpgradePending);
    let view = View { operator: observed.operator.as_ref(), plan, is_observed: is_left };
    readiness::write(subscription, status, &view, now)
}

/// Sorted by namespace and name, run together as v0 does it.
fn health_of(
    catalogs: &[Arc<CatalogSource>],
    now: Timestamp,
) -> Vec<olm_types::api::SubscriptionCatalogHealth> {
    let mut sorted: Vec<_> = catalogs.iter().collect();
    sorted.sort_by_key(|catalog| {
        format!("{}{}", catalog.namespace().unwrap_or_default(), catalog.name_any())
    });
    sorted.into_iter().map(|catalog| health::entry(catalog, now)).collect()
}

#[cfg(test)]
mod tests;
