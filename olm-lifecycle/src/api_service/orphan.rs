//! API services whose CSV is gone (spec olm-operator 1.10).

use std::sync::Arc;

use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use olm_effect::{Action, Effect, Propagation, Target};
use olm_types::api::ClusterServiceVersion;
use olm_types::owner::{OwnerName, owner_by_label};

use crate::certificates::owned_api_services;
use crate::writes::resource_of;

/// An API service with the CSVs that may need it.
#[derive(Clone, Debug)]
pub struct Provided {
    /// The API service.
    pub service: Arc<APIService>,
    /// The CSV that its labels name ([`labelled_owner`]), if that exists.
    pub owner: Option<Arc<ClusterServiceVersion>>,
    /// CSVs whose spec names the API service, as owned or as required.
    pub named_by: Vec<Arc<ClusterServiceVersion>>,
}

/// The CSV that the labels of an API service name.
pub fn labelled_owner(service: &APIService) -> Option<OwnerName<'_>> {
    owner_by_label(service.metadata.labels.as_ref()?, ClusterServiceVersion::KIND)
}

/// The deletion of an API service whose labels name a CSV that does not exist. While it stays,
/// namespaces cannot be deleted: no server answers for its API.
///
/// One that a CSV owns by its spec is left to that CSV, which takes it over.
pub fn orphan(observed: &Provided) -> Option<Effect> {
    let metadata = &observed.service.metadata;
    let name = metadata.name.as_deref().unwrap_or_default();
    labelled_owner(&observed.service)?;
    let stays = observed.owner.is_some()
        || observed.named_by.iter().any(|csv| owns(csv, name))
        || metadata.deletion_timestamp.is_some();
    if stays {
        return None;
    }
    let action = Action::Delete {
        uid: metadata.uid.clone(),
        propagation: Propagation::Background,
        grace_seconds: None,
    };
    Some(Effect::new(Target::cluster(resource_of::<APIService>(), name), action))
}

fn owns(csv: &ClusterServiceVersion, name: &str) -> bool {
    owned_api_services(csv).any(|api| api.api_service_name() == name)
}
