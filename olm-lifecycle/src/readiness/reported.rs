//! Conditions of an object that report its readiness, whatever their type.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use olm_types::api::SubscriptionCondition;
use olm_types::conditions::readiness::ALL;

use super::Readiness;

/// A list of conditions.
pub(crate) trait Reported {
    /// Status, reason and time of the last transition of a condition that is there.
    fn known(&self, kind: &str) -> Option<(&str, &str, Option<&Time>)>;
    /// Puts a condition in the place of the one of its type, or at the end.
    fn put(&mut self, kind: &str, found: (&str, &str, &str), since: Time);
    /// Takes a condition away.
    fn remove(&mut self, kind: &str);
}

/// Whether the conditions say so already, if perhaps in other words.
pub(crate) fn says(conditions: &impl Reported, found: &Readiness) -> bool {
    ALL.iter().all(|kind| {
        let known = conditions.known(kind).map(|(status, reason, _)| (status, reason));
        known == found.condition(kind).map(|(status, reason, _)| (status, reason))
    })
}

/// Has the conditions say so. Times change with the status of a condition.
pub(crate) fn report(conditions: &mut impl Reported, found: &Readiness, now: Timestamp) {
    for kind in ALL {
        let Some(found) = found.condition(kind) else {
            conditions.remove(kind);
            continue;
        };
        let known = conditions.known(kind).filter(|(status, ..)| *status == found.0);
        let since = known.and_then(|(_, _, since)| since.cloned());
        conditions.put(kind, found, since.unwrap_or(Time(now)));
    }
}

impl Reported for Vec<SubscriptionCondition> {
    fn known(&self, kind: &str) -> Option<(&str, &str, Option<&Time>)> {
        let known = self.iter().find(|known| known.type_ == kind)?;
        let reason = known.reason.as_deref().unwrap_or_default();
        Some((&known.status, reason, known.last_transition_time.as_ref()))
    }

    fn put(&mut self, kind: &str, (status, reason, message): (&str, &str, &str), since: Time) {
        let condition = SubscriptionCondition {
            type_: kind.to_owned(),
            status: status.to_owned(),
            reason: Some(reason.to_owned()),
            message: Some(message.to_owned()),
            last_heartbeat_time: None,
            last_transition_time: Some(since),
        };
        match self.iter_mut().find(|known| known.type_ == kind) {
            Some(known) => *known = condition,
            None => self.push(condition),
        }
    }

    fn remove(&mut self, kind: &str) {
        self.retain(|known| known.type_ != kind);
    }
}

impl Reported for Vec<Condition> {
    fn known(&self, kind: &str) -> Option<(&str, &str, Option<&Time>)> {
        let known = self.iter().find(|known| known.type_ == kind)?;
        Some((&known.status, &known.reason, Some(&known.last_transition_time)))
    }

    fn put(&mut self, kind: &str, (status, reason, message): (&str, &str, &str), since: Time) {
        let condition = Condition {
            type_: kind.to_owned(),
            status: status.to_owned(),
            reason: reason.to_owned(),
            message: message.to_owned(),
            last_transition_time: since,
            observed_generation: None,
        };
        match self.iter_mut().find(|known| known.type_ == kind) {
            Some(known) => *known = condition,
            None => self.push(condition),
        }
    }

    fn remove(&mut self, kind: &str) {
        self.retain(|known| known.type_ != kind);
    }
}
