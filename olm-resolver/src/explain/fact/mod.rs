//! One fact of an explanation: a rule with the names of what it is about. Prints as v0 words it.

mod from_rule;
mod text;

use std::sync::Arc;

use olm_types::gvk::Gvk;

use crate::constraint::Wanted;
use crate::problem::{BundleRef, ClusterNeed, Missing};
use crate::request::SubscriptionFacts;

/// A Subscription by its name and what it asks for.
pub type SubscriptionRef = Arc<SubscriptionFacts>;

/// A fact about the namespace or its catalogs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A Subscription exists and has to be met.
    SubscriptionExists(SubscriptionRef),
    /// What a Subscription asks for is not offered.
    NothingFound {
        /// The Subscription.
        subscription: SubscriptionRef,
        /// The first thing that is missing.
        missing: Missing,
        /// Name of its CSV that is in the namespace.
        installed: Option<Arc<str>>,
    },
    /// A Subscription needs one of these bundles, most preferred first.
    SubscriptionRequires {
        /// The Subscription.
        subscription: SubscriptionRef,
        /// Its candidates; the installed CSV comes last.
        choices: Vec<BundleRef>,
    },
    /// A CSV without a Subscription exists and stays as it is.
    OrphanExists(BundleRef),
    /// The CSV of a Subscription that cannot be met stays as it is.
    Kept {
        /// The CSV.
        installed: BundleRef,
        /// Name of the Subscription.
        subscription: Arc<str>,
    },
    /// A bundle is deprecated by its properties.
    Deprecated(BundleRef),
    /// A bundle is malformed and counts as not being there.
    Ineligible {
        /// The bundle.
        bundle: BundleRef,
        /// What is malformed.
        reason: String,
    },
    /// A bundle needs a newer Kubernetes.
    ClusterVersion {
        /// The bundle.
        bundle: BundleRef,
        /// What it needs, and what there is.
        need: ClusterNeed,
    },
    /// A Subscription to its package does not accept a bundle.
    NotAccepted {
        /// The bundle.
        bundle: BundleRef,
        /// The Subscription, which declares what it accepts.
        subscription: SubscriptionRef,
    },
    /// A bundle needs one of these bundles, most preferred first.
    BundleRequires {
        /// The bundle.
        bundle: BundleRef,
        /// What it needs, as data.
        wanted: Wanted,
        /// What it needs, in v0's words.
        requirement: String,
        /// What the bundle's authors say about it (`failureMessage`).
        messages: Vec<String>,
        /// Bundles that fit.
        choices: Vec<BundleRef>,
        /// If nothing fits: bundles of the wanted package that do not, one per version.
        passed_over: Vec<BundleRef>,
    },
    /// A bundle would take the place of an installed CSV.
    TakesPlaceOf {
        /// The bundle.
        bundle: BundleRef,
        /// The installed CSV.
        installed: BundleRef,
    },
    /// These bundles are of one package, of which there can be only one.
    OnePerPackage {
        /// Name of the package.
        package: Arc<str>,
        /// Sorted by identifier.
        bundles: Vec<BundleRef>,
    },
    /// These bundles provide one API, of which there can be only one provider.
    OneProvider {
        /// The API.
        api: Gvk,
        /// Sorted by identifier.
        bundles: Vec<BundleRef>,
    },
    /// A fact that a constraint source of someone else stated.
    Other(String),
}
