//! What a CatalogSource asks for.

use kube_core::ResourceExt;
use olm_types::api::{CatalogSource, source_type};
use olm_types::reasons::catalog_source as reasons;

use super::registry::{PORT, service_name};

/// What serves a catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Backend {
    /// A registry server that runs already, at `host:port`.
    Address(String),
    /// A registry server made from a catalog image.
    Image,
    /// A registry server made from a ConfigMap.
    ConfigMap,
}

/// Why a spec asks for nothing that can be served; only a change of the spec helps.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecProblem {
    /// Source type ConfigMap without the name of one.
    #[error("configmap name unset: must be set for sourcetype: {0}")]
    NoConfigMap(String),
    /// Source type gRPC without image and address.
    #[error("image and address unset: at least one must be set for sourcetype: {0}")]
    NoServer(String),
    /// No known source type.
    #[error("unknown sourcetype: {0}")]
    UnknownType(String),
}

/// The backend that a CatalogSource asks for (spec catalog-operator 1.2 step 1 and 1.3). An address
/// wins over an image only as the target of connections; with an image a server is made all the
/// same.
pub fn backend(catalog: &CatalogSource) -> Result<Backend, SpecProblem> {
    let spec = &catalog.spec;
    let set = |field: &Option<String>| {
        field.as_deref().filter(|text| !text.is_empty()).map(str::to_owned)
    };
    match spec.source_type.as_str() {
        source_type::GRPC => match (set(&spec.image), set(&spec.address)) {
            (Some(_), _) => Ok(Backend::Image),
            (None, Some(address)) => Ok(Backend::Address(address)),
            (None, None) => Err(SpecProblem::NoServer(spec.source_type.clone())),
        },
        source_type::INTERNAL | source_type::CONFIGMAP => match set(&spec.config_map) {
            Some(_) => Ok(Backend::ConfigMap),
            None => Err(SpecProblem::NoConfigMap(spec.source_type.clone())),
        },
        other => Err(SpecProblem::UnknownType(other.to_owned())),
    }
}

/// Where the catalog is asked: at the address that its spec names, else at its Service.
pub fn dial_address(catalog: &CatalogSource, backend: &Backend) -> String {
    let address = catalog.spec.address.as_deref().filter(|address| !address.is_empty());
    if let Some(address) = address {
        return address.to_owned();
    }
    let namespace = catalog.namespace().unwrap_or_default();
    format!("{}.{namespace}.svc:{PORT}", service_name(catalog, backend))
}

/// Whether Subscriptions call the catalog healthy: its spec is valid and what serves it is as
/// wanted. An address is always as wanted; whether anything answers there is reported by
/// resolution.
pub(crate) fn is_healthy(catalog: &CatalogSource) -> bool {
    let status = catalog.status.as_ref();
    let reason = status.and_then(|status| status.reason.as_deref()).unwrap_or_default();
    let served = status.is_some_and(|status| status.registry_service.is_some());
    match backend(catalog) {
        Err(_) => false,
        Ok(Backend::Address(_)) => reason != reasons::SPEC_INVALID_ERROR,
        Ok(Backend::Image | Backend::ConfigMap) => served && !UNSERVED.contains(&reason),
    }
}

/// Reasons of a catalog whose server is not as wanted.
const UNSERVED: [&str; 3] =
    [reasons::SPEC_INVALID_ERROR, reasons::CONFIG_MAP_ERROR, reasons::REGISTRY_SERVER_ERROR];
