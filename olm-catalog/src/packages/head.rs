//! What the CSV at the head of a channel says.

use std::collections::{BTreeMap, BTreeSet};

use olm_types::api::{ClusterServiceVersion, CsvDescription};
use olm_types::document::{Budget, DocumentError, json_as};
use serde::Deserialize;
use serde_json::Value;

/// Largest CSV that is looked at, in bytes. The API server takes no object of that size.
const LARGEST: usize = 4 << 20;

/// Why a CSV says nothing.
#[derive(Debug, thiserror::Error)]
pub enum HeadError {
    /// The catalog gave no CSV: its bundles hold images only and no metadata.
    #[error("the catalog has no CSV for it")]
    Missing,
    /// It is too large.
    #[error("its CSV has {0} bytes, more than {LARGEST}: no API server takes it")]
    TooLarge(usize),
    /// It is not a CSV.
    #[error("its CSV cannot be read: {0}")]
    Malformed(#[from] DocumentError),
}

/// The CSV at the head of a channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// Its name.
    pub name: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// The rest, as packages show it.
    pub description: CsvDescription,
    /// Bytes of its text, each of which every channel shows whose head it is.
    pub bytes: usize,
}

impl Head {
    /// Reads the JSON text of a CSV.
    ///
    /// # Errors
    /// The text is empty, too large or no CSV.
    pub fn read(csv_json: &str) -> Result<Self, HeadError> {
        if csv_json.is_empty() {
            return Err(HeadError::Missing);
        }
        if csv_json.len() > LARGEST {
            return Err(HeadError::TooLarge(csv_json.len()));
        }
        let manifest: serde_json::Map<String, Value> = json_as(csv_json, &Budget::OBJECT)?;
        let manifest = Value::Object(manifest);
        let images = images(&manifest);
        let csv = ClusterServiceVersion::deserialize(&manifest).map_err(DocumentError::Json)?;
        Ok(Self {
            name: csv.metadata.name.clone().unwrap_or_default(),
            labels: csv.metadata.labels.clone().unwrap_or_default(),
            description: description(csv, images),
            bytes: csv_json.len(),
        })
    }
}

fn description(csv: ClusterServiceVersion, related_images: Vec<String>) -> CsvDescription {
    let spec = csv.spec;
    let text = |text: String| Some(text).filter(|text| !text.is_empty());
    CsvDescription {
        display_name: text(spec.display_name),
        icon: spec.icon,
        version: spec.version,
        provider: spec.provider,
        annotations: csv.metadata.annotations.unwrap_or_default(),
        keywords: spec.keywords,
        links: spec.links,
        maintainers: spec.maintainers,
        maturity: spec.maturity,
        description: spec.description,
        install_modes: spec.install_modes,
        customresourcedefinitions: spec.customresourcedefinitions,
        apiservicedefinitions: spec.apiservicedefinitions,
        native_apis: spec.native_apis,
        min_kube_version: spec.min_kube_version,
        related_images,
    }
}

/// The images of the Deployments and of `relatedImages`, sorted. v0 gives them in any order.
fn images(csv: &Value) -> Vec<String> {
    let list = |value: &Value, path: &str| -> Vec<Value> {
        value.pointer(path).and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let deployments = list(csv, "/spec/install/spec/deployments");
    let containers = deployments.iter().flat_map(|deployment| {
        ["containers", "initContainers"]
            .into_iter()
            .flat_map(|kind| list(deployment, &format!("/spec/template/spec/{kind}")))
    });
    let all = containers.chain(list(csv, "/spec/relatedImages"));
    let images = all.filter_map(|image| Some(image.get("image")?.as_str()?.to_owned()));
    images.collect::<BTreeSet<_>>().into_iter().collect()
}
