//! One word for how an object is, and why.

use olm_types::api::{CsvPhase, Subscription, SubscriptionCondition};
use olm_types::conditions::subscription as conditions;
use serde::Serialize;

use crate::observed::{Observed, namespace};

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Health {
    /// It works.
    Healthy,
    /// OLM or Kubernetes is at work.
    Progressing,
    /// A user has to approve an InstallPlan.
    NeedsApproval,
    /// It does not work, and will not by itself.
    Unhealthy,
    /// What it follows from is not there, or was not read.
    Unknown,
}

impl Health {
    /// The word that is printed.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Healthy => "Healthy",
            Self::Progressing => "Progressing",
            Self::NeedsApproval => "NeedsApproval",
            Self::Unhealthy => "Unhealthy",
            Self::Unknown => "Unknown",
        }
    }
}

/// Conditions that say, when they are true, that a Subscription does not get on.
const FAILING: [&str; 4] = [
    conditions::RESOLUTION_FAILED,
    conditions::INSTALL_PLAN_FAILED,
    conditions::BUNDLE_UNPACK_FAILED,
    conditions::CATALOG_SOURCES_UNHEALTHY,
];

/// The condition of a type, where it is true.
#[must_use]
pub fn true_condition<'a>(
    subscription: &'a Subscription,
    type_: &str,
) -> Option<&'a SubscriptionCondition> {
    let conditions = subscription.status.iter().flat_map(|status| &status.conditions);
    let mut found = conditions.filter(|one| one.type_ == type_ && one.status == "True");
    found.next()
}

/// How a Subscription is, with the reason in the words of its status.
#[must_use]
pub fn of_subscription(observed: &Observed, subscription: &Subscription) -> (Health, String) {
    let failing = FAILING.iter().find_map(|type_| true_condition(subscription, type_));
    if let Some(condition) = failing {
        let reason = condition.reason.clone().unwrap_or_else(|| condition.type_.clone());
        return (Health::Unhealthy, reason);
    }
    let status = subscription.status.as_ref();
    let installed = status.and_then(|status| status.installed_csv.as_deref());
    let csv = installed.map(|csv| of_csv(observed, namespace(&subscription.metadata), csv));
    if let Some((Health::Unhealthy, reason)) = csv {
        return (Health::Unhealthy, reason);
    }
    if waits_for_approval(observed, subscription) {
        return (Health::NeedsApproval, "RequiresApproval".to_owned());
    }
    csv.unwrap_or((Health::Progressing, "NotInstalled".to_owned()))
}

/// How a CSV is, with its reason.
#[must_use]
pub fn of_csv(observed: &Observed, namespace: &str, name: &str) -> (Health, String) {
    let Some(csv) = observed.csv(namespace, name) else {
        return (Health::Unknown, "CSVNotFound".to_owned());
    };
    let status = csv.status.clone().unwrap_or_default();
    let health = match status.phase {
        CsvPhase::Succeeded => Health::Healthy,
        CsvPhase::Failed => Health::Unhealthy,
        CsvPhase::Unknown => Health::Unknown,
        _ => Health::Progressing,
    };
    (health, status.reason.unwrap_or_else(|| status.phase.to_string()))
}

/// Whether the InstallPlan of a Subscription waits for a user.
#[must_use]
pub fn waits_for_approval(observed: &Observed, subscription: &Subscription) -> bool {
    match observed.plan_of(subscription) {
        Some(plan) => crate::approval::is_pending(plan),
        None => true_condition(subscription, conditions::INSTALL_PLAN_PENDING)
            .is_some_and(|condition| condition.reason.as_deref() == Some("RequiresApproval")),
    }
}
