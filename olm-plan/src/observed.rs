//! The objects that were read, and the kinds that could not be read.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use olm_types::api::{
    CatalogSource, ClusterServiceVersion, InstallPlan, OperatorCondition, OperatorGroup,
    PackageManifest, Subscription,
};
use olm_types::labels::COPIED_FROM;
use serde_json::Value;

/// A kind that is read, in its plural as the API server names it.
pub type Plural = &'static str;

/// What a cluster holds, as far as it was read.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// The namespace that was looked at; none when it was all of them.
    pub home: Option<String>,
    /// All that were listed.
    pub subscriptions: Vec<Subscription>,
    /// All that were listed.
    pub install_plans: Vec<InstallPlan>,
    /// All that were listed, copies too; see [`Observed::own_csvs`].
    pub csvs: Vec<ClusterServiceVersion>,
    /// Of every namespace that Subscriptions name.
    pub catalog_sources: Vec<CatalogSource>,
    /// All that were listed.
    pub operator_groups: Vec<OperatorGroup>,
    /// All that were listed.
    pub operator_conditions: Vec<OperatorCondition>,
    /// As the packages API presents them.
    pub packages: Vec<PackageManifest>,
    /// All that were listed.
    pub deployments: Vec<Deployment>,
    /// All that were listed.
    pub pods: Vec<Pod>,
    /// The Deployments of every OLM in the cluster.
    pub olm_deployments: Vec<Deployment>,
    /// APIServices, webhook configurations, and the metadata of Secrets with certificates; CRDs of operators
    /// that are gone, with the Services that convert their objects. Each says its kind.
    pub others: Vec<Value>,
    /// CRDs that OLM has installed.
    pub crds: Vec<ObjectMeta>,
    /// Custom resources that are being deleted, of kinds whose operators are gone.
    pub held: Vec<HeldResource>,
    /// Packages by the namespace that sees them, where names were compared.
    pub visible_packages: BTreeMap<String, Vec<VisiblePackage>>,
    /// Sizes of InstallPlans and CSVs that were read.
    pub sizes: Vec<Size>,
    /// What the user may not do.
    pub denied: Vec<String>,
    /// Kinds that could not be read, and why. What follows from them is unknown, never absent.
    pub unread: BTreeMap<Plural, String>,
}

/// A package that a namespace sees.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VisiblePackage {
    /// Name of the package.
    pub package: String,
    /// Name of the catalog.
    pub catalog: String,
    /// Namespace of the catalog.
    pub catalog_namespace: String,
}

/// A custom resource that is being deleted and is held by finalizers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeldResource {
    /// Name of its CRD.
    pub crd: String,
    /// Its kind.
    pub kind: String,
    /// Its namespace; empty for one of the cluster.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// What holds it.
    pub finalizers: Vec<String>,
}

/// How large an object is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size {
    /// Its kind.
    pub kind: Plural,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Bytes of its JSON.
    pub bytes: usize,
}

impl Observed {
    /// CSVs that were installed where they are, without those that OLM copied from elsewhere.
    pub fn own_csvs(&self) -> impl Iterator<Item = &ClusterServiceVersion> {
        self.csvs.iter().filter(|csv| {
            let labels = csv.metadata.labels.as_ref();
            !labels.is_some_and(|labels| labels.contains_key(COPIED_FROM))
        })
    }

    /// The CSV of a namespace by its name; a copy is installed elsewhere, and is none.
    #[must_use]
    pub fn csv(&self, namespace: &str, name: &str) -> Option<&ClusterServiceVersion> {
        self.own_csvs().find(|csv| is(&csv.metadata, namespace, name))
    }

    /// The InstallPlan of a namespace by its name.
    #[must_use]
    pub fn install_plan(&self, namespace: &str, name: &str) -> Option<&InstallPlan> {
        self.install_plans.iter().find(|plan| is(&plan.metadata, namespace, name))
    }

    /// The InstallPlan that a Subscription's status points at.
    #[must_use]
    pub fn plan_of(&self, subscription: &Subscription) -> Option<&InstallPlan> {
        let reference = subscription.status.as_ref()?.install_plan_ref.as_ref()?;
        self.install_plan(namespace(&subscription.metadata), reference.name.as_deref()?)
    }

    /// The package that a Subscription asks for, in the catalog that it names.
    #[must_use]
    pub fn package_of(&self, subscription: &Subscription) -> Option<&PackageManifest> {
        let spec = &subscription.spec;
        self.packages.iter().find(|package| {
            let status = package.status.as_ref();
            status.is_some_and(|status| {
                status.package_name == spec.name
                    && status.catalog_source == spec.source
                    && status.catalog_source_namespace == spec.source_namespace
            })
        })
    }

    /// The version of a CSV: its own, or what a catalog says of it.
    #[must_use]
    pub fn version_of(&self, namespace: &str, csv: &str) -> Option<String> {
        let own = self.csv(namespace, csv).and_then(|csv| csv.spec.version.clone());
        own.or_else(|| {
            let statuses = self.packages.iter().filter_map(|package| package.status.as_ref());
            let mut entries =
                statuses.flat_map(|status| &status.channels).flat_map(|channel| &channel.entries);
            entries.find(|entry| entry.name == csv).and_then(|entry| entry.version.clone())
        })
    }
}

/// Whether these are namespace and name of an object.
#[must_use]
pub fn is(metadata: &ObjectMeta, namespace_: &str, name_: &str) -> bool {
    namespace(metadata) == namespace_ && name(metadata) == name_
}

/// The namespace of an object; empty when it has none.
#[must_use]
pub fn namespace(metadata: &ObjectMeta) -> &str {
    metadata.namespace.as_deref().unwrap_or_default()
}

/// When an object was created, RFC 3339.
#[must_use]
pub fn created(metadata: &ObjectMeta) -> Option<String> {
    metadata.creation_timestamp.as_ref().map(|time| time.0.to_string())
}

/// The name of an object; empty when it has none.
#[must_use]
pub fn name(metadata: &ObjectMeta) -> &str {
    metadata.name.as_deref().unwrap_or_default()
}
