//! What a resolution is asked: the facts about one namespace, as values.

mod objects;

use olm_types::api::CsvPhase;
use olm_types::bundle::{CatalogKey, Property, Universe};
use olm_types::gvk::Gvk;
use olm_types::version::{Version, VersionRange};

/// One namespace to resolve. The order of the lists means nothing.
pub struct ResolutionRequest<'a> {
    /// The namespace; its own catalogs are preferred over global ones of equal priority.
    pub namespace: &'a str,
    /// Every catalog that is visible in the namespace: its own and, unless the OperatorGroup
    /// excludes them, the global ones.
    pub universe: &'a dyn Universe,
    /// The Subscriptions of the namespace.
    pub subscriptions: Vec<SubscriptionFacts>,
    /// Subscriptions for which nothing new is resolved for now. What they have installed counts as a CSV
    /// without a Subscription, and no other Subscription brings another bundle of their packages.
    pub held: Vec<SubscriptionFacts>,
    /// The ClusterServiceVersions of the namespace, without copied ones.
    pub installed: Vec<InstalledCsv>,
    /// Whether the OperatorGroup allows upgrades past failed CSVs (`TechPreviewUnsafeFailForward`).
    pub fail_forward: bool,
    /// Version of the Kubernetes API server, without what follows a `-`: bundles that need a newer
    /// one are not chosen. `None` as in OLM v0: it is not checked.
    pub cluster_version: Option<Version>,
}

impl<'a> ResolutionRequest<'a> {
    /// A request for a namespace without Subscriptions and CSVs.
    pub fn new(namespace: &'a str, universe: &'a dyn Universe) -> Self {
        Self {
            namespace,
            universe,
            subscriptions: Vec::new(),
            held: Vec::new(),
            installed: Vec::new(),
            fail_forward: false,
            cluster_version: None,
        }
    }
}

/// What matters of a Subscription, from which it is made with `From`. Empty strings of the object are `None` here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubscriptionFacts {
    /// `metadata.name`.
    pub name: String,
    /// `spec.name`: the package.
    pub package: String,
    /// `spec.channel`; without one any channel will do, the default channel first.
    pub channel: Option<String>,
    /// `spec.sourceNamespace` and `spec.source`; without them any visible catalog will do.
    pub catalog: Option<CatalogKey>,
    /// `spec.startingCSV`: the bundle to start with. Has no effect once something is installed.
    pub starting_csv: Option<String>,
    /// `status.installedCSV`. May name a CSV that does not exist; then the Subscription starts anew.
    pub installed_csv: Option<String>,
    /// `status.currentCSV`. Has no influence on the answer; for explanations.
    pub current_csv: Option<String>,
    /// Annotation `olm-rs.dev/pin`: `starting_csv` is what it asks for at all times.
    pub pinned: bool,
    /// Annotation `olm-rs.dev/version-range`: the only versions that it may get.
    pub version_range: Option<VersionRange>,
    /// Why nothing new is resolved for it, if so: the annotation that says so.
    pub held_by: Option<&'static str>,
}

impl SubscriptionFacts {
    /// Name of the bundle that it is pinned to.
    pub fn pin(&self) -> Option<&str> {
        self.starting_csv.as_deref().filter(|_| self.pinned)
    }
}

/// What matters of a ClusterServiceVersion that is in the namespace, from which it is made with
/// `From`.
#[derive(Clone, Debug, PartialEq)]
pub struct InstalledCsv {
    /// `metadata.name`.
    pub name: String,
    /// `spec.version`; unset counts as 0.0.0.
    pub version: Option<Version>,
    /// What the CSV offers and needs.
    pub properties: InstalledProperties,
    /// `status.phase`; matters for fail-forward upgrades only.
    pub phase: CsvPhase,
    /// `spec.replaces`; matters for fail-forward upgrades only.
    pub replaces: Option<String>,
}

impl InstalledCsv {
    /// A CSV that has succeeded, with nothing but its name.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            version: None,
            properties: InstalledProperties::Apis { provided: Vec::new(), required: Vec::new() },
            phase: CsvPhase::Succeeded,
            replaces: None,
        }
    }
}

/// Where the properties of an installed CSV come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstalledProperties {
    /// The annotation `operatorframework.io/properties`. It counts alone, even if it is empty.
    Annotated(Vec<Property>),
    /// No annotation: inferred from the CRDs and APIServices of the spec, and from the Subscription.
    Apis {
        /// APIs that the CSV owns.
        provided: Vec<Gvk>,
        /// APIs that the CSV requires.
        required: Vec<Gvk>,
    },
    /// The annotation, or the name of a CRD, does not parse, and why. Resolution fails with it.
    Unreadable(String),
}
