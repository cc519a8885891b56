//! The three lists and their elements.

use std::collections::BTreeMap;

use olm_types::document::{self, Budget, Meter};
use serde::Deserialize;
use serde_json::Value;

use super::{CRDS, CSVS, LegacyProblem, PACKAGES, crds, go};

/// A CSV as v0 has it: type, metadata and `spec`.
#[derive(Clone, Debug)]
pub(super) struct Csv {
    pub(super) object: Value,
    /// Whether there is a `spec` at all.
    pub(super) has_spec: bool,
}

/// An element of the list of packages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct LegacyPackage {
    pub(super) package_name: String,
    pub(super) channels: Option<Vec<LegacyChannel>>,
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

impl Csv {
    /// The name of the CSV; empty when it has none.
    pub(super) fn name(&self) -> &str {
        self.object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default()
    }

    /// One of its annotations.
    pub(super) fn annotation(&self, name: &str) -> Option<&str> {
        self.object.pointer("/metadata/annotations")?.get(name)?.as_str()
    }
}

/// The CRDs.
///
/// # Errors
/// There is no list, or an element that is no CRD.
pub(super) fn crds(data: &BTreeMap<String, String>) -> Result<Vec<Value>, LegacyProblem> {
    elements(data, CRDS, crds::typed).map(|crds| crds.into_iter().map(|(_, crd)| crd).collect())
}

/// The CSVs, with numbers from 1.
///
/// # Errors
/// There is no list, or an element that is no object.
pub(super) fn csvs(data: &BTreeMap<String, String>) -> Result<Vec<(usize, Csv)>, LegacyProblem> {
    elements(data, CSVS, |value| {
        let has_spec = value.get("spec").is_some();
        Ok(Csv { object: go::csv(value)?, has_spec })
    })
}

/// The packages, with numbers from 1.
///
/// # Errors
/// There is no list, or an element that is no package.
pub(super) fn packages(
    data: &BTreeMap<String, String>,
) -> Result<Vec<(usize, LegacyPackage)>, LegacyProblem> {
    elements(data, PACKAGES, |value| {
        LegacyPackage::deserialize(go::typed("Package", value)?).map_err(|error| error.to_string())
    })
}

/// The elements of a list. One of another type spoils the list, as in v0.
fn elements<T>(
    data: &BTreeMap<String, String>,
    key: &'static str,
    read: impl Fn(&Value) -> Result<T, String>,
) -> Result<Vec<(usize, T)>, LegacyProblem> {
    let missing =
        || LegacyProblem::of_list(key, format!("couldn't find expected key {key} in configmap"));
    let text = data.get(key).ok_or_else(missing)?;
    let list = match document::first(text.as_bytes(), &mut Meter::in_all(Budget::BUNDLE)) {
        Ok(Value::Array(list)) => list,
        Ok(Value::Null) => Vec::new(),
        Ok(_) => return Err(LegacyProblem::of_list(key, "the value must be a list")),
        Err(error) => return Err(LegacyProblem::of_list(key, error.to_string())),
    };
    let element = |(number, value): (usize, &Value)| {
        let wrong = |message: String| {
            let name = value.pointer("/metadata/name").or_else(|| value.get("packageName"));
            let name = name.and_then(Value::as_str).unwrap_or_default();
            LegacyProblem::of_element(key, number, name, trimmed(&message))
        };
        Ok((number, read(value).map_err(wrong)?))
    };
    (1..).zip(&list).map(element).collect()
}

/// A message whose path is empty begins with what stands behind the path.
fn trimmed(message: &str) -> String {
    message.strip_prefix(": ").unwrap_or(message).to_owned()
}
