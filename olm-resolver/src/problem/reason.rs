//! Why a rule was stated. Compact: who and what is in the rule itself.

use std::sync::Arc;

use olm_types::gvk::Gvk;
use olm_types::version::Version;

use crate::constraint::Requirement;
use crate::request::SubscriptionFacts;

/// Why a rule was stated.
#[derive(Clone, Debug)]
pub enum Reason {
    /// A Subscription exists.
    SubscriptionExists,
    /// A Subscription asks for something that is not offered.
    NothingFound(Missing),
    /// A Subscription wants one of its candidates.
    SubscriptionRequires,
    /// A CSV without a Subscription exists and is never touched.
    OrphanExists,
    /// A bundle has the property `olm.deprecated`.
    Deprecated,
    /// A bundle is malformed, and why; it counts as not being there.
    Ineligible(String),
    /// A bundle needs a newer Kubernetes.
    ClusterVersion(Arc<ClusterNeed>),
    /// The CSV of the Subscription of this name stays, as the Subscription itself cannot be met.
    Kept(Arc<str>),
    /// A Subscription to the package does not accept the version.
    NotAccepted(Arc<SubscriptionFacts>),
    /// A bundle has a dependency.
    BundleRequires(Arc<dyn Requirement>),
    /// An upgrade takes the place of the installed CSV.
    TakesPlaceOf,
    /// There can be only one bundle of a package.
    OnePerPackage(Arc<str>),
    /// There can be only one provider of an API.
    OneProvider(Arc<Gvk>),
    /// Another reason, in words that fit after "constraints not satisfiable: ".
    Other(String),
}

/// A version of Kubernetes that is too old for a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterNeed {
    /// The oldest version that the bundle runs on.
    pub needed: Version,
    /// The version of the cluster.
    pub server: Version,
}

/// The first thing that a Subscription asks for and that is not there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    /// The catalog does not exist or is empty.
    Catalog,
    /// The catalog has no such package.
    Package,
    /// The package has no such channel.
    Channel,
    /// The channel has no bundle named by `startingCSV`.
    StartingCsv,
    /// The channel has no version in the Subscription's version-range; the newest that it has.
    InRange(Arc<[Arc<str>]>),
    /// No way of upgrades leads from what is installed to the pinned bundle; the newest bundles to which
    /// one does.
    Unreachable(Arc<[Arc<str>]>),
}
