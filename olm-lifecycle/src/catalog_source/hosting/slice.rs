//! The EndpointSlice of a catalog that the operator serves. Clients of the catalog's Service find the
//! operator's Pods through it, and replicas find which digest to have and at which port to listen.
//!
//! It belongs to the Service: whoever replaces the Service, as OLM v0 does with one that is not as it
//! wants it, is rid of it.

use std::net::IpAddr;

use k8s_openapi::api::core::v1::{ObjectReference, Service};
use k8s_openapi::api::discovery::v1::{Endpoint, EndpointConditions, EndpointPort, EndpointSlice};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_core::ResourceExt;
use olm_effect::Effect;
use olm_types::annotations::{CATALOG_DIGEST, CATALOG_IMAGE};
use olm_types::api::CatalogSource;
use olm_types::labels::{
    CATALOG_SOURCE, ENDPOINTS_MANAGED_BY, ENDPOINTS_MANAGER, MANAGED, MANAGED_VALUE, SERVICE_NAME,
};
use olm_types::owner;
use serde_json::{Map, Value, json};

use super::super::drift::{create, delete};
use super::{HostedContent, Hosting};
use crate::role_writes::change_of;
use crate::writes::target_of;

/// The name of the port in a catalog's Service.
const PORT_NAME: &str = "grpc";

/// A Pod of the operator.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Replica {
    /// Its address.
    pub address: IpAddr,
    /// Its node, if it has one.
    pub node: Option<String>,
    /// Whether it serves what it should.
    pub ready: bool,
    /// Whether it is on its way out.
    pub terminating: bool,
    /// Whether it serves the content that counts of the catalog in question; if not, no client is sent there.
    pub serves: bool,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// What the leader recorded about a catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The image that the spec named.
    pub image: String,
    /// Its digest.
    pub digest: String,
    /// The port at which the content is served.
    pub port: Option<u16>,
}

/// The name of the EndpointSlice of a Service.
pub fn slice_name(service: &str) -> String {
    format!("{service}-olm-rs")
}

/// Whether an EndpointSlice is one of ours.
pub fn is_ours(slice: &EndpointSlice) -> bool {
    slice.labels().get(ENDPOINTS_MANAGED_BY).is_some_and(|value| value == ENDPOINTS_MANAGER)
}

/// What is recorded in an EndpointSlice of ours.
pub fn record(slice: &EndpointSlice) -> Option<Record> {
    let noted = |key: &str| slice.annotations().get(key).cloned();
    let ports = slice.ports.iter().flatten();
    let port = ports.filter_map(|port| port.port).next().and_then(|port| u16::try_from(port).ok());
    let (image, digest) = noted(CATALOG_IMAGE).zip(noted(CATALOG_DIGEST))?;
    is_ours(slice).then_some(Record { image, digest, port })
}

/// The writes that make the EndpointSlice right; none before its Service is there.
pub(in super::super) fn ensure(
    catalog: &CatalogSource,
    service: Option<&Service>,
    hosting: &Hosting,
    content: &HostedContent,
    port: u16,
) -> Vec<Effect> {
    let Some(service) = service else { return Vec::new() };
    let desired = desired(catalog, service, hosting, content, port);
    let Some(present) = hosting.slice.as_deref() else { return vec![create(&desired)] };
    let owners = |slice: &EndpointSlice| {
        let uid = service.metadata.uid.as_deref().unwrap_or_default();
        owner::is_owned_by_uid(&slice.metadata, uid)
    };
    if present.address_type != desired.address_type || !owners(present) {
        // Neither can be changed, or stands for a Service that is gone.
        return vec![delete(present, None), create(&desired)];
    }
    let mut patch = Map::new();
    // The API server shows an empty list as none.
    if present.endpoints.as_deref().unwrap_or_default()
        != desired.endpoints.as_deref().unwrap_or_default()
    {
        patch.insert("endpoints".to_owned(), json!(desired.endpoints));
    }
    if present.ports != desired.ports {
        patch.insert("ports".to_owned(), json!(desired.ports));
    }
    let notes = missing_notes(&desired, present);
    let effect = change_of(target_of(&desired), &desired.metadata, &present.metadata, patch);
    annotated(effect, notes, &desired, present).into_iter().collect()
}

