//! Whether what a Subscription asks for is there, in the conditions that all tools understand
//! (docs/readiness.md has the table).
//!
//! | | `Ready` | besides | kstatus |
//! |---|---|---|---|
//! | `Ready` | True | | Current |
//! | `Progressing` | False | `Reconciling` | InProgress |
//! | `Waiting` | False | | InProgress |
//! | `Stalled` | False | `Stalled` | Failed |
//!
//! They follow from the rest of the status, the operator and the InstallPlan, and are part of writes that are
//! made anyway; one is made for them alone when their reason changes, never for a text. v0 has no such
//! conditions.

mod rules;

use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use olm_effect::Effect;
use olm_types::api::{
    ClusterServiceVersion, CsvPhase, InstallPlan, Subscription, SubscriptionStatus,
};

use crate::readiness::{report, says};
use crate::writes::status_write;

/// A CSV of the namespace, as far as its Subscription is concerned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CsvState {
    /// Its phase.
    pub phase: CsvPhase,
    /// The reason for that.
    pub reason: String,
    /// The same in words.
    pub message: String,
}

impl From<&ClusterServiceVersion> for CsvState {
    fn from(csv: &ClusterServiceVersion) -> Self {
        let status = csv.status.as_ref();
        let text = |text: Option<&String>| text.cloned().unwrap_or_default();
        Self {
            phase: csv.phase(),
            reason: text(status.and_then(|status| status.reason.as_ref())),
            message: text(status.and_then(|status| status.message.as_ref())),
        }
    }
}

/// What readiness follows from, besides the Subscription.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct View<'a> {
    /// The installed CSV, if it is there.
    pub(crate) operator: Option<&'a CsvState>,
    /// The InstallPlan that the Subscription follows, as it will be.
    pub(crate) plan: Option<&'a InstallPlan>,
    /// Whether the spec was taken into account as it is now.
    pub(crate) is_observed: bool,
}

/// The write that brings a status up to date: with readiness, if there is a reason for a write. `wanted` is the
/// status without it.
pub(crate) fn write(
    subscription: &Subscription,
    mut wanted: SubscriptionStatus,
    view: &View<'_>,
    now: Timestamp,
) -> Option<Effect> {
    let before = subscription.status.clone().unwrap_or_default();
    let changed = !is_same(&wanted, &before);
    let known = wanted.observed_generation;
    if view.is_observed {
        wanted.observed_generation = subscription.metadata.generation;
    }
    // A definition of v0 does not keep the field: that it is missing is no reason to write.
    let is_behind = known.is_some() && known != wanted.observed_generation;
    let found = rules::readiness(subscription, &wanted, view);
    let is_reported = says(&wanted.conditions, &found);
    if !changed && !is_behind && is_reported {
        return None;
    }
    report(&mut wanted.conditions, &found, now);
    let wanted = SubscriptionStatus { last_updated: Some(Time(now)), ..wanted };
    status_write(subscription, &Subscription { status: Some(wanted), ..subscription.clone() })
}

/// Whether two statuses are the same, in whatever order their conditions are.
fn is_same(one: &SubscriptionStatus, other: &SubscriptionStatus) -> bool {
    let in_order = |status: &SubscriptionStatus| {
        let mut status = status.clone();
        status.conditions.sort_by(|a, b| a.type_.cmp(&b.type_));
        status
    };
    one == other || in_order(one) == in_order(other)
}

/// Whether two states of a CSV are the same to the readiness of its Subscription.
pub fn is_as_ready(old: &ClusterServiceVersion, new: &ClusterServiceVersion) -> bool {
    rules::class(old.phase()) == rules::class(new.phase())
}

/// The plan that a status names, among these.
pub(crate) fn plan_of<'a>(
    status: &SubscriptionStatus,
    plans: &'a [Arc<InstallPlan>],
) -> Option<&'a InstallPlan> {
    let name = status.install_plan_ref.as_ref()?.name.as_ref();
    plans.iter().find(|plan| plan.metadata.name.as_ref() == name).map(AsRef::as_ref)
}

#[cfg(test)]
mod tests;
