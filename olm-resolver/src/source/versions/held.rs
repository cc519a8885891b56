//! What Subscriptions hold back by what they declare about versions.

use std::collections::BTreeSet;
use std::sync::Arc;

use olm_types::bundle::Entry;

use super::{Accepted, LISTED, declares, follows, in_range, newest_first};
use crate::outcome::HeldUpgrade;
use crate::request::SubscriptionFacts;
use crate::source::Scope;

/// The versions that are newer than what Subscriptions have installed, and that these do not accept, and what is
/// installed outside of a range and stays there; sorted by Subscription.
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
    let is_outside = is_outside(subscription, &installed, &entries);
    let outside = is_outside.then(|| installed.name.clone());
    let is_held = !names.is_empty() || is_outside;
    is_held.then(|| HeldUpgrade { subscription: subscription.clone(), names, more, outside })
}

/// Whether what is installed is not in the range of versions, and nothing that is in it may follow directly: a step
/// outside of the range is no way into it.
fn is_outside(subscription: &SubscriptionFacts, installed: &Entry, entries: &[Arc<Entry>]) -> bool {
    let skipped: BTreeSet<&Arc<str>> = entries.iter().flat_map(|entry| &entry.skips).collect();
    let leads_in = |entry: &Arc<Entry>| {
        !skipped.contains(&entry.name) && in_range(subscription, entry) && follows(entry, installed)
    };
    !in_range(subscription, installed) && !entries.iter().any(leads_in)
}
