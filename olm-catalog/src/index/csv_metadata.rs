//! A CSV for user interfaces, made from `olm.csv.metadata` when the real one is in an image.

use serde_json::{Map, Value, json};

use crate::fbc::{Bundle, BundleContent};

/// Fields of the metadata and where they go in `spec`.
const SPEC_FIELDS: [(&str, &str); 12] = [
    ("apiServiceDefinitions", "apiservicedefinitions"),
    ("crdDescriptions", "customresourcedefinitions"),
    ("description", "description"),
    ("displayName", "displayName"),
    ("installModes", "installModes"),
    ("keywords", "keywords"),
    ("links", "links"),
    ("maintainers", "maintainers"),
    ("maturity", "maturity"),
    ("minKubeVersion", "minKubeVersion"),
    ("nativeAPIs", "nativeAPIs"),
    ("provider", "provider"),
];

/// JSON text of a CSV, cut where fields of `spec` that come from the package belong.
#[derive(Debug, Default)]
pub(super) struct MadeCsv {
    pub(super) front: String,
    pub(super) back: String,
    /// There is no description: that of the package is to be used.
    pub(super) describe: bool,
}

/// The CSV, when the bundle has exactly one `olm.csv.metadata` and no real CSV.
pub(super) fn csv(bundle: &Bundle, content: &BundleContent) -> Option<MadeCsv> {
    let [Value::Object(metadata)] = content.properties.csv_metadata.as_slice() else {
        return None;
    };
    if content.csv.is_some() {
        return None;
    }
    let mut head = Map::from_iter([("name".to_owned(), json!(bundle.name))]);
    copy(metadata, &[("annotations", "annotations"), ("labels", "labels")], &mut head);
    let spec = spec(metadata, bundle, content);
    let describe = !spec.contains_key("description");
    let front = format!(
        "{{\"apiVersion\":\"operators.coreos.com/v1alpha1\",\"kind\":\"ClusterServiceVersion\",\
         \"metadata\":{},\"spec\":{{",
        Value::Object(head)
    );
    // The spec is never empty, so what is put in front of it may end with a comma.
    let back = format!("{}}}", Value::Object(spec).to_string().strip_prefix('{')?);
    Some(MadeCsv { front, back, describe })
}

fn spec(
    metadata: &Map<String, Value>,
    bundle: &Bundle,
    content: &BundleContent,
) -> Map<String, Value> {
    let mut spec = Map::new();
    copy(metadata, &SPEC_FIELDS, &mut spec);
    let images = content.related_images.iter();
    let images: Vec<Value> =
        images.map(|image| json!({ "name": image.name, "image": image.image })).collect();
    if !images.is_empty() {
        spec.insert("relatedImages".to_owned(), Value::Array(images));
    }
    spec.insert("install".to_owned(), json!({ "strategy": "deployment" }));
    spec.insert("version".to_owned(), json!(bundle.version));
    spec
}

/// Copies what is there and not empty.
fn copy(from: &Map<String, Value>, fields: &[(&str, &str)], to: &mut Map<String, Value>) {
    for (source, target) in fields {
        let value = from.get(*source).filter(|value| !value.is_null() && **value != json!(""));
        if let Some(value) = value {
            to.insert((*target).to_owned(), value.clone());
        }
    }
}
