//! Changes that would help: proposed from the facts of an explanation, verified by solving again.

mod apply;
mod propose;

use std::collections::BTreeSet;
use std::fmt;

use olm_types::annotations::{PIN, VERSION_RANGE};
use olm_types::bundle::CatalogKey;
use olm_types::gvk::Gvk;
use olm_types::version::Version;

use super::{Explanation, Fact};
use crate::outcome::BlockedUpgrade;
use crate::resolver::Resolver;
use crate::source::Scope;

/// Most changes that are tried for one explanation.
const TRIED: usize = 6;

/// A change that makes a resolution possible. Prints as an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Take the package from another channel.
    UseChannel {
        /// Name of the Subscription.
        subscription: String,
        /// Its package.
        package: String,
        /// The channel.
        channel: String,
    },
    /// Take the package from another catalog.
    UseCatalog {
        /// Name of the Subscription.
        subscription: String,
        /// Its package.
        package: String,
        /// The catalog.
        catalog: CatalogKey,
    },
    /// Start with the newest bundle.
    DropStartingCsv {
        /// Name of the Subscription.
        subscription: String,
        /// Whether it is pinned: a pin needs a `startingCSV`, and goes with it.
        pinned: bool,
    },
    /// Accept any version.
    AcceptAnyVersion {
        /// Name of the Subscription.
        subscription: String,
    },
    /// Let something new be resolved again.
    Resume {
        /// Name of the Subscription.
        subscription: String,
        /// The annotation that prevents it.
        annotation: &'static str,
    },
    /// Delete a CSV that no Subscription refers to.
    DeleteCsv {
        /// Name of the CSV.
        csv: String,
    },
    /// Create a catalog that provides what is missing.
    AddCatalog(MissingContent),
    /// Upgrade Kubernetes.
    UpgradeCluster {
        /// The oldest version that will do.
        version: Version,
    },
    /// Give up a Subscription and what it installed, for example for another namespace.
    MoveSubscription {
        /// Name of the Subscription.
        subscription: String,
        /// The CSV that it installed.
        installed: Option<String>,
    },
}

/// What no catalog has, and another one would have to provide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissingContent {
    /// A version of a package.
    Package {
        /// Name of the package.
        name: String,
        /// The range, as written.
        range: String,
    },
    /// A provider of an API.
    Api(Gvk),
    /// A bundle with a label.
    Label(String),
}

/// Up to [`Resolver::repairs`] changes after which none of those who are refused is refused, and
/// no other Subscription either.
pub(crate) fn find(
    resolver: &Resolver,
    scope: &Scope<'_>,
    explanation: &Explanation,
) -> Vec<Repair> {
    if resolver.repairs == 0 {
        return Vec::new();
    }
    let request = scope.request();
    let concerned: BTreeSet<String> = explanation.facts().iter().filter_map(concerned).collect();
    let mut refused_anyway: Option<BTreeSet<String>> = None;
    let mut found = Vec::new();
    for repair in propose::from(scope, explanation.facts()).into_iter().take(TRIED) {
        let Some(changed) = apply::to(request, &repair) else { continue };
        let refused = resolver.refused(&changed.request());
        let anyway = match &mut refused_anyway {
            _ if refused.is_empty() => None,
            known => Some(&*known.get_or_insert_with(|| resolver.refused(request))),
        };
        let helps = refused.is_disjoint(&concerned)
            && anyway.is_none_or(|anyway| refused.is_subset(anyway));
        if helps {
            found.push(repair);
        }
        if found.len() >= resolver.repairs {
            break;
        }
    }
    found
}

/// Up to [`Resolver::repairs`] changes after which the newer bundle of a blocked upgrade is chosen,
/// and no Subscription is refused that was not before.
pub(crate) fn unblocking(
    resolver: &Resolver,
    scope: &Scope<'_>,
    upgrade: &BlockedUpgrade,
) -> Vec<Repair> {
    if resolver.repairs == 0 {
        return Vec::new();
    }
    let request = scope.request();
    let refused_anyway = resolver.refused(request);
    let helps = |repair: &Repair| {
        apply::to(request, repair).is_some_and(|changed| {
            let after = changed.request();
            resolver.installs(&after, &upgrade.bundle.name)
                && resolver.refused(&after).is_subset(&refused_anyway)
        })
    };
    let proposed = propose::for_upgrade(scope, upgrade).into_iter().take(TRIED);
    proposed.filter(helps).take(resolver.repairs).collect()
}

/// Whom a fact is about, as `Resolver::refused` names them.
fn concerned(fact: &Fact) -> Option<String> {
    match fact {
        Fact::SubscriptionExists(subscription) => {
            Some(format!("subscription {}", subscription.name))
        }
        Fact::OrphanExists(csv) => Some(format!("csv {}", csv.name)),
        _ => None,
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UseChannel { subscription, package, channel } => {
                write!(
                    f,
                    "use channel {channel} of package {package} in Subscription {subscription}"
                )
            }
            Self::UseCatalog { subscription, package, catalog } => write!(
                f,
                "take package {package} from CatalogSource {catalog} in Subscription {subscription}"
            ),
            Self::DropStartingCsv { subscription, pinned } => {
                let with_pin =
                    if *pinned { format!(" with annotation {PIN}") } else { String::new() };
                write!(
                    f,
                    "remove startingCSV{with_pin} from Subscription {subscription}, to start with the newest bundle"
                )
            }
            Self::AcceptAnyVersion { subscription } => write!(
                f,
                "remove what Subscription {subscription} declares about versions ({VERSION_RANGE}, {PIN})"
            ),
            Self::Resume { subscription, annotation } => {
                write!(f, "remove annotation {annotation} from Subscription {subscription}")
            }
            Self::DeleteCsv { csv } => write!(f, "delete the ClusterServiceVersion {csv}"),
            Self::AddCatalog(content) => {
                write!(f, "create a CatalogSource that provides {content}")
            }
            Self::UpgradeCluster { version } => {
                write!(f, "upgrade the cluster to Kubernetes {version} or newer")
            }
            Self::MoveSubscription { subscription, installed: None } => {
                write!(f, "move Subscription {subscription} to another namespace")
            }
            Self::MoveSubscription { subscription, installed: Some(csv) } => write!(
                f,
                "move Subscription {subscription} with ClusterServiceVersion {csv} to another namespace"
            ),
        }
    }
}

impl fmt::Display for MissingContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Package { name, range } => write!(f, "package {name} in version {range}"),
            Self::Api(api) => write!(f, "the API {} ({})", api.kind, api.api_version()),
            Self::Label(label) => write!(f, "a bundle with label {label}"),
        }
    }
}
