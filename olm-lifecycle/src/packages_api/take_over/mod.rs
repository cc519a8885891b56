//! The end of v0's package server, which the CSV `packageserver` installed (spec olm-operator 7.5).
//!
//! Service, Secret and APIService have the same names here, so they stay and change hands: first
//! nothing ties them to the CSV any more, then the CSV goes, and with it the Deployment and the
//! rights that it brought.

use std::collections::BTreeMap;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use kube_core::Resource;
use olm_effect::{Action, Effect, Propagation, Target};
use olm_types::api::ClusterServiceVersion;
use olm_types::labels::{OWNER, OWNER_KIND, OWNER_NAMESPACE};
use serde_json::{Map, Value, json};

use super::Observed;
use super::{API_SERVICE, PODS, PREDECESSOR, SERVICE};
use crate::writes::{resource_of, target_of};

/// What takes over from v0's package server and ends it, in this order; nothing where there is
/// none. The caller serves the API already.
pub(super) fn take_over(observed: &Observed) -> Vec<Effect> {
    let predecessor = observed.predecessor.as_ref().filter(|csv| is_package_server(csv));
    let (Some(csv), Some(service), Some(api)) =
        (predecessor, &observed.service, &observed.api_service)
    else {
        return Vec::new();
    };
    if !leads_here(api, &observed.namespace) {
        return Vec::new();
    }
    let service = changed(service, json!({"spec": redirected(service, csv)}), csv);
    let secret = observed.secret.as_ref().and_then(|secret| changed(secret, json!({}), csv));
    [service, secret, unclaimed(api)].into_iter().flatten().chain([end(csv)]).collect()
}

/// Whether this is v0's package server: a live CSV of the name that provides the API. Another one of
/// that name belongs to another owner.
pub(crate) fn is_package_server(csv: &ClusterServiceVersion) -> bool {
    let apis = csv.spec.apiservicedefinitions.iter().flat_map(|apis| &apis.owned);
    csv.metadata.deletion_timestamp.is_none()
        && csv.metadata.name.as_deref() == Some(PREDECESSOR)
        && apis.into_iter().any(|api| api.api_service_name() == API_SERVICE)
}

fn leads_here(api: &APIService, namespace: &str) -> bool {
    let service = api.spec.as_ref().and_then(|spec| spec.service.as_ref());
    service.is_some_and(|service| {
        service.name.as_deref() == Some(SERVICE) && service.namespace.as_deref() == Some(namespace)
    })
}

/// The object with this change, and without the CSV among its owners: the garbage collector would
/// take it along. Guarded, as the list of owners is put as a whole.
fn changed<K>(object: &K, change: Value, csv: &ClusterServiceVersion) -> Option<Effect>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    let mut patch = change;
    let metadata = object.meta();
    let owners = metadata.owner_references.as_deref().unwrap_or_default();
    let is_other = |one: &&OwnerReference| Some(&one.uid) != csv.metadata.uid.as_ref();
    let others: Vec<_> = owners.iter().filter(is_other).collect();
    let is_owned = others.len() < owners.len();
    let is_changed = patch.get("spec").is_some_and(|spec| *spec != json!({}));
    if !is_owned && !is_changed {
        return None;
    }
    patch["metadata"] = json!({"resourceVersion": metadata.resource_version});
    if is_owned {
        patch["metadata"]["ownerReferences"] = json!(others);
    }
    Some(Effect::merge(target_of(object), patch, None))
}

/// The part of the Service's spec that leads to other Pods; empty when it does not lead to those of
/// the package server, as after an apply of our manifests.
fn redirected(service: &Service, csv: &ClusterServiceVersion) -> Value {
    let selector = service.spec.as_ref().and_then(|spec| spec.selector.clone()).unwrap_or_default();
    if selector.is_empty() || !selects(&selector, csv) {
        return json!({});
    }
    let mut keys: Map<String, Value> = selector.into_keys().map(|key| (key, Value::Null)).collect();
    keys.insert(PODS.0.to_owned(), json!(PODS.1));
    json!({ "selector": keys })
}

fn selects(selector: &BTreeMap<String, String>, csv: &ClusterServiceVersion) -> bool {
    let strategy = csv.spec.install.spec.iter();
    let deployments = strategy.flat_map(|strategy| &strategy.deployments);
    let mut labels = deployments.map(|one| one.spec.at("/template/metadata/labels"));
    labels.any(|labels| {
        let labels = labels.as_ref();
        let label = |key: &str| labels.and_then(|labels| labels.get(key)).and_then(Value::as_str);
        selector.iter().all(|(key, value)| label(key) == Some(value))
    })
}

/// The APIService without the labels of an owner: one whose owner is gone is deleted.
fn unclaimed(api: &APIService) -> Option<Effect> {
    let labels = api.metadata.labels.as_ref()?;
    let claims = [OWNER, OWNER_NAMESPACE, OWNER_KIND].into_iter();
    let claims: Map<String, Value> = claims
        .filter(|label| labels.contains_key(*label))
        .map(|label| (label.to_owned(), Value::Null))
        .collect();
    let patch = json!({"metadata": {"labels": claims}});
    let target = Target::cluster(resource_of::<APIService>(), API_SERVICE);
    (!claims.is_empty()).then(|| Effect::merge(target, patch, None))
}

fn end(csv: &ClusterServiceVersion) -> Effect {
    let uid = csv.metadata.uid.clone();
    let propagation = Propagation::Background;
    Effect::new(target_of(csv), Action::Delete { uid, propagation, grace_seconds: None })
}

#[cfg(test)]
mod tests;
