//! Whose an APIService is, and who may take it over.

use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use olm_types::api::{ClusterServiceVersion, CsvPhase};
use olm_types::owner::owner_by_label;

use crate::csv::Observed;

/// Whether the CSV may write the APIService: it has been its own, or that of a CSV which makes way
/// for another, or that of a CSV which is gone. One without owner labels belongs to another owner.
pub fn is_adoptable(observed: &Observed, service: &APIService) -> bool {
    let labels = service.metadata.labels.as_ref();
    let owner = labels.and_then(|labels| owner_by_label(labels, ClusterServiceVersion::KIND));
    let Some(owner) = owner else { return false };
    let name = service.metadata.name.as_deref().unwrap_or_default();
    if observed.serving.abandoned_api_services.contains(name) {
        return true;
    }
    owner.namespace == observed.namespace()
        && (owner.name == observed.name() || makes_way(observed, owner.name))
}

fn makes_way(observed: &Observed, name: &str) -> bool {
    let mut siblings = observed.siblings.iter();
    let Some(owner) = siblings.find(|csv| csv.metadata.name.as_deref() == Some(name)) else {
        return false;
    };
    let phase = owner.status.as_ref().map(|status| status.phase);
    observed.csv.spec.replaces.as_deref() == Some(name)
        || matches!(phase, Some(CsvPhase::Replacing | CsvPhase::Deleting))
}
