//! A CSV for user interfaces, made from `olm.csv.metadata` when the real one is in an image.

use serde_json::{Map, Value, json};

use crate::fbc::{Bundle, Package};

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

/// JSON text of the CSV, when the bundle has exactly one `olm.csv.metadata` and no real CSV.
pub(super) fn csv(package: &Package, bundle: &Bundle) -> Option<String> {
    let [Value::Object(metadata)] = bundle.properties.csv_metadata.as_slice() else {
        return None;
    };
    if bundle.content.csv.is_some() {
        return None;
    }
    let mut head = Map::from_iter([("name".to_owned(), json!(bundle.name))]);
    copy(metadata, &[("annotations", "annotations"), ("labels", "labels")], &mut head);
    let csv = json!({
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": head,
        "spec": spec(metadata, package, bundle),
    });
    Some(csv.to_string())
}

fn spec(metadata: &Map<String, Value>, package: &Package, bundle: &Bundle) -> Map<String, Value> {
    let mut spec = Map::new();
    copy(metadata, &SPEC_FIELDS, &mut spec);
    if !spec.contains_key("description") && !package.description.is_empty() {
        spec.insert("description".to_owned(), json!(package.description));
    }
    if let Some(icon) = &package.icon {
        let icon = json!([{ "base64data": icon.base64data, "mediatype": icon.mediatype }]);
        spec.insert("icon".to_owned(), icon);
    }
    let images = bundle.related_images.iter();
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
