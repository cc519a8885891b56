//! Parts that present an operator to people: links, icons, maintainers, images.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A named link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct AppLink {
    /// Text of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// A person or group that maintains something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Maintainer {
    /// Name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Mail address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
}

/// A picture.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Icon {
    /// The picture in base64.
    pub base64data: String,
    /// Media type of the picture, for example `image/svg+xml`.
    pub mediatype: String,
}

/// An image that an operator may pull.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct RelatedImage {
    /// What the image is.
    pub name: String,
    /// Pull reference.
    pub image: String,
}
