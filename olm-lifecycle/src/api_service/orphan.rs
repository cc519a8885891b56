//! API services whose CSV is gone (spec olm-operator 1.10).

use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use olm_effect::{Action, Effect, Propagation, Target};
use olm_types::api::ClusterServiceVersion;
use olm_types::owner::{OwnerName, owner_by_label};

use crate::writes::resource_of;

/// The deletion of an API service that says whose it is, when that CSV does not exist. While it
/// stays, namespaces cannot be deleted: no server answers for its API.
///
/// One that a CSV has in its spec is left to that CSV, which takes it over.
pub fn orphan(
    service: &APIService,
    exists: impl Fn(OwnerName<'_>) -> bool,
    is_provided: bool,
) -> Option<Effect> {
    let labels = service.metadata.labels.as_ref()?;
    let owner = owner_by_label(labels, ClusterServiceVersion::KIND)?;
    if is_provided || exists(owner) || service.metadata.deletion_timestamp.is_some() {
        return None;
    }
    let name = service.metadata.name.as_deref().unwrap_or_default();
    let action = Action::Delete {
        uid: service.metadata.uid.clone(),
        propagation: Propagation::Background,
        grace_seconds: None,
    };
    Some(Effect::new(Target::cluster(resource_of::<APIService>(), name), action))
}
