//! Resolutions that would end as the last one did.
//!
//! A namespace is looked at whenever something in or about it changes: a label, a time in a status,
//! a connection that came back. What a resolution depends on is kept of the last one that left
//! nothing to be done; while that is the same, there is nothing to solve.
//!
//! Invariant: what a pass writes is part of its input, so the pass after a write is never left out. It may go by the
//! last answer of the resolver ([`super::refusals`]).

use std::sync::{Arc, Weak};

use dashmap::DashMap;
use olm_catalog::snapshot::{CatalogSnapshot, Member};
use olm_types::api::{ClusterServiceVersion, Subscription};
use olm_types::bundle::CatalogKey;

use super::solve::ResolutionInputs;
use crate::relevance::{awaits_bundle, same_content, same_csv, same_request, same_subscription};

/// What every namespace was resolved from, where nothing was left to be done.
#[derive(Default)]
pub struct Unchanged {
    inputs: DashMap<String, Arc<Inputs>>,
}

impl Unchanged {
    /// Whether the namespace was resolved from the same already.
    pub(super) fn holds(&self, namespace: &str, inputs: &Inputs) -> bool {
        self.inputs.get(namespace).is_some_and(|last| last.is_same(inputs))
    }

    /// Nothing is left to be done until the inputs change.
    pub(super) fn keep(&self, namespace: &str, inputs: Arc<Inputs>) {
        if !inputs.subscriptions.iter().any(|subscription| awaits_bundle(subscription)) {
            self.inputs.insert(namespace.to_owned(), inputs);
        }
    }

    /// Forgets a namespace that is not resolved any more.
    pub(super) fn forget(&self, namespace: &str) {
        self.inputs.remove(namespace);
    }
}

/// What a resolution depends on: objects of the stores, shared with them, and catalogs by identity.
pub(super) struct Inputs {
    subscriptions: Vec<Arc<Subscription>>,
    held: Vec<Arc<Subscription>>,
    csvs: Vec<Arc<ClusterServiceVersion>>,
    catalogs: Vec<Catalog>,
    fail_forward: bool,
}

/// A catalog, whose content is not kept alive by being remembered here.
struct Catalog {
    key: CatalogKey,
    priority: i64,
    content: Result<Weak<CatalogSnapshot>, String>,
}

impl Inputs {
    /// Of a question that is about to be asked.
    pub(super) fn of(question: &ResolutionInputs) -> Self {
        Self {
            subscriptions: question.namespace.subscriptions.clone(),
            held: question.namespace.held.clone(),
            csvs: question.csvs.clone(),
            catalogs: question.universe.members().iter().map(Catalog::of).collect(),
            fail_forward: question.fail_forward,
        }
    }

    /// Whether the resolver is asked the same, whatever is reported on Subscriptions.
    pub(super) fn ask_the_same(&self, other: &Self) -> bool {
        self.are_same(other, same_request)
    }

    fn is_same(&self, other: &Self) -> bool {
        self.are_same(other, same_subscription)
    }

    fn are_same(&self, other: &Self, same: fn(&Subscription, &Subscription) -> bool) -> bool {
        let same = |one: &Arc<Subscription>, other: &Arc<Subscription>| {
            Arc::ptr_eq(one, other) || same(one, other)
        };
        self.fail_forward == other.fail_forward
            && all_same(&self.catalogs, &other.catalogs, Catalog::is_same)
            && all_same(&self.csvs, &other.csvs, |a, b| Arc::ptr_eq(a, b) || self.same_csv(a, b))
            && all_same(&self.held, &other.held, same)
            && all_same(&self.subscriptions, &other.subscriptions, same)
    }
}

impl Inputs {
    /// Phases matter to upgrades past failed CSVs only.
    fn same_csv(&self, one: &ClusterServiceVersion, other: &ClusterServiceVersion) -> bool {
        if self.fail_forward { same_csv(one, other) } else { same_content(one, other) }
    }
}

impl Catalog {
    fn of(member: &Member) -> Self {
        let content = member.content.as_ref().map(Arc::downgrade).map_err(Clone::clone);
        Self { key: member.key.clone(), priority: member.priority, content }
    }

    fn is_same(&self, other: &Self) -> bool {
        let same_content = match (&self.content, &other.content) {
            (Ok(one), Ok(other)) => one.ptr_eq(other),
            (Err(one), Err(other)) => one == other,
            _ => false,
        };
        same_content && self.key == other.key && self.priority == other.priority
    }
}

fn all_same<T>(old: &[T], new: &[T], same: impl Fn(&T, &T) -> bool) -> bool {
    old.len() == new.len() && old.iter().zip(new).all(|(old, new)| same(old, new))
}

#[cfg(test)]
mod tests;
