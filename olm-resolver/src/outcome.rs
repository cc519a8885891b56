//! The answer to a whole namespace: what to install, who was refused what, and what was left out.

use std::sync::Arc;

use crate::error::{Fault, ResolveError};
use crate::explain::Explanation;
use crate::problem::BundleRef;
use crate::request::SubscriptionFacts;
use crate::resolution::Resolution;

/// What a resolution under a [`Policy`](crate::Policy) leads to.
#[derive(Clone, Debug, Default)]
pub struct ResolutionOutcome {
    /// Bundles to install for those that were not refused.
    pub resolution: Resolution,
    /// Groups without an answer. They share no Subscription and no CSV.
    pub refusals: Vec<Refusal>,
    /// Upgrades that exist and are blocked, sorted by Subscription.
    pub blocked: Vec<BlockedUpgrade>,
    /// What Subscriptions hold back themselves, sorted by Subscription.
    pub held: Vec<HeldUpgrade>,
    /// What is malformed and was left out, without repetition. Empty under
    /// [`Policy::V0`](crate::Policy::V0), where it is an error.
    pub left_out: Vec<Fault>,
}

impl ResolutionOutcome {
    /// What is installed if no Subscription was refused.
    ///
    /// # Errors
    /// Why the first one was refused.
    pub fn into_resolution(self) -> Result<Resolution, ResolveError> {
        match self.refusals.into_iter().next() {
            Some(refusal) => Err(refusal.error),
            None => Ok(self.resolution),
        }
    }
}

/// Subscriptions and CSVs that influence each other and have no answer together.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// Names of the Subscriptions, sorted.
    pub subscriptions: Vec<String>,
    /// Names of the CSVs without a Subscription, sorted.
    pub csvs: Vec<String>,
    /// Why.
    pub error: ResolveError,
}

/// A Subscription keeps its CSV although a newer bundle could follow it.
#[derive(Clone, Debug)]
pub struct BlockedUpgrade {
    /// Name of the Subscription.
    pub subscription: String,
    /// Name of the CSV that stays.
    pub installed: String,
    /// The bundle that it would be upgraded to.
    pub bundle: BundleRef,
    /// What stands in the way.
    pub explanation: Explanation,
}

/// A Subscription does not accept versions that are newer than what it has, or what it has itself.
#[derive(Clone, Debug)]
pub struct HeldUpgrade {
    /// The Subscription, with what it declares about versions.
    pub subscription: Arc<SubscriptionFacts>,
    /// The newest of those that are newer.
    pub names: Vec<Arc<str>>,
    /// How many more there are.
    pub more: usize,
    /// The installed CSV, where it is not in the range of versions and no upgrade leads into that.
    pub outside: Option<Arc<str>>,
}
