//! Real ClusterServiceVersions survive being read and written, and nothing in a published catalog costs as much
//! as it may.
//!
//! `OLM_CORPUS` names a directory of file-based catalogs whose bundles hold their manifests
//! (`olm.bundle.object`). Left out of the comparison are fields that v0 does not know, because the
//! API server prunes them, `apiVersion` and `kind`, which the type dictates, and nulls and empty
//! lists, maps and texts. Specs of Deployments are compared to the letter.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use olm_types::api::ClusterServiceVersion;
use olm_types::document::{self, Budget, Meter};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::not_run::not_run;
use crate::schema;

const INLINE_MANIFEST: &str = "olm.bundle.object";

/// The catalog files below a directory.
fn catalogs(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        match (path.is_dir(), extension) {
            (true, _) => found.extend(catalogs(&path)),
            (false, Some("json" | "yaml" | "yml")) => found.push(path),
            (false, _) => {}
        }
    }
    found
}

/// The blobs of a catalog file: a stream of JSON or YAML documents.
fn blobs(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    if !text.contains(INLINE_MANIFEST) {
        return Vec::new();
    }
    if path.extension().is_some_and(|extension| extension == "json") {
        return serde_json::Deserializer::from_str(&text).into_iter().map(Result::unwrap).collect();
    }
    yaml_serde::Deserializer::from_str(&text)
        .map(|document| Value::deserialize(document).unwrap())
        .collect()
}

/// The ClusterServiceVersions that a blob holds.
fn csvs(blob: &Value) -> Vec<Value> {
    let properties = blob["properties"].as_array().into_iter().flatten();
    let inline = properties.filter(|property| property["type"] == INLINE_MANIFEST);
    let manifests = inline.map(|property| {
        let data = property["value"]["data"].as_str().unwrap();
        let json = BASE64_STANDARD.decode(data).unwrap();
        serde_json::from_slice::<Value>(&json).unwrap()
    });
    manifests.filter(|manifest| manifest["kind"] == "ClusterServiceVersion").collect()
}

/// A value without the fields that the schema does not name, and without nothings.
fn known(value: &Value, schema: &Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(known_fields(fields, schema)),
        Value::Array(items) => items.iter().map(|item| known(item, &schema["items"])).collect(),
        other => other.clone(),
    }
}

fn known_fields(fields: &Map<String, Value>, schema: &Value) -> Map<String, Value> {
    let named = schema::properties(schema);
    let below =
        |name: &str| named.map_or(schema.get("additionalProperties"), |named| named.get(name));
    let keep = |(name, value): (&String, &Value)| Some((name.clone(), known(value, below(name)?)));
    fields.iter().filter_map(keep).filter(|(_, value)| !is_nothing(value)).collect()
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

fn deployment_specs(csv: &Value) -> Vec<&Value> {
    let deployments = csv.pointer("/spec/install/spec/deployments").and_then(Value::as_array);
    deployments.into_iter().flatten().map(|deployment| &deployment["spec"]).collect()
}

fn check(path: &Path, original: &Value, schema: &Value) {
    let name = format!("{} in {}", original["metadata"]["name"], path.display());
    let csv: ClusterServiceVersion =
        serde_json::from_value(original.clone()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let written = serde_json::to_value(csv).unwrap();
    for field in ["spec", "status"] {
        let below = &schema["properties"][field];
        assert_eq!(
            known(&original[field], below),
            known(&written[field], below),
            "{name}: {field}"
        );
    }
    for field in ["name", "namespace", "labels", "annotations"] {
        assert_eq!(
            original["metadata"].get(field),
            written["metadata"].get(field),
            "{name}: {field}"
        );
    }
    assert_eq!(deployment_specs(original), deployment_specs(&written), "{name}");
}

#[test]
fn corpus_csvs_round_trip() {
    let Some(corpus) = std::env::var_os("OLM_CORPUS") else {
        return not_run("OLM_CORPUS is unset");
    };
    let schema = schema::schema("ClusterServiceVersion", "v1alpha1");
    let mut count = 0;
    for path in catalogs(Path::new(&corpus)) {
        for csv in blobs(&path).iter().flat_map(csvs) {
            check(&path, &csv, &schema);
            count += 1;
        }
    }
    println!("{count} ClusterServiceVersions survived");
    assert!(count > 0, "{} holds no ClusterServiceVersion", Path::new(&corpus).display());
}

/// The most that anything of a kind costs.
#[derive(Debug, Default)]
struct HighestCosts {
    bytes: usize,
    values: usize,
    memory: usize,
}

impl HighestCosts {
    fn note(&mut self, bytes: usize, meter: &Meter) {
        self.bytes = self.bytes.max(bytes);
        self.values = self.values.max(meter.values());
        self.memory = self.memory.max(meter.memory());
    }

    /// Whether twice as much would still be within the budget.
    fn fits(&self, budget: &Budget) -> bool {
        2 * self.bytes < budget.bytes
            && 2 * self.values < budget.values
            && 2 * self.memory < budget.memory
    }
}

/// The texts of the manifests that a blob holds.
fn manifests(blob: &Value) -> Vec<Vec<u8>> {
    let properties = blob["properties"].as_array().into_iter().flatten();
    let inline = properties.filter(|property| property["type"] == INLINE_MANIFEST);
    let data = inline.filter_map(|property| property["value"]["data"].as_str());
    data.map(|data| BASE64_STANDARD.decode(data).unwrap()).collect()
}

/// Documents, bundles, manifests and properties of every catalog cost less than half of what they may.
#[test]
fn published_catalogs_need_a_part_of_their_budgets() {
    let Some(corpus) = std::env::var_os("OLM_CORPUS") else {
        return not_run("OLM_CORPUS is unset");
    };
    let [mut documents, mut bundles, mut objects, mut properties] = <[HighestCosts; 4]>::default();
    for path in catalogs(Path::new(&corpus)) {
        let mut meter = Meter::per_document(Budget::CATALOG);
        let text = std::fs::read(&path).unwrap();
        document::documents(text.as_slice(), &mut meter, |_, blob| {
            let blob = blob.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let text = blob.to_string();
            let mut meter = Meter::in_all(Budget::CATALOG);
            document::json(text.as_bytes(), &mut meter).unwrap();
            documents.note(text.len(), &meter);
            let (mut all, mut bytes) = (Meter::in_all(Budget::BUNDLE), 0);
            for manifest in manifests(&blob) {
                let mut meter = Meter::in_all(Budget::OBJECT);
                document::first(&manifest, &mut meter).unwrap();
                objects.note(manifest.len(), &meter);
                document::first(&manifest, &mut all).unwrap();
                bytes += manifest.len();
            }
            bundles.note(bytes, &all);
            for property in blob["properties"].as_array().into_iter().flatten() {
                let text = property["value"].to_string();
                let mut meter = Meter::in_all(Budget::PROPERTY);
                if property["type"] != INLINE_MANIFEST {
                    document::json(text.as_bytes(), &mut meter).unwrap();
                    properties.note(text.len(), &meter);
                }
            }
            ControlFlow::Continue(())
        });
    }
    println!(
        "documents {documents:?}\nbundles {bundles:?}\nobjects {objects:?}\nproperties {properties:?}"
    );
    assert!(documents.fits(&Budget::CATALOG), "{documents:?}");
    assert!(bundles.fits(&Budget::BUNDLE), "{bundles:?}");
    assert!(objects.fits(&Budget::OBJECT), "{objects:?}");
    assert!(properties.fits(&Budget::PROPERTY), "{properties:?}");
    assert!(documents.values > 0 && properties.values > 0);
}
