//! Why a resolution has no answer.
//!
//! [`ResolveError::NotSatisfiable`] is about what was asked and what the catalogs offer; everything
//! else means that the question could not be put: a catalog is away, or something that was reached
//! does not parse.

use olm_types::bundle::CatalogKey;
use thiserror::Error;

use crate::constraint::{ConstraintError, PropertyLocation};
use crate::explain::Explanation;
use crate::installed::InstalledFault;
use crate::preference::ChannelOrderError;
use crate::problem::BundleRef;

/// A resolution without an answer.
#[derive(Clone, Debug, Error)]
pub enum ResolveError {
    /// No set of bundles keeps every rule. Changes when a Subscription, a CSV or a catalog changes.
    #[error("{0}")]
    NotSatisfiable(Explanation),
    /// Catalogs that cannot be used now; one is enough. Worth a retry when they are back.
    #[error("{}", aggregate(.0))]
    Catalogs(Vec<CatalogFault>),
    /// Something that was reached is malformed. Changes when a catalog or a CSV changes.
    #[error("{}", aggregate(.0))]
    Faulty(Vec<Fault>),
    /// The search was given up.
    #[error(
        "resolution of namespace {namespace} was given up after {steps} steps: \
         fewer Subscriptions in the namespace, or catalogs with fewer alternatives, make it smaller"
    )]
    Exhausted {
        /// The namespace.
        namespace: String,
        /// The bound that was hit.
        steps: u64,
    },
}

impl ResolveError {
    /// Whether the same question may get an answer later without a change of an object.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Catalogs(_))
    }

    /// What is in the way and what helps, without the constraints that a message of OLM v0 begins with.
    pub fn summary(&self) -> String {
        match self {
            Self::NotSatisfiable(explanation) => explanation.summary(),
            error => error.to_string(),
        }
    }
}

/// A catalog that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("error using catalogsource {catalog}: {reason}")]
pub struct CatalogFault {
    /// Which one.
    pub catalog: CatalogKey,
    /// What is wrong with it.
    pub reason: String,
}

/// Something malformed that the resolution came across.
#[derive(Clone, Debug, Error)]
pub enum Fault {
    /// A property that should be a constraint does not parse, or cannot be evaluated.
    #[error("bundle {bundle}: property {property}: {source} ({place})")]
    Property {
        /// The bundle that has the property.
        bundle: Box<BundleRef>,
        /// Type of the property.
        property: String,
        /// Where it is.
        place: PropertyLocation,
        /// What is wrong with its value.
        source: ConstraintError,
    },
    /// The constraints of all bundles together take too much.
    #[error(transparent)]
    TooMuch(ConstraintError),
    /// The entries of a channel have no unique order.
    #[error(transparent)]
    Channel(#[from] ChannelOrderError),
    /// Several packages have a bundle of this name in equally named channels.
    #[error(
        "expected exactly one operator, got {count}: several packages of the catalog hold bundle {bundle} \
         in a channel of this name: rename the bundle in one of them"
    )]
    Ambiguous {
        /// The bundle.
        bundle: Box<BundleRef>,
        /// In how many packages it is.
        count: usize,
    },
    /// The CSVs of the namespace cannot be read.
    #[error("error using catalogsource {catalog}: {source}")]
    Installed {
        /// The virtual catalog of installed CSVs: `<namespace>/@existing`.
        catalog: CatalogKey,
        /// What is wrong.
        source: InstalledFault,
    },
}

/// So many messages are joined; the rest is only counted, to keep statuses small.
const JOINED: usize = 10;

/// One message: itself; several: `[a, b]` without duplicates, as Kubernetes joins errors.
fn aggregate<E: ToString>(errors: &[E]) -> String {
    let mut texts: Vec<String> = Vec::new();
    for text in errors.iter().map(E::to_string) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    let more = texts.len().saturating_sub(JOINED);
    texts.truncate(JOINED);
    if more > 0 {
        texts.push(format!("and {more} more"));
    }
    match texts.as_slice() {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}
