//! Upgrades that are blocked or held back, reported beside v0's conditions.
//!
//! The conditions say what the last resolution found: they come and go with every write about a
//! resolution, also while bundles are unpacked and when the rest of the resolution fails.

use std::collections::BTreeMap;

use olm_types::api::{Subscription, SubscriptionStatus};
use olm_types::conditions::subscription::{UPGRADE_BLOCKED, UPGRADE_HELD};
use olm_types::reasons::subscription::{CONSTRAINTS_NOT_SATISFIABLE, PINNED, VERSION_RANGE};

use super::super::conditions;

/// Why Subscriptions do not get the newest bundle, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptBack {
    /// Something stands in the way.
    pub blocked: BTreeMap<String, String>,
    /// They do not accept it.
    pub held: BTreeMap<String, Held>,
}

/// What a Subscription holds back by what it declares about versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Whether by its pin, and not by its range of versions alone.
    pub by_pin: bool,
    /// The newest version that is held back; none where only what is installed is not accepted.
    pub newest: Option<String>,
    /// In words.
    pub message: String,
}

/// Reports whether the upgrade of the Subscription is kept back. An equal condition stays as it is,
/// with its times.
pub(super) fn report(
    status: &mut SubscriptionStatus,
    subscription: &Subscription,
    found: &KeptBack,
) {
    let name = subscription.metadata.name.as_deref().unwrap_or_default();
    let blocked = found.blocked.get(name).map(|why| (CONSTRAINTS_NOT_SATISFIABLE, why));
    keep(status, UPGRADE_BLOCKED, blocked);
    let reason = |held: &Held| if held.by_pin { PINNED } else { VERSION_RANGE };
    keep(status, UPGRADE_HELD, found.held.get(name).map(|held| (reason(held), &held.message)));
}

/// Keeps a condition while there is a reason and a message for it.
fn keep(status: &mut SubscriptionStatus, kind: &str, found: Option<(&str, &String)>) {
    let Some((reason, message)) = found else {
        return conditions::remove(status, &[kind]);
    };
    let reported = conditions::holding(kind, reason, Some(message.clone()));
    if conditions::get(status, kind).is_none_or(|known| !conditions::same(known, &reported)) {
        conditions::set(status, reported);
    }
}
