//! The objects of `deploy/`, read through its kustomizations.
//!
//! Only what our own bases use is understood: lists of files, and extra places of the image. So no
//! kustomize is needed to apply or to render them; a scenario compares with the real one.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use kube::ResourceExt;
use kube::api::DynamicObject;
use olm_tools::workspace;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Options;
use crate::operators::OLM_NAMESPACE;

/// Kinds in the order in which kustomize puts them: what others need comes first.
const ORDER: [&str; 9] = [
    "Namespace",
    "CustomResourceDefinition",
    "ServiceAccount",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "Service",
    "Deployment",
];

/// The folder `deploy/` of this checkout.
pub fn folder() -> PathBuf {
    workspace().join("deploy")
}

/// The definitions of OLM's kinds: `deploy/crds`, by name.
///
/// # Errors
///
/// When a file is missing or bad.
pub fn definitions() -> Result<Vec<DynamicObject>> {
    read(&folder().join("crds"))
}

/// Everything else: `deploy/base` with these options, in the order of need.
///
/// # Errors
///
/// When a file is missing or bad, or the number of replicas is negative.
pub fn objects(options: &Options) -> Result<Vec<DynamicObject>> {
    let mut objects = read(&folder().join("base"))?;
    for object in objects.iter_mut().filter(|object| kind(object) == "Deployment") {
        options.set_in(object)?;
    }
    if options.namespace == OLM_NAMESPACE {
        return Ok(objects);
    }
    objects.into_iter().map(|object| options.put_in_namespace(object)).collect()
}

/// The console for users who log in: `deploy/console`, in the order of need.
///
/// # Errors
///
/// When a file is missing or bad.
pub fn console() -> Result<Vec<DynamicObject>> {
    read(&folder().join("console"))
}

/// YAML for `kubectl apply`: the same text for the same objects.
///
/// # Errors
///
/// When an object cannot be written as YAML.
pub fn render(header: &str, objects: &[DynamicObject]) -> Result<String> {
    let mut text: String = header.lines().map(|line| format!("# {line}\n")).collect();
    for object in objects {
        // Through a value, whose fields are sorted.
        let value = serde_json::to_value(object).context("cannot render an object")?;
        let yaml = yaml_serde::to_string(&value);
        text.push_str("---\n");
        text.push_str(&yaml.with_context(|| format!("cannot render {}", object.name_any()))?);
    }
    Ok(text)
}

/// The kind of an object, empty when it has none.
pub fn kind(object: &DynamicObject) -> &str {
    object.types.as_ref().map_or("", |types| types.kind.as_str())
}

/// A `kustomization.yaml` of ours.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Kustomization {
    #[serde(rename = "apiVersion")]
    _api_version: String,
    #[serde(rename = "kind")]
    _kind: String,
    resources: Vec<String>,
    /// Say where [`Options`] sets the image.
    #[serde(default, rename = "configurations")]
    _configurations: Vec<String>,
}

fn read(dir: &Path) -> Result<Vec<DynamicObject>> {
    let file = dir.join("kustomization.yaml");
    let kustomizations: Vec<Kustomization> = documents(&file)?;
    let [kustomization] = kustomizations.as_slice() else {
        bail!("{} must hold one document", file.display());
    };
    let mut objects = Vec::new();
    for name in &kustomization.resources {
        objects.extend(documents::<DynamicObject>(&dir.join(name))?);
    }
    objects.sort_by_cached_key(|object| {
        let kind = kind(object).to_owned();
        let rank = ORDER.iter().position(|known| *known == kind).unwrap_or(ORDER.len());
        (rank, kind, object.namespace(), object.name_any())
    });
    Ok(objects)
}

/// Every document of a YAML file.
fn documents<T: DeserializeOwned>(file: &Path) -> Result<Vec<T>> {
    let text =
        fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let documents = yaml_serde::Deserializer::from_str(&text).map(T::deserialize);
    let documents: Result<Vec<T>, _> = documents.collect();
    documents.with_context(|| format!("{} is not what it should be", file.display()))
}