/// Annotations that are to be written.
fn missing_notes(desired: &EndpointSlice, present: &EndpointSlice) -> Map<String, Value> {
    let differs =
        |(key, value): &(&String, &String)| present.annotations().get(*key) != Some(*value);
    let missing = desired.annotations().iter().filter(differs);
    missing.map(|(key, value)| (key.clone(), json!(value))).collect()
}

/// A write with annotations.
fn annotated(
    effect: Option<Effect>,
    notes: Map<String, Value>,
    desired: &EndpointSlice,
    present: &EndpointSlice,
) -> Option<Effect> {
    if notes.is_empty() {
        return effect;
    }
    let mut patch = match effect.map(|effect| effect.action) {
        Some(olm_effect::Action::MergePatch { patch, .. }) => patch,
        _ => json!({"metadata": {"resourceVersion": present.metadata.resource_version}}),
    };
    if let Some(metadata) = patch.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("annotations".to_owned(), Value::Object(notes));
    }
    Some(Effect::merge(target_of(desired), patch, None))
}

fn desired(
    catalog: &CatalogSource,
    service: &Service,
    hosting: &Hosting,
    content: &HostedContent,
    port: u16,
) -> EndpointSlice {
    let name = service.name_any();
    let labels = [
        (SERVICE_NAME, name.as_str()),
        (ENDPOINTS_MANAGED_BY, ENDPOINTS_MANAGER),
        (MANAGED, MANAGED_VALUE),
        (CATALOG_SOURCE, &catalog.name_any()),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()));
    let notes = [(CATALOG_IMAGE, &content.image), (CATALOG_DIGEST, &content.digest)]
        .map(|(key, value)| (key.to_owned(), value.clone()));
    let uid = service.metadata.uid.as_deref().unwrap_or_default();
    let owner = owner::owner_reference("v1", "Service", &name, uid, false, false);
    let (family, endpoints) = endpoints(&hosting.replicas);
    EndpointSlice {
        metadata: ObjectMeta {
            name: Some(slice_name(&name)),
            namespace: catalog.namespace(),
            labels: Some(labels.into()),
            annotations: Some(notes.into()),
            owner_references: Some(vec![owner]),
            ..ObjectMeta::default()
        },
        address_type: family.to_owned(),
        endpoints: Some(endpoints),
        ports: Some(vec![EndpointPort {
            name: Some(PORT_NAME.to_owned()),
            port: Some(i32::from(port)),
            protocol: Some("TCP".to_owned()),
            ..EndpointPort::default()
        }]),
    }
}

/// Endpoints of one family of addresses, that of the first replica: those that serve the catalog.
fn endpoints(replicas: &[Replica]) -> (&'static str, Vec<Endpoint>) {
    let mut replicas = replicas.to_vec();
    replicas.sort();
    let is_v6 = replicas.first().is_some_and(|replica| replica.address.is_ipv6());
    let of_family = replicas.into_iter().filter(|replica| replica.address.is_ipv6() == is_v6);
    let endpoints = of_family.filter(|replica| replica.serves).map(|replica| Endpoint {
        addresses: vec![replica.address.to_string()],
        conditions: Some(EndpointConditions {
            ready: Some(replica.ready && !replica.terminating),
            serving: Some(replica.ready),
            terminating: Some(replica.terminating),
        }),
        node_name: replica.node,
        target_ref: Some(ObjectReference {
            kind: Some("Pod".to_owned()),
            namespace: Some(replica.namespace),
            name: Some(replica.name),
            ..ObjectReference::default()
        }),
        ..Endpoint::default()
    });
    (if is_v6 { "IPv6" } else { "IPv4" }, endpoints.collect())
}
