//! What Subscriptions declare about versions (annotations `pin`, `version-range` and `pause`,
//! docs/upgrade-policy.md).
//!
//! Such a Subscription gets no other versions, and neither does an operator that needs its package in the
//! namespace: also while its catalog is away, or while it is refused itself. What is installed stays. v0 has
//! no such annotations.

mod held;
mod upgrade_path;

use std::sync::Arc;

use olm_types::bundle::Entry;

pub(crate) use held::held;
pub use upgrade_path::follows;
pub(super) use upgrade_path::upgrade_path;

use crate::error::Fault;
use crate::problem::{Bundle, Missing, Problem, Reason, Rule, VariableId};
use crate::request::SubscriptionFacts;
use crate::source::{ConstraintSource, Scope};

/// Most bundles that a message names.
const LISTED: usize = 5;

/// The versions that a Subscription may get now.
#[derive(Clone, Debug)]
pub(super) struct Accepted {
    subscription: Arc<SubscriptionFacts>,
    /// The next bundle on the way to the pinned one.
    step: Option<Arc<str>>,
}

impl Accepted {
    /// For a Subscription that has `current` installed and is offered these entries.
    ///
    /// # Errors
    /// No way leads from what is installed to the pinned bundle.
    pub(super) fn of(
        subscription: &Arc<SubscriptionFacts>,
        current: Option<&Entry>,
        entries: &[Arc<Entry>],
    ) -> Result<Self, Missing> {
        let pin = subscription.pin();
        let step = match (pin, current) {
            (Some(pin), Some(current)) if *current.name != *pin => {
                let usable = |entry: &Entry| in_range(subscription, entry);
                Some(upgrade_path(pin, current, entries, usable).map_err(Missing::Unreachable)?)
            }
            _ => None,
        };
        Ok(Self { subscription: subscription.clone(), step })
    }

    /// For a Subscription that gets nothing now: the same, without a next step.
    fn for_others(subscription: &Arc<SubscriptionFacts>) -> Self {
        Self { subscription: subscription.clone(), step: None }
    }

    /// Whether the Subscription declares nothing.
    pub(super) fn is_everything(&self) -> bool {
        !declares(&self.subscription)
    }

    /// Whether it may get the entry.
    pub(super) fn contains(&self, entry: &Entry) -> bool {
        let pin = self.subscription.pin();
        let is_step = self.step.as_deref() == Some(&*entry.name);
        self.subscription.held_by.is_none()
            && in_range(&self.subscription, entry)
            && pin.is_none_or(|pin| is_step || *entry.name == *pin)
    }
}

/// What there is when nothing of it is in the range.
pub(super) fn out_of_range(entries: &[Arc<Entry>]) -> Missing {
    let mut names = newest_first(entries);
    names.truncate(LISTED);
    Missing::InRange(names.into())
}

/// The names of entries, newest first, each once.
fn newest_first(entries: &[Arc<Entry>]) -> Vec<Arc<str>> {
    let mut entries: Vec<&Arc<Entry>> = entries.iter().collect();
    entries.sort_by(|a, b| b.version.cmp(&a.version).then_with(|| a.name.cmp(&b.name)));
    let mut names: Vec<Arc<str>> = entries.iter().map(|entry| entry.name.clone()).collect();
    names.dedup();
    names
}

/// Whether a Subscription declares anything about versions.
fn declares(subscription: &SubscriptionFacts) -> bool {
    subscription.pinned || subscription.version_range.is_some()
}

/// Whether the version-range of the Subscription, if it has one, takes the entry. An entry without a
/// version is in no range.
fn in_range(subscription: &SubscriptionFacts, entry: &Entry) -> bool {
    subscription
        .version_range
        .as_ref()
        .is_none_or(|range| entry.version.as_ref().is_some_and(|version| range.contains(version)))
}

/// Prohibits what a Subscription to the package does not accept, whoever needs it.
#[derive(Clone, Copy, Debug, Default)]
pub struct AcceptedVersions;

impl ConstraintSource for AcceptedVersions {
    /// Comes after [`Subscriptions`](super::Subscriptions), which know what their next steps are.
    fn roots(&self, scope: &mut Scope<'_>, _: &mut Problem) -> Result<(), Vec<Fault>> {
        let is_known = |one: &Arc<SubscriptionFacts>| {
            scope.accepted().iter().any(|known| known.subscription.name == one.name)
        };
        let declaring = scope.subscriptions().iter().filter(|one| declares(one) && !is_known(one));
        let all: Vec<_> = declaring.chain(scope.held()).map(Accepted::for_others).collect();
        all.into_iter().for_each(|accepted| scope.accept_only(accepted));
        Ok(())
    }

    fn of_bundle(
        &self,
        variable: VariableId,
        bundle: &Arc<Bundle>,
        scope: &mut Scope<'_>,
        problem: &mut Problem,
    ) -> Result<(), Vec<Fault>> {
        if bundle.is_installed() {
            return Ok(());
        }
        let all = scope.accepted().iter();
        let refusing = all.filter(|one| one.subscription.package == *bundle.entry.package);
        if let Some(one) = refusing.into_iter().find(|one| !one.contains(&bundle.entry)) {
            let reason = Reason::NotAccepted(one.subscription.clone());
            problem.state(Rule::Prohibited(variable), reason);
        }
        Ok(())
    }
}
