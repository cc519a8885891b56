//! The version of Kubernetes that a bundle needs: `olm.kubeversion`, and `minKubeVersion` of
//! `olm.csv.metadata` in catalogs that give it.
//!
//! OLM v0 does not look, and lets the CSV wait for ever. This source looks only when the request
//! says the version of the cluster.

use std::sync::Arc;

use olm_types::bundle::Property;
use olm_types::document::{Budget, json_as};
use olm_types::version::Version;
use serde::Deserialize;

use crate::constraint::{ConstraintError, PropertyLocation};
use crate::error::Fault;
use crate::problem::{Bundle, BundleRef, ClusterNeed, Problem, Reason, Rule, VariableId};
use crate::source::{ConstraintSource, Scope};

/// The oldest version of Kubernetes that the bundle runs on.
const KUBE_VERSION: &str = "olm.kubeversion";

/// Parts of a CSV, in catalogs that do not hold manifests.
const CSV_METADATA: &str = "olm.csv.metadata";

/// Prohibits bundles that need a newer Kubernetes than the cluster has.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClusterVersion;

impl ConstraintSource for ClusterVersion {
    fn of_bundle(
        &self,
        variable: VariableId,
        bundle: &Arc<Bundle>,
        scope: &mut Scope<'_>,
        problem: &mut Problem,
    ) -> Result<(), Vec<Fault>> {
        let Some(server) = scope.cluster_version().filter(|_| !bundle.is_installed()) else {
            return Ok(());
        };
        let mut faults = Vec::new();
        for (index, property) in bundle.entry.properties.iter().enumerate() {
            match needed(property) {
                Ok(Some(needed)) if needed > *server => {
                    let need = ClusterNeed { needed, server: server.clone() };
                    let reason = Reason::ClusterVersion(Arc::new(need));
                    problem.state(Rule::Prohibited(variable), reason);
                }
                Ok(_) => {}
                Err(reason) => faults.push(fault(bundle, (index, property), reason)),
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }
}

/// Value of `olm.kubeversion`.
#[derive(Deserialize)]
struct KubeVersion {
    version: String,
}

/// The part of `olm.csv.metadata` that matters.
#[derive(Deserialize)]
struct CsvMetadata {
    #[serde(default, rename = "minKubeVersion")]
    min_kube_version: String,
}

/// What a property says, or why it says nothing that can be understood.
fn needed(property: &Property) -> Result<Option<Version>, String> {
    let text = match &*property.kind {
        KUBE_VERSION => {
            let value: KubeVersion = json_as(&*property.value, &Budget::PROPERTY)
                .map_err(|error| format!("{error}: it must be like {{\"version\":\"1.29.0\"}}"))?;
            value.version
        }
        CSV_METADATA => match json_as::<CsvMetadata>(&*property.value, &Budget::PROPERTY) {
            Ok(value) => value.min_kube_version,
            Err(error) => return Err(error.to_string()),
        },
        _ => return Ok(None),
    };
    if text.is_empty() {
        return Ok(None);
    }
    let version = Version::parse_tolerant(&text);
    version.map(Some).map_err(|error| format!("version {text:?} does not parse: {error}"))
}

fn fault(bundle: &Bundle, (index, property): (usize, &Property), reason: String) -> Fault {
    let source = ConstraintError::Other(reason);
    Fault::Property {
        bundle: Box::new(BundleRef::from(&*bundle.entry)),
        property: property.kind.to_string(),
        place: PropertyLocation::of(&source, index, &property.value),
        source,
    }
}
