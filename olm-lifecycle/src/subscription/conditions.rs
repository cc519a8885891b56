//! Conditions of a Subscription. Times never decide whether two conditions are equal.

use olm_types::api::{SubscriptionCondition, SubscriptionStatus};

/// The condition of that type.
pub(super) fn get<'a>(
    status: &'a SubscriptionStatus,
    kind: &str,
) -> Option<&'a SubscriptionCondition> {
    status.conditions.iter().find(|condition| condition.type_ == kind)
}

/// Puts the condition in the place of the one of its type, or at the end.
pub(super) fn set(status: &mut SubscriptionStatus, condition: SubscriptionCondition) {
    match status.conditions.iter_mut().find(|other| other.type_ == condition.type_) {
        Some(other) => *other = condition,
        None => status.conditions.push(condition),
    }
}

/// Takes the conditions of these types away.
pub(super) fn remove(status: &mut SubscriptionStatus, kinds: &[&str]) {
    status.conditions.retain(|condition| !kinds.contains(&condition.type_.as_str()));
}

/// Equal but for times.
pub(super) fn same(a: &SubscriptionCondition, b: &SubscriptionCondition) -> bool {
    let key = |condition: &SubscriptionCondition| {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        (
            condition.type_.clone(),
            condition.status.clone(),
            text(&condition.reason),
            text(&condition.message),
        )
    };
    key(a) == key(b)
}

/// Equal but for times, in whatever order: each type is there once.
pub(super) fn all_same(a: &[SubscriptionCondition], b: &[SubscriptionCondition]) -> bool {
    a.len() == b.len() && a.iter().all(|one| b.iter().any(|other| same(one, other)))
}

/// A condition that holds.
pub(super) fn holding(kind: &str, reason: &str, message: Option<String>) -> SubscriptionCondition {
    SubscriptionCondition {
        type_: kind.to_owned(),
        status: "True".to_owned(),
        reason: Some(reason.to_owned()),
        message: message.filter(|message| !message.is_empty()),
        ..SubscriptionCondition::default()
    }
}
