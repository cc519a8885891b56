//! The three lists and their elements.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{CRDS, CSVS, LegacyProblem, PACKAGES};
use crate::bundle::Manifest;
use crate::fbc::first_document;

/// What could be read.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// CRDs by name.
    pub(super) crds: BTreeMap<String, Manifest>,
    /// CSVs by name, with their numbers.
    pub(super) csvs: BTreeMap<String, (usize, Manifest)>,
    /// Packages with their numbers.
    pub(super) packages: Vec<(usize, LegacyPackage)>,
}

/// An element of the list of packages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct LegacyPackage {
    pub(super) package_name: String,
    pub(super) channels: Vec<LegacyChannel>,
    pub(super) default_channel: String,
}

/// A channel of a package.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct LegacyChannel {
    pub(super) name: String,
    /// Name of the newest CSV.
    #[serde(rename = "currentCSV")]
    pub(super) current_csv: String,
}

/// Reads all three. What is wrong is reported and left out.
pub(super) fn read(data: &BTreeMap<String, String>, problems: &mut Vec<LegacyProblem>) -> Lists {
    let mut lists = Lists::default();
    for (number, element) in elements(data, CRDS, problems) {
        match manifest(element, "CustomResourceDefinition") {
            Ok(crd) if lists.crds.contains_key(crd.name()) => {
                let message = "can't add the same CRD twice in one configmap";
                problems.push(LegacyProblem::of_element(CRDS, number, crd.name(), message));
            }
            Ok(crd) => drop(lists.crds.insert(crd.name().to_owned(), with_versions(crd))),
            Err(message) => problems.push(LegacyProblem::of_element(CRDS, number, "", message)),
        }
    }
    for (number, element) in elements(data, CSVS, problems) {
        match manifest(element, "ClusterServiceVersion") {
            Ok(csv) if lists.csvs.contains_key(csv.name()) => {
                let message = "there is another ClusterServiceVersion of this name before it";
                problems.push(LegacyProblem::of_element(CSVS, number, csv.name(), message));
            }
            Ok(csv) => drop(lists.csvs.insert(csv.name().to_owned(), (number, csv))),
            Err(message) => problems.push(LegacyProblem::of_element(CSVS, number, "", message)),
        }
    }
    for (number, element) in elements(data, PACKAGES, problems) {
        match LegacyPackage::deserialize(element) {
            Ok(package) => lists.packages.push((number, package)),
            Err(error) => {
                problems.push(LegacyProblem::of_element(PACKAGES, number, "", error.to_string()));
            }
        }
    }
    lists
}

/// The elements of a list, with numbers from 1.
fn elements(
    data: &BTreeMap<String, String>,
    key: &'static str,
    problems: &mut Vec<LegacyProblem>,
) -> Vec<(usize, Value)> {
    let parsed = match data.get(key) {
        None => Err(format!("couldn't find expected key {key} in configmap")),
        Some(text) => first_document(text.as_bytes()),
    };
    let list = match parsed {
        Ok(Value::Array(list)) => list,
        Ok(Value::Null) => Vec::new(),
        Ok(_) => {
            problems.push(LegacyProblem::of_list(key, "the value must be a list in YAML or JSON"));
            Vec::new()
        }
        Err(message) => {
            problems.push(LegacyProblem::of_list(key, message));
            Vec::new()
        }
    };
    (1..).zip(list).collect()
}

/// An element as a manifest. Its kind may be missing, since the list says what it is.
fn manifest(mut object: Value, kind: &str) -> Result<Manifest, String> {
    let Some(fields) = object.as_object_mut() else { return Err("no object".to_owned()) };
    fields.entry("kind").or_insert_with(|| json!(kind));
    let manifest = Manifest { file: String::new(), object };
    if manifest.kind() != kind {
        return Err(format!("the kind is {:?} and must be {kind:?}", manifest.kind()));
    }
    if manifest.name().is_empty() { Err("it has no name".to_owned()) } else { Ok(manifest) }
}

/// The oldest form of CRDs has one version, outside the list of versions.
fn with_versions(mut crd: Manifest) -> Manifest {
    if let Some(spec) = crd.object.get_mut("spec").and_then(Value::as_object_mut)
        && !spec.contains_key("versions")
        && let Some(version) = spec.get("version").cloned()
    {
        let versions = json!([{ "name": version, "served": true, "storage": true }]);
        spec.insert("versions".to_owned(), versions);
    }
    crd
}
