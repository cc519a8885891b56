//! The CRDs of a ConfigMap, by what CSVs call them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::sync::Arc;

use olm_types::gvk::Gvk;
use serde_json::{Value, json};

use super::{CRDS, LegacyProblem, go};

/// What a CSV that owns a CRD must name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ApiKey {
    pub(super) gvk: Gvk,
    pub(super) plural: String,
}

/// A CRD of the ConfigMap.
#[derive(Debug)]
pub(super) struct Crd {
    /// As it is served.
    pub(super) text: String,
    /// What it provides, or why it is not one.
    pub(super) provides: Result<Vec<ApiKey>, String>,
}

/// The CRDs by each of their versions.
pub(super) type Crds = BTreeMap<ApiKey, Arc<Crd>>;

/// A CRD as v0 has it. The oldest form of CRDs has one version, outside the list of versions.
///
/// # Errors
/// A field has another type.
pub(super) fn typed(value: &Value) -> Result<Value, String> {
    let mut crd = go::crd(value)?;
    if !value.pointer("/spec/versions").is_some_and(Value::is_array) {
        add_version(&mut crd);
    }
    Ok(crd)
}

/// Takes CRDs; a version that is there already is reported and left out.
pub(super) fn read(objects: Vec<Value>, problems: &mut Vec<LegacyProblem>) -> Crds {
    let mut crds = Crds::new();
    for (number, object) in (1..).zip(objects) {
        let keys = keys(&object, "/spec/versions");
        let crd = Arc::new(Crd { provides: provides(&object), text: go::text(&object) });
        for key in keys {
            match crds.entry(key) {
                Entry::Vacant(place) => {
                    place.insert(Arc::clone(&crd));
                }
                Entry::Occupied(place) => {
                    let key = place.key();
                    let message = format!("can't add the same CRD twice in one configmap: {key}");
                    let name = text(&object, "/metadata/name");
                    problems.push(LegacyProblem::of_element(CRDS, number, &name, message));
                }
            }
        }
    }
    crds
}

impl fmt::Display for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Gvk { group, version, kind } = &self.gvk;
        write!(f, "{group}/{version}/{kind} ({})", self.plural)
    }
}

fn add_version(crd: &mut Value) {
    let version = text(crd, "/spec/version");
    if let Some(spec) = crd.get_mut("spec").and_then(Value::as_object_mut)
        && !version.is_empty()
    {
        let versions = json!([{ "name": version, "served": true, "storage": true }]);
        spec.insert("versions".to_owned(), versions);
    }
}

/// A key for each version in the list at `path`.
fn keys(crd: &Value, path: &str) -> Vec<ApiKey> {
    let versions = crd.pointer(path).and_then(Value::as_array).into_iter().flatten();
    versions.map(|version| key(crd, text(version, "/name"))).collect()
}

fn key(crd: &Value, version: String) -> ApiKey {
    let gvk = Gvk::new(text(crd, "/spec/group"), version, text(crd, "/spec/names/kind"));
    ApiKey { gvk, plural: text(crd, "/spec/names/plural") }
}

/// An object of another kind or version provides nothing; one of another group is refused.
fn provides(crd: &Value) -> Result<Vec<ApiKey>, String> {
    let (kind, api_version) = (text(crd, "/kind"), text(crd, "/apiVersion"));
    let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
    if kind != "CustomResourceDefinition" || !matches!(version, "v1" | "v1beta1") {
        return Ok(Vec::new());
    }
    if group != "apiextensions.k8s.io" {
        return Err(format!("error decoding {version} CRD: {api_version:?} is not its apiVersion"));
    }
    let mut keys = keys(crd, "/spec/versions");
    let old = text(crd, "/spec/version");
    if version == "v1beta1" && !old.is_empty() {
        keys.push(key(crd, old));
    }
    Ok(keys)
}

fn text(value: &Value, path: &str) -> String {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned()
}
