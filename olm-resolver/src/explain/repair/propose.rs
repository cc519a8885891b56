//! Changes that may help, from the facts that stand in the way. The smallest changes come first.

use std::collections::BTreeSet;

use super::{MissingContent, Repair};
use crate::constraint::Wanted;
use crate::explain::Fact;
use crate::outcome::BlockedUpgrade;
use crate::preference::ChannelKey;
use crate::problem::Missing;
use crate::request::SubscriptionFacts;
use crate::source::Scope;

/// Most channels, and most catalogs, that are proposed to one Subscription.
const EACH: usize = 2;

/// What may help, best first, without repetition. Moving a Subscription away is proposed only if
/// it meets with others: alone it would fare no better in another namespace.
pub(super) fn from(scope: &Scope<'_>, facts: &[Fact]) -> Vec<Repair> {
    let is_subject =
        |fact: &&Fact| matches!(fact, Fact::SubscriptionExists(_) | Fact::OrphanExists(_));
    let are_several = facts.iter().filter(is_subject).count() > 1;
    let is_move = |repair: &Repair| matches!(repair, Repair::MoveSubscription { .. });
    ranked(scope, facts, |repair| are_several || !is_move(repair))
}

/// What may let the newer bundle of a Subscription in, best first, without repetition. Moving others away is a part of
/// it, moving that Subscription is not.
pub(super) fn for_upgrade(scope: &Scope<'_>, upgrade: &BlockedUpgrade) -> Vec<Repair> {
    let own = upgrade.subscription.as_str();
    let is_own_move = |repair: &Repair| matches!(repair, Repair::MoveSubscription { subscription, .. } if subscription == own);
    ranked(scope, upgrade.explanation.facts(), |repair| !is_own_move(repair))
}

fn ranked(scope: &Scope<'_>, facts: &[Fact], fits: impl Fn(&Repair) -> bool) -> Vec<Repair> {
    let mut ranked: Vec<(u8, Repair)> = Vec::new();
    for fact in facts {
        for repair in for_fact(scope, fact) {
            if fits(&repair) && !ranked.iter().any(|(_, known)| *known == repair) {
                ranked.push((rank(&repair), repair));
            }
        }
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, repair)| repair).collect()
}

fn rank(repair: &Repair) -> u8 {
    match repair {
        Repair::DropStartingCsv { .. }
        | Repair::AcceptAnyVersion { .. }
        | Repair::Resume { .. } => 0,
        Repair::UseChannel { .. } => 1,
        Repair::UseCatalog { .. } => 2,
        Repair::AddCatalog(_) => 3,
        Repair::DeleteCsv { .. } => 4,
        Repair::UpgradeCluster { .. } => 5,
        Repair::MoveSubscription { installed: None, .. } => 6,
        Repair::MoveSubscription { installed: Some(_), .. } => 7,
    }
}

fn for_fact(scope: &Scope<'_>, fact: &Fact) -> Vec<Repair> {
    match fact {
        Fact::SubscriptionExists(subscription) => {
            let mut repairs = elsewhere(scope, subscription);
            repairs.push(Repair::MoveSubscription {
                subscription: subscription.name.clone(),
                installed: subscription.installed_csv.clone(),
            });
            repairs
        }
        Fact::NotAccepted { subscription, .. }
        | Fact::NothingFound {
            subscription,
            missing: Missing::InRange(_) | Missing::Unreachable(_),
            ..
        } => vec![accepting(subscription)],
        Fact::OrphanExists(csv) => vec![Repair::DeleteCsv { csv: csv.name.to_string() }],
        Fact::BundleRequires { wanted, choices, .. } if choices.is_empty() => {
            missing_content(wanted).map(Repair::AddCatalog).into_iter().collect()
        }
        Fact::ClusterVersion { need, .. } => {
            vec![Repair::UpgradeCluster { version: need.needed.clone() }]
        }
        _ => Vec::new(),
    }
}

/// What has the Subscription accept more of its package.
fn accepting(subscription: &SubscriptionFacts) -> Repair {
    let name = subscription.name.clone();
    match subscription.held_by {
        Some(annotation) => Repair::Resume { subscription: name, annotation },
        None => Repair::AcceptAnyVersion { subscription: name },
    }
}

/// Other places from which the Subscription could get its package.
fn elsewhere(scope: &Scope<'_>, subscription: &SubscriptionFacts) -> Vec<Repair> {
    let name = || subscription.name.clone();
    let package = || subscription.package.clone();
    let installed = subscription.installed_csv.as_deref();
    let is_fresh = installed.is_none_or(|csv| scope.installed().named(csv).is_none());
    let mut repairs = Vec::new();
    if is_fresh && subscription.starting_csv.is_some() {
        let pinned = subscription.pinned;
        repairs.push(Repair::DropStartingCsv { subscription: name(), pinned });
    }
    repairs.extend(
        channels(scope, subscription).into_iter().take(EACH).map(|channel| Repair::UseChannel {
            subscription: name(),
            package: package(),
            channel,
        }),
    );
    let entries = scope.package(None, &subscription.package);
    let catalogs: BTreeSet<_> = entries
        .iter()
        .map(|entry| &entry.catalog)
        .filter(|catalog| **catalog != scope.virtual_catalog())
        .filter(|catalog| subscription.catalog.as_ref().is_some_and(|own| own != *catalog))
        .collect();
    repairs.extend(catalogs.into_iter().take(EACH).map(|catalog| Repair::UseCatalog {
        subscription: name(),
        package: package(),
        catalog: catalog.clone(),
    }));
    repairs
}

/// The other channels of the package, the default one first.
fn channels(scope: &Scope<'_>, subscription: &SubscriptionFacts) -> Vec<String> {
    let Some(own) = subscription.channel.as_deref() else { return Vec::new() };
    let entries = scope.package(subscription.catalog.as_ref(), &subscription.package);
    let mut keys: Vec<ChannelKey> = entries
        .iter()
        .filter(|entry| *entry.channel != *own && entry.catalog != scope.virtual_catalog())
        .map(|entry| ChannelKey::from(&**entry))
        .collect();
    scope.preference().order_channels(&mut keys);
    let mut channels: Vec<String> = keys.iter().map(|key| key.channel.to_string()).collect();
    channels.dedup();
    channels
}

fn missing_content(wanted: &Wanted) -> Option<MissingContent> {
    match wanted {
        Wanted::Package { name, range } => {
            Some(MissingContent::Package { name: name.clone(), range: range.clone() })
        }
        Wanted::Api(api) => Some(MissingContent::Api(api.clone())),
        Wanted::Label(label) => Some(MissingContent::Label(label.clone())),
        Wanted::Other => None,
    }
}
