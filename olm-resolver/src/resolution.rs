//! The answer of a resolution: the bundles to install that are not there yet.

use std::fmt;
use std::sync::Arc;

use olm_types::bundle::Entry;

/// A set of bundles that keeps every rule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resolution {
    /// Bundles to install, sorted by package, bundle, catalog and channel. Empty: nothing to do.
    pub chosen: Vec<Chosen>,
}

/// A bundle to install.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The place in a catalog that was chosen.
    pub entry: Arc<Entry>,
    /// The installed CSV whose place it takes; otherwise what the entry itself replaces, if anything.
    pub replaces: Option<Arc<str>>,
    /// Set when a Subscription without an installed CSV asked for this bundle by `startingCSV`.
    pub starting_csv: Option<String>,
    /// Who wanted it, sorted: Subscriptions first, then the dependencies of other chosen bundles.
    pub wanted_by: Vec<WantedBy>,
    /// Names of the Subscriptions that need it, themselves or through what they have or get; sorted. Those
    /// that are held or refused, and have something installed that needs it, are among them.
    pub needed_by: Vec<String>,
    /// Number of the part of the answer that it belongs to. Each part can be installed without the others,
    /// before or after them.
    pub part: usize,
}

/// Why a bundle was chosen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WantedBy {
    /// A Subscription of this name.
    Subscription(String),
    /// A dependency of a bundle that is chosen or installed.
    Bundle {
        /// Name of the CSV that has the dependency.
        name: String,
        /// What it requires, as in `providing an API with group: g, version: v, kind: k`.
        requirement: String,
    },
}

impl fmt::Display for WantedBy {
    /// `subscription s`, or `bundle b requires an operator with package: p`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Subscription(name) => write!(f, "subscription {name}"),
            Self::Bundle { name, requirement } => {
                write!(f, "bundle {name} requires an operator {requirement}")
            }
        }
    }
}
