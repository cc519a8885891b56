//! The Deployment that a strategy entry describes (spec olm-operator 3.3, 3.4).
//!
//! The spec stays JSON from the CSV to the API server, so that a field which this build does not
//! know reaches the cluster. The hash in the label covers the spec exactly as Go would print it,
//! so that an installation made by v0 is recognised as up to date.

use std::collections::BTreeMap;

use olm_types::api::{
    ClusterServiceVersion, ClusterServiceVersionSpec, STRATEGY_DEPLOYMENT, StrategyDeploymentSpec,
    StrategyDetailsDeployment,
};
use olm_types::tracking::is_tracking;
use olm_types::{hash, labels, owner};
use serde_json::{Map, Value, json};

use super::overrides::{Overrides, merge_variables};
use super::shape::{ShapeError, as_object, list_in, object_in};
use super::size::{MOST, MOST_APIS};

/// Shape of a Deployment's spec, for Go-compatible JSON.
const SPEC_SHAPE: &str = "apps/v1.DeploymentSpec";

/// Environment variable by which an operator finds its OperatorCondition.
const CONDITION_VARIABLE: &str = "OPERATOR_CONDITION_NAME";

/// Old ReplicaSets kept per Deployment; v0 forces this value.
const REVISION_HISTORY_LIMIT: i32 = 1;

/// Why no Deployment can be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeploymentError {
    /// A part of the spec has the wrong type.
    #[error("{0}")]
    Shape(#[from] ShapeError),
    /// The spec is not one that the API server would take.
    #[error("spec.install.spec.deployments[{name}].spec: {reason}")]
    Spec {
        /// Name of the strategy entry.
        name: String,
        /// What is wrong.
        reason: String,
    },
}

/// The whole Deployment, as it is to be written.
pub(crate) fn desired_deployment(
    csv: &ClusterServiceVersion,
    entry: &StrategyDeploymentSpec,
    overrides: &Overrides,
) -> Result<Value, DeploymentError> {
    let path = format!("spec.install.spec.deployments[{}].spec", entry.name);
    let mut spec = entry.spec.value();
    complete_spec(csv, overrides, &mut spec, &path)?;
    let encoded = hash::go_json::encode(SPEC_SHAPE, &spec).map_err(|error| {
        DeploymentError::Spec { name: entry.name.clone(), reason: error.to_string() }
    })?;
    let mut metadata = metadata(csv, entry, &hash::deep_hash(&encoded));
    overrides.annotate(as_object(&mut metadata, "metadata")?, "metadata")?;
    Ok(json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}))
}

/// The value of the hash label that a Deployment for this entry must carry.
pub(super) fn desired_hash(
    csv: &ClusterServiceVersion,
    entry: &StrategyDeploymentSpec,
    overrides: &Overrides,
) -> Result<String, DeploymentError> {
    let desired = desired_deployment(csv, entry, overrides)?;
    let label =
        desired.pointer("/metadata/labels").and_then(|all| all.get(labels::DEPLOYMENT_SPEC_HASH));
    Ok(label.and_then(Value::as_str).unwrap_or_default().to_owned())
}

/// Annotations of the CSV first, then what the Subscription asks for, then what no one may change.
fn complete_spec(
    csv: &ClusterServiceVersion,
    overrides: &Overrides,
    spec: &mut Value,
    path: &str,
) -> Result<(), ShapeError> {
    let spec = as_object(spec, path)?;
    spec.insert("revisionHistoryLimit".to_owned(), json!(REVISION_HISTORY_LIMIT));
    let template = object_in(spec, "template", path)?;
    let path = format!("{path}.template");
    annotate(csv, template, &path)?;
    overrides.apply(template, &path)?;
    let pod = object_in(template, "spec", &path)?;
    let path = format!("{path}.spec");
    let name = csv.metadata.name.as_deref().unwrap_or_default();
    let variable = [json!({"name": CONDITION_VARIABLE, "value": name})];
    for (index, container) in list_in(pod, "containers", &path)?.iter_mut().enumerate() {
        let path = format!("{path}.containers[{index}]");
        merge_variables(as_object(container, &path)?, &variable, &path)?;
    }
    Ok(())
}

/// The annotations of the CSV that its pods inherit, where the operator reads its target namespaces: all but
/// those by which a tool knows the CSV as its own.
pub(super) fn inherited_annotations(
    csv: &ClusterServiceVersion,
) -> impl Iterator<Item = (&String, &String)> {
    csv.metadata.annotations.iter().flatten().filter(|(key, _)| !is_tracking(key))
}

fn annotate(
    csv: &ClusterServiceVersion,
    template: &mut Map<String, Value>,
    path: &str,
) -> Result<(), ShapeError> {
    let metadata = object_in(template, "metadata", path)?;
    if csv.metadata.annotations.as_ref().is_none_or(BTreeMap::is_empty) {
        return Ok(());
    }
    let present = object_in(metadata, "annotations", &format!("{path}.metadata"))?;
    let inherited = inherited_annotations(csv);
    present.extend(inherited.map(|(key, value)| (key.clone(), json!(value))));
    Ok(())
}

fn metadata(csv: &ClusterServiceVersion, entry: &StrategyDeploymentSpec, hash: &str) -> Value {
    let name = csv.metadata.name.as_deref().unwrap_or_default();
    let namespace = csv.metadata.namespace.as_deref().unwrap_or_default();
    let uid = csv.metadata.uid.as_deref().unwrap_or_default();
    let kind = ClusterServiceVersion::KIND;
    let mut all: BTreeMap<String, String> = entry.label.clone();
    all.insert(labels::MANAGED.to_owned(), labels::MANAGED_VALUE.to_owned());
    all.insert(labels::DEPLOYMENT_SPEC_HASH.to_owned(), hash.to_owned());
    all.extend(owner::owner_labels(name, namespace, kind));
    json!({
        "name": entry.name,
        "namespace": namespace,
        "labels": all,
        "ownerReferences": [
            owner::non_blocking_owner(ClusterServiceVersion::API_VERSION, kind, name, uid)
        ],
    })
}

/// Why a CSV cannot be installed as it is written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StrategyError {
    /// The strategy has another name than `deployment`.
    #[error("unrecognized install strategy")]
    Unrecognized,
    /// The Deployments would be larger than memory is.
    #[error(
        "spec.install.spec.deployments: with the annotations of the CSV, and with spec.config of its \
         Subscription in each container, the Deployments take more than {MOST} bytes; describe fewer \
         Deployments and containers, or use fewer annotations"
    )]
    TooLarge,
    /// The API server would be asked about more APIs than a CSV may name.
    #[error(
        "spec.nativeAPIs and spec.apiservicedefinitions name {0} APIs, and may name {MOST_APIS}; each of them \
         is looked up again and again"
    )]
    TooManyApis(usize),
    /// A Deployment cannot be built from its description.
    #[error(transparent)]
    Deployment(#[from] DeploymentError),
}

/// The Deployments and permissions of the strategy; a strategy without details installs nothing.
pub fn strategy(
    spec: &ClusterServiceVersionSpec,
) -> Result<&StrategyDetailsDeployment, StrategyError> {
    static NOTHING: StrategyDetailsDeployment = StrategyDetailsDeployment {
        deployments: Vec::new(),
        permissions: Vec::new(),
        cluster_permissions: Vec::new(),
    };
    if spec.install.strategy != STRATEGY_DEPLOYMENT {
        return Err(StrategyError::Unrecognized);
    }
    Ok(spec.install.spec.as_ref().unwrap_or(&NOTHING))
}
