//! The ServiceAccounts of registry Pods.

use k8s_openapi::api::core::v1::{LocalObjectReference, ServiceAccount};
use kube_core::ResourceExt;
use olm_types::api::CatalogSource;

use super::super::spec::Backend;
use super::{managed, metadata, owned_by, plain_owner};

/// The name of the account that serves a catalog.
pub fn name(catalog: &CatalogSource, backend: &Backend) -> String {
    match backend {
        Backend::ConfigMap => format!("{}-configmap-server", catalog.name_any()),
        Backend::Image | Backend::Address(_) => catalog.name_any(),
    }
}

/// The account of a Pod that runs a catalog image: it brings the pull secrets.
pub(super) fn for_image(catalog: &CatalogSource) -> ServiceAccount {
    let secrets = catalog.spec.secrets.iter().filter(|secret| !secret.is_empty());
    let secrets: Vec<_> = secrets.map(|name| LocalObjectReference { name: name.clone() }).collect();
    let owner = owned_by(catalog, true, true);
    ServiceAccount {
        metadata: metadata(catalog, &name(catalog, &Backend::Image), managed(), owner),
        image_pull_secrets: (!secrets.is_empty()).then_some(secrets),
        ..ServiceAccount::default()
    }
}

/// The account of a Pod that reads a ConfigMap.
pub(super) fn for_config_map(catalog: &CatalogSource) -> ServiceAccount {
    let name = name(catalog, &Backend::ConfigMap);
    ServiceAccount {
        metadata: metadata(catalog, &name, managed(), plain_owner(catalog)),
        ..ServiceAccount::default()
    }
}
