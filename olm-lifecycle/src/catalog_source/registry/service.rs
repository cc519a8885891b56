//! The Service in front of a registry Pod.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Service, ServicePort, ServiceSpec};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube_core::ResourceExt;
use olm_types::api::CatalogSource;
use olm_types::{hash, labels};
use serde_json::Value;

use super::super::spec::Backend;
use super::{PodError, managed, metadata, plain_owner};

/// Where registry servers listen.
pub const PORT: u16 = 50_051;

/// Shape of a Service's spec, for Go-compatible JSON.
const SHAPE: &str = "core/v1.ServiceSpec";

/// The name of a catalog's Service. Names of Services have no dots; v0 replaces them for catalog
/// images only.
pub fn service_name(catalog: &CatalogSource, backend: &Backend) -> String {
    match backend {
        Backend::Image => catalog.name_any().replace('.', "-"),
        Backend::ConfigMap | Backend::Address(_) => catalog.name_any(),
    }
}

pub(super) fn build(
    catalog: &CatalogSource,
    name: &str,
    selector: BTreeMap<String, String>,
) -> Result<Service, PodError> {
    let port = i32::from(PORT);
    let spec = ServiceSpec {
        ports: Some(vec![ServicePort {
            name: Some("grpc".to_owned()),
            port,
            target_port: Some(IntOrString::Int(port)),
            ..ServicePort::default()
        }]),
        selector: Some(selector),
        ..ServiceSpec::default()
    };
    let mut all = managed();
    all.insert(labels::SERVICE_SPEC_HASH.to_owned(), hash_of(&spec)?);
    let metadata = metadata(catalog, name, all, plain_owner(catalog));
    Ok(Service { metadata, spec: Some(spec), ..Service::default() })
}

/// The same Service for endpoints that no selector finds. Its hash is another one, by which OLM v0
/// sees that it is none of its own.
pub(super) fn without_selector(service: &Service) -> Result<Service, PodError> {
    let mut service = service.clone();
    if let Some(spec) = service.spec.as_mut() {
        spec.selector = None;
        let hash = hash_of(spec)?;
        service.labels_mut().insert(labels::SERVICE_SPEC_HASH.to_owned(), hash);
    }
    Ok(service)
}

fn hash_of(spec: &ServiceSpec) -> Result<String, PodError> {
    let value = serde_json::to_value(spec).unwrap_or(Value::Null);
    Ok(hash::deep_hash(&hash::go_json::encode(SHAPE, &value)?))
}
