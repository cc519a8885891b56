//! What Subscriptions hold back by what they declare about versions.

use std::sync::Arc;

use olm_types::bundle::Entry;

use super::{Accepted, LISTED, declares, newest_first};
use crate::outcome::HeldUpgrade;
use crate::request::SubscriptionFacts;
use crate::source::Scope;

/// The versions that are newer than what Subscriptions have installed, and that these do not accept; sorted
/// by Subscription.
pub(crate) fn held(scope: &Scope<'_>) -> Vec<HeldUpgrade> {
    let declaring = scope.subscriptions().iter().filter(|one| declares(one));
    declaring.filter_map(|subscription| of_subscription(subscription, scope)).collect()
}

fn of_subscription(
    subscription: &Arc<SubscriptionFacts>,
    scope: &Scope<'_>,
) -> Option<HeldUpgrade> {
    let name = subscription.installed_csv.as_deref()?;
    let installed = scope.installed().named(name)?.entry.clone();
    let mut entries = scope.package(subscription.catalog.as_ref(), &subscription.package);
    if let Some(channel) = subscription.channel.as_deref() {
        entries.retain(|entry| *entry.channel == *channel);
    }
    // Where no way leads to a pinned version, all others are held back.
    let accepted = Accepted::for_others(subscription);
    let pin = subscription.pin();
    let pinned = pin.and_then(|pin| entries.iter().find(|entry| *entry.name == *pin));
    let base = pinned.map_or(&installed, |entry| entry).version.clone();
    let is_held = |entry: &&Arc<Entry>| entry.version > base && !accepted.contains(entry);
    let held: Vec<Arc<Entry>> = entries.iter().filter(is_held).cloned().collect();
    let mut names = newest_first(&held);
    let more = names.len().saturating_sub(LISTED);
    names.truncate(LISTED);
    (!names.is_empty()).then(|| HeldUpgrade { subscription: subscription.clone(), names, more })
}
