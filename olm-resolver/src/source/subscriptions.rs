//! Subscriptions: each wants one of the bundles that it may install or upgrade to.
//!
//! A fresh Subscription may take any entry of its channel, newest first. One with an installed CSV
//! may take what replaces, skips or skip-ranges it, and otherwise keeps it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use olm_types::bundle::{CatalogKey, Entry};

use crate::error::{Fault, ResolveError};
use crate::policy::Policy;
use crate::preference::{CatalogViewpoint, ChannelKey};
use crate::problem::{Bundle, Missing, Problem, Reason, Rule, VariableId};
use crate::request::SubscriptionFacts;
use crate::source::versions::{Accepted, follows, out_of_range};
use crate::source::{ConstraintSource, Scope};

/// States what every Subscription wants.
#[derive(Clone, Copy, Debug, Default)]
pub struct Subscriptions;

impl ConstraintSource for Subscriptions {
    fn roots(&self, scope: &mut Scope<'_>, problem: &mut Problem) -> Result<(), Vec<Fault>> {
        let mut faults = Vec::new();
        for subscription in scope.subscriptions().to_vec() {
            if scope.policy() == Policy::Isolated {
                want_or_keep(&subscription, scope, problem);
            } else {
                faults.extend(state(&subscription, scope, problem).err());
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }
}

/// States what a Subscription wants. If that is not available, the Subscription is refused by itself,
/// and what it has installed stays.
fn want_or_keep(
    subscription: &Arc<SubscriptionFacts>,
    scope: &mut Scope<'_>,
    problem: &mut Problem,
) {
    let away = subscription.catalog.as_ref().and_then(|catalog| scope.unavailable(catalog));
    let kept = match away {
        Some(fault) => {
            scope.put_aside(subscription, ResolveError::Catalogs(vec![fault]));
            true
        }
        None => match state(subscription, scope, problem) {
            Ok(found) => !found,
            Err(fault) => {
                scope.put_aside(subscription, ResolveError::Faulty(vec![fault]));
                true
            }
        },
    };
    if let Some(current) = current(subscription, scope).filter(|_| kept) {
        let variable = problem.bundle(&current);
        problem.state(Rule::Mandatory(variable), Reason::Kept(subscription.name.as_str().into()));
    }
}

/// States what a Subscription wants; says whether there is what it asks for.
fn state(
    subscription: &Arc<SubscriptionFacts>,
    scope: &mut Scope<'_>,
    problem: &mut Problem,
) -> Result<bool, Fault> {
    let current = current(subscription, scope);
    let found = match entries(subscription, current.is_none(), scope) {
        Ok(entries) => acceptable(subscription, current.as_deref(), &entries, scope)?,
        Err(missing) => Err(missing),
    };
    let variable = problem.subscription(subscription);
    problem.state(Rule::Mandatory(variable), Reason::SubscriptionExists);
    match found {
        Ok(candidates) => {
            want(variable, &candidates, current.as_ref(), scope, problem);
            Ok(true)
        }
        Err(missing) => {
            problem.state(Rule::Prohibited(variable), Reason::NothingFound(missing));
            Ok(false)
        }
    }
}

fn want(
    variable: VariableId,
    candidates: &[Arc<Entry>],
    current: Option<&Arc<Bundle>>,
    scope: &mut Scope<'_>,
    problem: &mut Problem,
) {
    let (mut choices, mut known) = (Vec::new(), BTreeSet::new());
    for entry in candidates {
        let candidate = problem.bundle(&scope.intern(entry));
        if known.insert(candidate) {
            choices.push(candidate);
        }
    }
    if let Some(current) = current {
        keep_or_replace(current, &mut choices, problem);
    }
    let rule = Rule::Dependency { of: variable, choices: choices.into() };
    problem.state(rule, Reason::SubscriptionRequires);
}

/// The installed CSV of the Subscription, if it exists.
fn current(subscription: &SubscriptionFacts, scope: &mut Scope<'_>) -> Option<Arc<Bundle>> {
    let name = subscription.installed_csv.as_deref()?;
    let entry = scope.installed().named(name)?.entry.clone();
    Some(scope.intern(&entry))
}

/// Each candidate takes the place of the installed CSV, which is itself the last choice.
fn keep_or_replace(current: &Arc<Bundle>, choices: &mut Vec<VariableId>, problem: &mut Problem) {
    let kept = problem.bundle(current);
    for candidate in choices.iter().filter(|candidate| **candidate != kept) {
        problem.replace(*candidate, &current.entry.name);
        problem.state(Rule::Conflict(*candidate, kept), Reason::TakesPlaceOf);
    }
    choices.push(kept);
}

/// What the Subscription's catalogs offer for its package and channel, and for `startingCSV` as
/// long as nothing is installed. Otherwise the first thing that is missing.
fn entries(
    subscription: &SubscriptionFacts,
    fresh: bool,
    scope: &Scope<'_>,
) -> Result<Vec<Arc<Entry>>, Missing> {
    let mut entries = scope.package(subscription.catalog.as_ref(), &subscription.package);
    if entries.is_empty() {
        let empty = subscription.catalog.as_ref().is_some_and(|catalog| scope.is_empty(catalog));
        return Err(if empty { Missing::Catalog } else { Missing::Package });
    }
    if let Some(channel) = subscription.channel.as_deref() {
        entries.retain(|entry| *entry.channel == *channel);
    }
    if entries.is_empty() {
        return Err(Missing::Channel);
    }
    if let Some(name) = subscription.starting_csv.as_deref().filter(|_| fresh) {
        entries.retain(|entry| *entry.name == *name);
    }
    if entries.is_empty() { Err(Missing::StartingCsv) } else { Ok(entries) }
}

/// The entries that may be chosen, unless what the Subscription declares about versions leaves nothing to
/// install, or no way to the pinned bundle.
fn acceptable(
    subscription: &Arc<SubscriptionFacts>,
    current: Option<&Bundle>,
    entries: &[Arc<Entry>],
    scope: &mut Scope<'_>,
) -> Result<Result<Vec<Arc<Entry>>, Missing>, Fault> {
    let installed = current.map(|current| &*current.entry);
    let accepted = match Accepted::of(subscription, installed, entries) {
        Ok(accepted) => accepted,
        Err(missing) => return Ok(Err(missing)),
    };
    let candidates = candidates(subscription, current, entries, &accepted, scope)?;
    if accepted.is_everything() {
        return Ok(Ok(candidates));
    }
    scope.accept_only(accepted);
    let none = candidates.is_empty() && current.is_none();
    Ok(if none { Err(out_of_range(entries)) } else { Ok(candidates) })
}

/// The entries that may be chosen, most preferred first.
///
/// Without a channel a bundle counts in each of its channels as soon as it comes up in one.
fn candidates(
    subscription: &SubscriptionFacts,
    current: Option<&Bundle>,
    entries: &[Arc<Entry>],
    accepted: &Accepted,
    scope: &mut Scope<'_>,
) -> Result<Vec<Arc<Entry>>, Fault> {
    let (mut candidates, mut unordered) = (Vec::new(), None);
    for catalog in catalogs(subscription, entries, scope) {
        let channels = channels(&catalog, entries, scope);
        let mut by_name: BTreeMap<&Arc<str>, Vec<&Arc<Entry>>> = BTreeMap::new();
        for entry in channels.iter().flat_map(|(_, entries)| entries) {
            by_name.entry(&entry.name).or_default().push(entry);
        }
        let mut listed = BTreeSet::new();
        for (_, entries) in &channels {
            let ordered = match scope.preference().order_entries(entries) {
                Err(error) if scope.policy() == Policy::Isolated => {
                    scope.leave_out(Fault::Channel(error.clone()));
                    unordered = Some(error);
                    continue;
                }
                ordered => ordered?,
            };
            for entry in ordered {
                let may_follow = current.is_none_or(|current| follows(&entry, &current.entry));
                if may_follow && accepted.contains(&entry) && listed.insert(entry.name.clone()) {
                    let everywhere = by_name.get(&entry.name).into_iter().flatten();
                    candidates.extend(everywhere.map(|other| Arc::clone(other)));
                }
            }
        }
    }
    match unordered {
        Some(error) if candidates.is_empty() => Err(Fault::Channel(error)),
        _ => Ok(candidates),
    }
}

/// The catalogs of the entries in order of preference; installed CSVs last.
fn catalogs(
    subscription: &SubscriptionFacts,
    entries: &[Arc<Entry>],
    scope: &Scope<'_>,
) -> Vec<CatalogKey> {
    if let Some(catalog) = &subscription.catalog {
        return vec![catalog.clone()];
    }
    let from = CatalogViewpoint { namespace: scope.namespace(), catalog: None };
    let mut keys = scope.catalogs_in_order(&from);
    keys.sort_by_key(|key| *key == scope.virtual_catalog());
    keys.retain(|key| entries.iter().any(|entry| entry.catalog == *key));
    keys
}

type Channel = (ChannelKey, Vec<Arc<Entry>>);

fn channels(catalog: &CatalogKey, entries: &[Arc<Entry>], scope: &Scope<'_>) -> Vec<Channel> {
    let mut channels: BTreeMap<ChannelKey, Vec<Arc<Entry>>> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.catalog == *catalog) {
        channels.entry(ChannelKey::from(&**entry)).or_default().push(entry.clone());
    }
    let mut keys: Vec<ChannelKey> = channels.keys().cloned().collect();
    scope.preference().order_channels(&mut keys);
    keys.into_iter().filter_map(|key| channels.remove_entry(&key)).collect()
}
