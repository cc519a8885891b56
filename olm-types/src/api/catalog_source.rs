//! CatalogSource: where packages come from.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Affinity, Toleration};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Icon;
use super::kind::{kind, null_is_empty};

kind! {
    /// A catalog of packages.
    pub struct CatalogSource: "operators.coreos.com" / "v1alpha1", "catalogsources", NamespaceResourceScope {
        spec: CatalogSourceSpec,
        status: CatalogSourceStatus,
    }
}

/// The values of [`CatalogSourceSpec::source_type`].
pub mod source_type {
    /// A registry that is asked over gRPC.
    pub const GRPC: &str = "grpc";
    /// Manifests in a ConfigMap, served by a pod.
    pub const CONFIGMAP: &str = "configmap";
    /// Means the same as [`CONFIGMAP`].
    pub const INTERNAL: &str = "internal";
}

/// Where the catalog is and how to present it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct CatalogSourceSpec {
    /// How the catalog is reached: `grpc`, `configmap` or `internal`.
    pub source_type: String,
    /// Catalogs of higher priority are preferred.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// ConfigMap that holds the catalog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_map: Option<String>,
    /// Address `host:port` of a registry that runs already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Image of a registry or of a file-based catalog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Changes to the pod that serves the catalog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grpc_pod_config: Option<GrpcPodConfig>,
    /// When to look for a newer image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_strategy: Option<UpdateStrategy>,
    /// Names of pull secrets.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// Name of the catalog for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// What the catalog holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Who publishes the catalog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publisher: Option<String>,
    /// Picture of the catalog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon: Option<Icon>,
}

/// Changes to the pod that serves a catalog.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct GrpcPodConfig {
    // An empty map asks for any node, no map for one with Linux.
    /// Labels that a node must have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_selector: Option<BTreeMap<String, String>>,
    /// Taints that the pod tolerates.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<Toleration>,
    /// Where the pod may run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity: Option<Affinity>,
    /// Priority class of the pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_class_name: Option<String>,
    /// Security profile of the pod: `legacy` or `restricted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_context_config: Option<String>,
    /// Memory that the registry should stay below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_target: Option<Quantity>,
    /// Take the catalog out of the image instead of running the image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extract_content: Option<ExtractContentConfig>,
}

/// Where a catalog image keeps its content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct ExtractContentConfig {
    /// Directory of a pre-built cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_dir: Option<String>,
    /// Directory of the catalog.
    pub catalog_dir: String,
}

/// When to look for a newer image.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct UpdateStrategy {
    /// Look again and again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registry_poll: Option<RegistryPoll>,
}

/// How often to look for a newer image.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct RegistryPoll {
    /// Time between two looks as a Go duration, for example `15m`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<String>,
}

/// What was observed of a catalog.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct CatalogSourceStatus {
    /// What is wrong, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What is wrong, in one word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When a newer image was last looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest_image_registry_poll: Option<Time>,
    /// ConfigMap that the catalog was read from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_map_reference: Option<ConfigMapResourceReference>,
    /// Service in front of the catalog's pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registry_service: Option<RegistryServiceStatus>,
    /// Connection to the registry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_state: Option<GrpcConnectionState>,
    /// Generation of the spec that was taken into account last. v0's definition does not keep it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Conditions, by type.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// A version of a ConfigMap.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct ConfigMapResourceReference {
    /// Name of the ConfigMap.
    pub name: String,
    /// Namespace of the ConfigMap.
    pub namespace: String,
    /// Uid of the ConfigMap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// Resource version of the ConfigMap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
    /// When the ConfigMap was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_update_time: Option<Time>,
}

/// The Service in front of a catalog's pod.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct RegistryServiceStatus {
    /// Protocol of the registry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Name of the Service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_name: Option<String>,
    /// Namespace of the Service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_namespace: Option<String>,
    /// Port of the Service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
    /// When the Service was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Time>,
}

/// The connection to a registry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct GrpcConnectionState {
    /// Address of the registry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// State of the connection, for example `READY`.
    pub last_observed_state: String,
    /// When the state last changed.
    #[serde(rename = "lastConnect", skip_serializing_if = "Option::is_none")]
    pub last_connect: Option<Time>,
}
