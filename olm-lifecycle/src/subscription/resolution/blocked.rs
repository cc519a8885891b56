//! Upgrades that are blocked, reported beside v0's conditions.
//!
//! The condition says what the last resolution found: it comes and goes with every write about a
//! resolution, also while bundles are unpacked and when the rest of the resolution fails.

use std::collections::BTreeMap;

use olm_types::api::{Subscription, SubscriptionStatus};
use olm_types::conditions::subscription::UPGRADE_BLOCKED;
use olm_types::reasons::subscription::CONSTRAINTS_NOT_SATISFIABLE;

use super::super::conditions;

/// Why Subscriptions do not get the newest bundle, by name.
pub type Blocked = BTreeMap<String, String>;

/// Reports whether the upgrade of the Subscription is blocked. An equal condition stays as it is,
/// with its times.
pub(super) fn report(
    status: &mut SubscriptionStatus,
    subscription: &Subscription,
    found: &Blocked,
) {
    let name = subscription.metadata.name.as_deref().unwrap_or_default();
    let Some(why) = found.get(name) else {
        return conditions::remove(status, &[UPGRADE_BLOCKED]);
    };
    let reported =
        conditions::holding(UPGRADE_BLOCKED, CONSTRAINTS_NOT_SATISFIABLE, Some(why.clone()));
    if conditions::get(status, UPGRADE_BLOCKED)
        .is_none_or(|known| !conditions::same(known, &reported))
    {
        conditions::set(status, reported);
    }
}
