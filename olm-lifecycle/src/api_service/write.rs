//! The APIService objects of a CSV (spec olm-operator 3.7, items 1 and 2).

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::ByteString;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use olm_effect::{Action, Effect, Propagation, Target};
use olm_types::api::{ApiServiceDescription, ClusterServiceVersion, CsvPhase};
use olm_types::owner::owner_by_label;
use olm_types::{labels, owner};
use serde_json::{Value, json};

use crate::certificates::{
    ServingCsv, ServingNames, ServingWrites, api_service_port, owned_api_services,
};
use crate::writes::resource_of;

/// Place of a new group among all groups; v0's value.
const GROUP_PRIORITY: i32 = 2000;

/// Place of a version in its group; v0's value.
const VERSION_PRIORITY: i32 = 15;

/// An APIService of this name belongs to another owner.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("pre-existing APIService {0} is not adoptable")]
pub struct NotAdoptable(pub String);

/// The writes of all owned API services; `trusted` has whom clients are to trust by the name of
/// the Deployment.
///
/// # Errors
/// When one exists that the CSV must not write.
pub fn writes(
    observed: &ServingCsv<'_>,
    trusted: &BTreeMap<String, Vec<u8>>,
) -> Result<ServingWrites, NotAdoptable> {
    let mut writes = ServingWrites::default();
    for api in owned_api_services(observed.csv) {
        let name = api.api_service_name();
        let target = Target::cluster(resource_of::<APIService>(), &name);
        let trusted = trusted.get(api.deployment_name.as_deref().unwrap_or_default());
        let spec = spec(observed, api, trusted.map(Vec::as_slice).unwrap_or_default());
        match observed.api_services.get(&name) {
            None => writes.creations.push(create(observed, target, spec)),
            Some(present) if is_adoptable(observed, present) => {
                let patch = json!({"metadata": {"labels": labels(observed)}, "spec": spec});
                let present = serde_json::to_value(present).ok();
                writes.updates.push(Effect::merge(target, patch, present));
            }
            Some(_) => return Err(NotAdoptable(name)),
        }
    }
    Ok(writes)
}

/// The certificates by which clients recognise the server of an API at this moment.
pub(crate) fn authority_of<'a>(
    observed: &ServingCsv<'a>,
    api: &ApiServiceDescription,
) -> Option<&'a [u8]> {
    let spec = observed.api_services.get(&api.api_service_name())?.spec.as_ref()?;
    spec.ca_bundle.as_ref().map(|ByteString(bytes)| bytes.as_slice())
}

/// The deletions of API services that are the CSV's and that its spec does not name any more.
pub fn removed(observed: &ServingCsv<'_>) -> Vec<Effect> {
    let named: BTreeSet<String> =
        owned_api_services(observed.csv).map(ApiServiceDescription::api_service_name).collect();
    let all = observed.serving.labelled_api_services.iter();
    let strays = all
        .filter(|service| service.metadata.deletion_timestamp.is_none())
        .filter(|service| !named.contains(service.metadata.name.as_deref().unwrap_or_default()));
    strays.map(|service| delete(service)).collect()
}

fn delete(service: &APIService) -> Effect {
    let name = service.metadata.name.as_deref().unwrap_or_default();
    let action = Action::Delete {
        uid: service.metadata.uid.clone(),
        propagation: Propagation::Background,
        grace_seconds: None,
    };
    Effect::new(Target::cluster(resource_of::<APIService>(), name), action)
}

/// A new one gets the annotations of the Subscription; an existing one keeps its own.
fn create(observed: &ServingCsv<'_>, target: Target, mut spec: Value) -> Effect {
    spec["groupPriorityMinimum"] = json!(GROUP_PRIORITY);
    spec["versionPriority"] = json!(VERSION_PRIORITY);
    let mut object = json!({
        "apiVersion": target.resource.api_version(),
        "kind": target.resource.kind,
        "metadata": {"name": target.name, "labels": labels(observed)},
        "spec": spec,
    });
    if let Some(wanted) = observed.overrides.annotations() {
        object["metadata"]["annotations"] = json!(wanted);
    }
    Effect::create(target, object)
}

fn spec(observed: &ServingCsv<'_>, api: &ApiServiceDescription, trusted: &[u8]) -> Value {
    let deployment = api.deployment_name.as_deref().unwrap_or_default();
    let names = ServingNames::new(observed.namespace(), deployment);
    json!({
        "group": api.group,
        "version": api.version,
        "service": {
            "namespace": observed.namespace(),
            "name": names.service(),
            "port": api_service_port(api),
        },
        "caBundle": ByteString(trusted.to_vec()),
    })
}

fn labels(observed: &ServingCsv<'_>) -> BTreeMap<String, String> {
    let kind = ClusterServiceVersion::KIND;
    let mut all = owner::owner_labels(observed.name(), observed.namespace(), kind);
    all.insert(labels::MANAGED.to_owned(), labels::MANAGED_VALUE.to_owned());
    all
}

/// Whether the CSV may write the APIService: it has been its own, or that of a CSV which makes way
/// for another, or that of a CSV which is gone. One without owner labels belongs to another owner.
pub fn is_adoptable(observed: &ServingCsv<'_>, service: &APIService) -> bool {
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

fn makes_way(observed: &ServingCsv<'_>, name: &str) -> bool {
    let mut siblings = observed.siblings.iter();
    let Some(owner) = siblings.find(|csv| csv.metadata.name.as_deref() == Some(name)) else {
        return false;
    };
    observed.csv.spec.replaces.as_deref() == Some(name)
        || matches!(owner.phase(), CsvPhase::Replacing | CsvPhase::Deleting)
}
