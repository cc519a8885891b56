//! The CSVs of the namespace as a virtual catalog (spec catalog-operator 3.2, "Virtual snapshot").

mod properties;
mod replacement;

use std::collections::BTreeMap;
use std::sync::Arc;

use olm_types::bundle::{CatalogKey, Entry};
use olm_types::version::Version;
use thiserror::Error;

use crate::request::{InstalledCsv, ResolutionRequest, SubscriptionFacts};

/// Name of the virtual catalog that holds the CSVs of the namespace.
pub const VIRTUAL_CATALOG: &str = "@existing";

/// The CSVs of the namespace, sorted by name.
#[derive(Clone, Debug)]
pub struct Installed {
    bundles: Vec<InstalledBundle>,
}

/// A CSV of the namespace as a bundle.
#[derive(Clone, Debug)]
pub struct InstalledBundle {
    /// The CSV in the form of a catalog entry of `@existing`, without channel and upgrade edges.
    pub entry: Arc<Entry>,
    /// Name of a Subscription that installed it.
    pub subscription: Option<String>,
    /// Why the CSV cannot be understood, if so: it then claims nothing.
    pub fault: Option<InstalledFault>,
}

/// CSVs of the namespace that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InstalledFault {
    /// The properties annotation, or the name of a CRD, does not parse.
    #[error("failed to retrieve properties of csv \"{csv}\": {reason}")]
    Unreadable {
        /// Name of the CSV.
        csv: String,
        /// What is wrong.
        reason: String,
    },
    /// Fail-forward: only the last CSV of a chain of replacements may be in another phase.
    #[error("csv {namespace}/{csv} in phase {phase} instead of Replacing")]
    NotReplacing {
        /// The namespace.
        namespace: String,
        /// Name of the CSV.
        csv: String,
        /// Its phase.
        phase: String,
    },
    /// Fail-forward: CSVs replace each other in a circle.
    #[error("csv {namespace}/{csv} has already been seen")]
    Circle {
        /// The namespace.
        namespace: String,
        /// Name of the CSV that was met twice.
        csv: String,
    },
}

impl Installed {
    /// Reads the CSVs of a request.
    pub fn read(request: &ResolutionRequest<'_>) -> Self {
        let csvs: BTreeMap<&str, &InstalledCsv> =
            request.installed.iter().map(|csv| (csv.name.as_str(), csv)).collect();
        let mut bundles = Vec::new();
        for csv in csvs.values() {
            let given_up = if request.fail_forward {
                replacement::is_given_up(request.namespace, csv, &csvs)
            } else {
                Ok(false)
            };
            if given_up != Ok(true) {
                bundles.push(bundle(request, csv, given_up.err()));
            }
        }
        Self { bundles }
    }

    /// What is wrong with the first one that cannot be understood.
    pub fn fault(&self) -> Option<&InstalledFault> {
        self.bundles.iter().find_map(|bundle| bundle.fault.as_ref())
    }

    /// All of them, sorted by name.
    pub fn bundles(&self) -> &[InstalledBundle] {
        &self.bundles
    }

    /// The CSV of this name.
    pub fn named(&self, name: &str) -> Option<&InstalledBundle> {
        self.bundles
            .binary_search_by(|bundle| (*bundle.entry.name).cmp(name))
            .ok()
            .and_then(|position| self.bundles.get(position))
    }
}

fn bundle(
    request: &ResolutionRequest<'_>,
    csv: &InstalledCsv,
    fault: Option<InstalledFault>,
) -> InstalledBundle {
    let subscriptions = subscriptions_of(request, &csv.name);
    let (properties, unreadable) = match properties::of(csv, &subscriptions) {
        Ok(properties) => (properties, None),
        Err(reason) => {
            (Vec::new(), Some(InstalledFault::Unreadable { csv: csv.name.clone(), reason }))
        }
    };
    let catalog = CatalogKey::new(request.namespace, VIRTUAL_CATALOG);
    let package = properties::package(&properties).unwrap_or_default();
    let entry = Entry::new(catalog, &package, "", &csv.name);
    let version = Some(csv.version.clone().unwrap_or_else(|| Version::new(0, 0, 0)));
    let entry = Entry { version, properties: properties.into(), ..entry };
    let subscription = subscriptions.iter().map(|subscription| subscription.name.clone()).min();
    InstalledBundle { entry: Arc::new(entry), subscription, fault: fault.or(unreadable) }
}

fn subscriptions_of<'a>(
    request: &'a ResolutionRequest<'_>,
    csv: &str,
) -> Vec<&'a SubscriptionFacts> {
    let owns =
        |subscription: &&SubscriptionFacts| subscription.installed_csv.as_deref() == Some(csv);
    request.subscriptions.iter().filter(owns).collect()
}
