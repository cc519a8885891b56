//! What would happen: an installation, an upgrade or a removal, worked out without a write.
//!
//! Nothing is decided here. The resolver chooses bundles, olm-lifecycle makes the steps of the InstallPlan and
//! executes them, on a [`World`] in memory instead of a cluster; what it has written is compared with what was
//! there. What is not known yet is asked for all at once ([`ReadRequest`]); whoever reads it calls again.

mod apply;
mod as_read_by_go;
mod baseline;
pub mod change;
pub mod comparable;
mod copies;
mod crds;
mod finish;
mod forward;
pub mod grants;
mod group;
mod hop;
pub mod known;
mod mode;
mod namespace;
mod operator;
pub mod permissions;
mod plan_objects;
mod prepare;
mod quantities;
mod removal;
pub mod result;
mod three_way;
mod uncovered;
mod waiting;
mod world;

use jiff::Timestamp;
pub use olm_lifecycle::install_plan::execution::is_about_a_copy;
use olm_types::bundle::{CatalogKey, Universe};
use serde_json::Value;

use crate::details::NoDetails;
use crate::settings::Settings;

pub use apply::KINDS as APPLIED_KINDS;
pub use change::{Action, Change, Written};
pub use known::{Content, Key, Known, ReadRequest, bundle_key};
pub use mode::{Mode, NoMode};
pub use result::{Bundle, Copies, CrdVerdict, Hop, Preview};
pub use world::World;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct PreviewRequest {
    /// The namespace of the Subscription.
    pub namespace: String,
    /// How OLM decides.
    pub settings: Settings,
    /// The time. Nothing that is shown depends on it, but certificates may be due.
    pub now: Timestamp,
    /// What to do.
    pub wanted: Operation,
}

/// What to do.
#[derive(Clone, Debug)]
pub enum Operation {
    /// A package is installed that no Subscription of the namespace asks for.
    Install(Install),
    /// A Subscription is created or changed as manifests say, such as those of a Git repository.
    Apply {
        /// A Subscription of the namespace, and what else is applied with it: a Namespace, an OperatorGroup.
        manifests: Vec<Value>,
        /// The manager that applies them server-side; without one they are applied as they were before.
        field_manager: Option<String>,
    },
    /// What a Subscription has installed is upgraded.
    Upgrade {
        /// Name of the Subscription, or of its package.
        operator: String,
        /// A version, or the name of a CSV; otherwise as far as OLM goes without another approval.
        to: Option<String>,
        /// Another channel to follow.
        channel: Option<String>,
    },
    /// A Subscription goes with what it has installed.
    Uninstall {
        /// Name of the Subscription, or of its package.
        operator: String,
    },
}

impl Operation {
    /// Whether something goes and nothing comes.
    #[must_use]
    pub fn is_removal(&self) -> bool {
        matches!(self, Self::Uninstall { .. })
    }
}

/// A Subscription to come.
#[derive(Clone, Debug, Default)]
pub struct Install {
    /// The package.
    pub package: String,
    /// The channel; otherwise the default one.
    pub channel: Option<String>,
    /// A version, or the name of a CSV, to start with.
    pub version: Option<String>,
    /// The catalog; otherwise the one of highest priority that has the package.
    pub catalog: Option<CatalogKey>,
    /// Whether each InstallPlan waits for a user.
    pub is_manual: bool,
    /// For an OperatorGroup that has to be made.
    pub install_mode: Option<Mode>,
    /// `spec.config` of the Subscription.
    pub config: Option<Value>,
}

/// Why there is nothing to preview.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPreview {
    /// A Subscription asks for the package already.
    #[error(
        "Subscription {0} asks for the package already; `plan upgrade {0}` shows what comes next"
    )]
    Subscribed(String),
    /// What is applied is not about one Subscription.
    #[error("the manifests have to hold one Subscription with a name, no more and no less")]
    NotOneSubscription,
    /// Who applies the manifest is not clear, and so what it takes away.
    #[error(
        "fields of {object} were applied by several managers: {managers}; --field-manager names the one that applies \
         the file"
    )]
    SeveralManagers {
        /// Kind and name.
        object: String,
        /// Names of the managers.
        managers: String,
    },
    /// No Subscription has that name or package.
    #[error(
        "no Subscription in namespace {namespace} is named {operator} or for a package of that name; `kubectl olm list \
         -A` shows those of all namespaces"
    )]
    NoSubscription {
        /// What was asked for.
        operator: String,
        /// Where.
        namespace: String,
    },
    /// No catalog has the package.
    #[error("no catalog that was read has the package {package} (read: {catalogs})")]
    NoPackage {
        /// The package.
        package: String,
        /// Catalogs that were looked at.
        catalogs: String,
    },
    /// Others have the package than the catalog that is asked for, which was not read or has no such package.
    #[error(
        "no catalog that was read is {wanted} and has the package {package}; it is in {catalogs}: --source \
         NAMESPACE/NAME takes it from there"
    )]
    OtherCatalog {
        /// The package.
        package: String,
        /// The catalog that was asked for.
        wanted: String,
        /// Those that have it.
        catalogs: String,
    },
    /// Several catalogs of the same priority have it.
    #[error("several catalogs have the package {package}: {catalogs}; --source names one")]
    SeveralCatalogs {
        /// The package.
        package: String,
        /// The catalogs.
        catalogs: String,
    },
    /// The package has no such channel, or the channel no such version.
    #[error(transparent)]
    NotThere(#[from] NoDetails),
}

/// The answer to what was asked.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// This has to be read first.
    Needs(Vec<ReadRequest>),
    /// What would happen.
    Preview(Box<Preview>),
}

/// What would happen, or what has to be read to say so.
///
/// # Errors
/// What was asked for is not there.
pub fn preview(
    asked: &PreviewRequest,
    known: &Known,
    universe: &dyn Universe,
) -> Result<Outcome, NoPreview> {
    let mut world = World::new(known);
    let preview = match &asked.wanted {
        Operation::Uninstall { operator } => removal::preview(asked, operator, &mut world)?,
        _ => forward::preview(asked, &mut world, universe)?,
    };
    Ok(match std::mem::take(&mut world.needs) {
        needs if needs.is_empty() => Outcome::Preview(Box::new(preview.hashed())),
        needs => Outcome::Needs(needs),
    })
}

#[cfg(test)]
mod tests;
