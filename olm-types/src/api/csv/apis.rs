//! The APIs that a ClusterServiceVersion provides (`owned`) and needs (`required`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::kind::null_is_empty;

/// Custom resources that an operator provides and requires.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct CustomResourceDefinitions {
    /// Definitions that come with the operator.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub owned: Vec<CrdDescription>,
    /// Definitions that must exist before the operator is installed.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<CrdDescription>,
}

/// A custom resource, by its definition, and how to present it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct CrdDescription {
    /// Name of the definition: `<plural>.<group>`.
    pub name: String,
    /// Version of the API.
    pub version: String,
    /// Kind of the custom resource.
    pub kind: String,
    /// Name of the kind for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// What the custom resource is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Resources that a custom resource of this kind brings about.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ApiResourceReference>,
    /// Fields of the status worth showing.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub status_descriptors: Vec<Descriptor>,
    /// Fields of the spec worth showing.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub spec_descriptors: Vec<Descriptor>,
    /// Actions that can be taken on a custom resource.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub action_descriptors: Vec<Descriptor>,
}

/// Aggregated APIs that an operator provides and requires.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct ApiServiceDefinitions {
    /// APIs that the operator serves.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub owned: Vec<ApiServiceDescription>,
    /// APIs that must be available before the operator is installed.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<ApiServiceDescription>,
}

/// An aggregated API, who serves it and how to present it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct ApiServiceDescription {
    /// Plural name of the resource.
    pub name: String,
    /// Group of the API.
    pub group: String,
    /// Version of the API.
    pub version: String,
    /// Kind of the resource.
    pub kind: String,
    /// Deployment of the install strategy that serves the API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deployment_name: Option<String>,
    /// Port of the container that serves the API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_port: Option<i32>,
    /// Name of the kind for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// What the resource is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Resources that an object of this kind brings about.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ApiResourceReference>,
    /// Fields of the status worth showing.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub status_descriptors: Vec<Descriptor>,
    /// Fields of the spec worth showing.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub spec_descriptors: Vec<Descriptor>,
    /// Actions that can be taken on an object.
    #[serde(deserialize_with = "null_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub action_descriptors: Vec<Descriptor>,
}

impl ApiServiceDescription {
    /// Name of the APIService: `<version>.<group>`.
    #[must_use]
    pub fn api_service_name(&self) -> String {
        format!("{}.{}", self.version, self.group)
    }
}

/// A kind of resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct ApiResourceReference {
    /// Name of the resource; for a custom resource the name of its definition.
    pub name: String,
    /// Kind of the resource.
    pub kind: String,
    /// Version of the API.
    pub version: String,
}

/// A field of spec or status, or an action: where it is and how to present it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Descriptor {
    /// Path of the field below spec or status.
    pub path: String,
    /// Name of the field for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// What the field means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Hints for user interfaces.
    #[serde(
        rename = "x-descriptors",
        deserialize_with = "null_is_empty",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub x_descriptors: Vec<String>,
    /// A value of the field. Bundles hold any JSON here; the API server accepts text only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub value: Option<Value>,
}

/// An API of the cluster itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct NativeApi {
    /// Group of the API; empty for the core group.
    pub group: String,
    /// Version of the API.
    pub version: String,
    /// Kind of the resource.
    pub kind: String,
}
