//! What v0 leaves in a cluster: written down once, with v0 at work, and put into other clusters.
//!
//! A recording holds every object that v0 or its users made, with its status. What ends at some time
//! or differs from run to run has a name instead: addresses, and what belongs to the certificate of
//! the package server. Ids are those of the recorded cluster; [`restore`] exchanges them.

mod certificate;
mod restore;

use std::path::PathBuf;

use anyhow::{Context, Result};
use kube::Client;
use olm_tools::workspace;
use serde_json::{Map, Value};

use super::PACKAGES;
use crate::dump::Kinds;

pub use restore::restore;

/// The recording in this checkout.
const RECORDED: &str = include_str!("../recorded.json");

/// Where a catalog is served.
const ADDRESS: &str = "<address of the catalog>";

/// Namespaces that every cluster has. What OLM puts there says that it is OLM's.
const EVERYWHERE: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// Labels of what OLM made.
const OF_OLM: [&str; 2] = ["olm.managed", "olm.copiedFrom"];

/// Kinds that Kubernetes makes of others.
const DERIVED: [&str; 2] = ["ControllerRevision", "ReplicaSet"];

/// Objects that come with each namespace.
const OF_A_NAMESPACE: [(&str, &str); 2] =
    [("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")];

/// Fields of `metadata` that the API server sets; the uid stays, as others name it.
const SERVER_MANAGED: [&str; 4] =
    ["creationTimestamp", "generation", "managedFields", "resourceVersion"];

/// The objects of the recording in this checkout.
///
/// # Errors
/// It is no recording.
pub fn recorded() -> Result<Vec<Value>> {
    serde_json::from_str(RECORDED).context("the recording cannot be read")
}

/// Its file, for whoever records anew.
pub fn file() -> PathBuf {
    workspace().join("olm-testkit/src/take_over/recorded.json")
}

/// Everything that v0 and its users have in a cluster, with a catalog at this address.
///
/// # Errors
/// The objects cannot be listed.
pub async fn record(client: &Client, address: &str) -> Result<String> {
    let kinds = Kinds::discover_apart_from(client, &[PACKAGES]).await?;
    let mut objects = kinds.objects(client).await?;
    objects.retain(is_wanted);
    objects.sort_by_cached_key(|object| (rank(text(object, "/kind")), name(object)));
    objects.iter_mut().for_each(strip);
    certificate::forget(&mut objects)?;
    let lines: Result<Vec<String>, _> = objects.iter().map(serde_json::to_string).collect();
    let lines = lines.context("an object cannot be written")?.join(",\n");
    Ok(format!("[\n{}\n]\n", lines.replace(address, ADDRESS)))
}

fn is_wanted(object: &Value) -> bool {
    let kind = text(object, "/kind");
    let (namespace, name) = (text(object, "/metadata/namespace"), text(object, "/metadata/name"));
    let labels = object.pointer("/metadata/labels").and_then(Value::as_object);
    let has = |label: &str| labels.is_some_and(|labels| labels.contains_key(label));
    let of_olm = OF_OLM.iter().any(|label| has(label));
    let of_kubernetes = has("kubernetes.io/bootstrapping")
        || EVERYWHERE.contains(&namespace)
        || kind == "Namespace" && EVERYWHERE.contains(&name)
        || kind == "PriorityClass";
    let own_definition =
        kind == "CustomResourceDefinition" && name.ends_with(".operators.coreos.com");
    (of_olm || !of_kubernetes)
        && !own_definition
        && !DERIVED.contains(&kind)
        && !OF_A_NAMESPACE.contains(&(kind, name))
}

/// Takes out what the API server and Kubernetes' own controllers set.
fn strip(object: &mut Value) {
    let is_of_olm = text(object, "/apiVersion").starts_with("operators.coreos.com/");
    if !is_of_olm && let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    remove(object.pointer_mut("/metadata"), &SERVER_MANAGED);
    remove(object.pointer_mut("/spec"), &["clusterIP", "clusterIPs", "finalizers"]);
}

fn remove(fields: Option<&mut Value>, names: &[&str]) {
    let mut none = Map::new();
    let fields = fields.and_then(Value::as_object_mut).unwrap_or(&mut none);
    names.iter().for_each(|name| drop(fields.remove(*name)));
}

/// What others need comes first.
fn rank(kind: &str) -> usize {
    let first = ["Namespace", "CustomResourceDefinition", "ServiceAccount", "CatalogSource"];
    first.iter().position(|known| *known == kind).unwrap_or(first.len())
}

fn name(object: &Value) -> [String; 3] {
    ["/kind", "/metadata/namespace", "/metadata/name"].map(|field| text(object, field).to_owned())
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
