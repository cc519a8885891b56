//! What an image says about itself.

use std::collections::BTreeMap;

use olm_types::document::{Budget, json_as};
use serde::Deserialize;

use super::ImageError;

/// Most bytes of a config.
pub(super) const CONFIG: u64 = 4 << 20;

/// Labels of an image, by name.
pub type Labels = BTreeMap<String, String>;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Document {
    config: Option<Execution>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Execution {
    #[serde(rename = "Labels")]
    labels: Option<Labels>,
}

/// The labels in a config.
pub(super) fn labels(config: &[u8]) -> Result<Labels, ImageError> {
    let document: Document = json_as(config, &Budget::PROPERTY).map_err(|error| {
        let what = "the image's config".to_owned();
        ImageError::Malformed { what, why: error.to_string() }
    })?;
    Ok(document.config.unwrap_or_default().labels.unwrap_or_default())
}
