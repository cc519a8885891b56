//! PackageManifest: a package of a catalog, as the aggregated packages API presents it.
//!
//! Never stored in the cluster; computed from catalogs (spec catalog-operator 7).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kind::{kind, null_is_empty};
use super::{
    ApiServiceDefinitions, AppLink, CustomResourceDefinitions, Icon, InstallMode, Maintainer,
    NativeApi,
};

kind! {
    /// A package of a catalog.
    pub struct PackageManifest: "packages.operators.coreos.com" / "v1",
        "packagemanifests", NamespaceResourceScope {
        spec: PackageManifestSpec,
        status: PackageManifestStatus,
    }
}

/// Empty: a PackageManifest is not configured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PackageManifestSpec {}

/// The package, its channels and where it comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct PackageManifestStatus {
    /// Name of the CatalogSource.
    pub catalog_source: String,
    /// Name of the catalog for people.
    pub catalog_source_display_name: String,
    /// Who publishes the catalog.
    pub catalog_source_publisher: String,
    /// Namespace of the CatalogSource.
    pub catalog_source_namespace: String,
    /// Who publishes the package.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<AppLink>,
    /// Name of the package.
    pub package_name: String,
    /// Set when the package is deprecated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecation: Option<Deprecation>,
    /// Channels, sorted by name.
    #[serde(deserialize_with = "null_is_empty")]
    pub channels: Vec<PackageChannel>,
    /// Name of the channel that is followed when a Subscription names none.
    pub default_channel: String,
}

/// Says that something should not be used any more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Deprecation {
    /// Why, and what to use instead.
    pub message: String,
}

/// A channel of a package.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct PackageChannel {
    /// Name of the channel.
    pub name: String,
    /// Name of the ClusterServiceVersion at the head of the channel.
    #[serde(rename = "currentCSV")]
    pub current_csv: String,
    /// What that ClusterServiceVersion is.
    #[serde(rename = "currentCSVDesc", skip_serializing_if = "Option::is_none")]
    pub current_csv_desc: Option<CsvDescription>,
    /// Set when the channel is deprecated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecation: Option<Deprecation>,
    /// Entries of the channel, highest version first.
    #[serde(deserialize_with = "null_is_empty")]
    pub entries: Vec<ChannelEntry>,
}

/// An entry of a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct ChannelEntry {
    /// Name of the ClusterServiceVersion.
    pub name: String,
    /// Version of the ClusterServiceVersion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Set when the entry is deprecated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecation: Option<Deprecation>,
}

/// What people want to know of a ClusterServiceVersion before they install it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct CsvDescription {
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Pictures. Empty in lists; the `icon` subresource has them.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub icon: Vec<Icon>,
    /// Semantic version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Who publishes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<AppLink>,
    /// Annotations of the ClusterServiceVersion.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// Words to find it by.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// Further reading.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<AppLink>,
    /// Who maintains it.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub maintainers: Vec<Maintainer>,
    /// How mature it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maturity: Option<String>,
    /// Long description, often Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Which sets of namespaces it can watch.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub install_modes: Vec<InstallMode>,
    /// Custom resources that it provides and requires.
    #[serde(rename = "customresourcedefinitions", skip_serializing_if = "Option::is_none")]
    pub customresourcedefinitions: Option<CustomResourceDefinitions>,
    /// Aggregated APIs that it provides and requires.
    #[serde(rename = "apiservicedefinitions", skip_serializing_if = "Option::is_none")]
    pub apiservicedefinitions: Option<ApiServiceDefinitions>,
    /// APIs of the cluster itself that it requires.
    #[serde(
        rename = "nativeApis",
        deserialize_with = "null_is_empty",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub native_apis: Vec<NativeApi>,
    /// Lowest version of Kubernetes that it runs on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_kube_version: Option<String>,
    /// Pull references of images that it may pull.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub related_images: Vec<String>,
}
