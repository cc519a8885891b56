//! What a CatalogSource asks for.

use olm_types::api::{CatalogSource, source_type};
use olm_types::reasons::catalog_source as reasons;

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

/// The backend that a CatalogSource asks for (spec 1.2 step 1 and 1.3). An address wins over an
/// image only as the target of connections; with an image a server is made all the same.
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

/// Whether Subscriptions call the catalog healthy: its spec is valid and what serves it is as
/// wanted. An address is always as wanted; whether anything answers there is told by resolution.
pub fn is_healthy(catalog: &CatalogSource) -> bool {
    let reason =
        catalog.status.as_ref().and_then(|status| status.reason.as_deref()).unwrap_or_default();
    reason != reasons::SPEC_INVALID_ERROR && matches!(backend(catalog), Ok(Backend::Address(_)))
}
