//! The objects that serve a catalog (spec catalog-operator 1.3 to 1.5 and 1.7): a Pod, the account
//! it runs as, the Service in front of it and two NetworkPolicies; for a catalog in a ConfigMap also
//! the right to read it.
//!
//! Names, labels, probes and hashes are v0's: a cluster that v0 managed is taken over without a
//! restart of its registry Pods.

mod account;
mod config_map;
mod extract;
mod memory;
mod pod;
mod policies;
mod security;
mod service;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{LocalObjectReference, Pod, Service, ServiceAccount};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube_core::ResourceExt;
use olm_types::api::CatalogSource;
use olm_types::{labels, owner};

use super::spec::Backend;

pub use account::name as account_name;
pub use config_map::config_map_name;
pub use memory::whole_bytes;
pub use pod::PodError;
pub(crate) use pod::pull_policy;
pub use service::{PORT, service_name};

/// With what registry servers are run: the flags of the operator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Image whose `opm` serves catalogs that were taken out of their image.
    pub opm_image: String,
    /// Image with the program that takes them out.
    pub util_image: String,
    /// Image whose `configmap-server` serves catalogs in ConfigMaps.
    pub config_map_server_image: String,
    /// User that restricted Pods run as; that of the image when this is none.
    pub user: Option<i64>,
}

/// The objects that serve one catalog, as they should be.
#[derive(Clone, Debug, PartialEq)]
pub struct DesiredObjects {
    /// Who may reach the server; then, what Pods that unpack bundles may reach.
    pub policies: [NetworkPolicy; 2],
    /// The account of the Pod.
    pub account: ServiceAccount,
    /// The right to read the ConfigMap, and its binding to the account.
    pub rights: Option<(Role, RoleBinding)>,
    /// The Pod. It has a prefix for a name.
    pub pod: Pod,
    /// The Service in front of the Pod.
    pub service: Service,
    /// The same Service in front of the operator.
    pub service_in_process: Service,
}

/// What the Pod depends on beside the CatalogSource.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Pull secrets of the account as it is in the cluster; none before it is there.
    pub pull_secrets: Option<Vec<LocalObjectReference>>,
    /// Whether the namespace admits only Pods of the standard `restricted`.
    pub restricted: bool,
    /// resourceVersion of the ConfigMap that is served.
    pub config_map_version: Option<String>,
}

/// The objects that serve a catalog from an image or a ConfigMap; nothing for one that is served
/// already.
///
/// # Errors
/// The Pod's spec has something that no Pod can have.
pub fn wanted(
    catalog: &CatalogSource,
    backend: &Backend,
    settings: &Settings,
    around: &Surroundings,
) -> Result<Option<DesiredObjects>, PodError> {
    match backend {
        Backend::Address(_) => Ok(None),
        Backend::Image => from_image(catalog, settings, around).map(Some),
        Backend::ConfigMap => config_map::wanted(catalog, settings, around).map(Some),
    }
}

fn from_image(
    catalog: &CatalogSource,
    settings: &Settings,
    around: &Surroundings,
) -> Result<DesiredObjects, PodError> {
    let account = account::for_image(catalog);
    let labels = catalog_labels(catalog);
    let image = catalog.spec.image.as_deref().unwrap_or_default();
    let secrets = around.pull_secrets.as_ref().or(account.image_pull_secrets.as_ref());
    let mut pod = pod::build(&pod::Inputs {
        catalog,
        settings,
        container: "registry-server",
        image,
        account: account.metadata.name.as_deref(),
        pull_secrets: secrets.map_or(&[], Vec::as_slice),
        labels: labels.clone(),
        readiness_delay: 5,
        liveness_delay: 10,
        restricted: around.restricted,
    })?;
    pod.metadata.owner_references = Some(vec![pod_owner(catalog)]);
    let policies = policies::both(catalog, &labels, policies::Egress::None);
    let service = service::build(catalog, &service_name(catalog, &Backend::Image), labels)?;
    Ok(DesiredObjects {
        policies,
        service_in_process: service::without_selector(&service)?,
        service,
        rights: None,
        account,
        pod,
    })
}

/// Labels of the Pod by which its Service finds it.
fn catalog_labels(catalog: &CatalogSource) -> BTreeMap<String, String> {
    let mut all = managed();
    all.insert(labels::CATALOG_SOURCE.to_owned(), catalog.name_any());
    all
}

/// The label that every object of ours has.
fn managed() -> BTreeMap<String, String> {
    BTreeMap::from([(labels::MANAGED.to_owned(), labels::MANAGED_VALUE.to_owned())])
}

/// Name, namespace, labels and owner of an object of a catalog.
fn metadata(
    catalog: &CatalogSource,
    name: &str,
    labels: BTreeMap<String, String>,
    owner: OwnerReference,
) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        namespace: catalog.namespace(),
        labels: Some(labels),
        owner_references: Some(vec![owner]),
        ..ObjectMeta::default()
    }
}

/// The owner reference of most objects: it neither controls nor blocks.
fn plain_owner(catalog: &CatalogSource) -> OwnerReference {
    owned_by(catalog, false, false)
}

/// The owner reference of Pods.
fn pod_owner(catalog: &CatalogSource) -> OwnerReference {
    owned_by(catalog, false, true)
}

fn owned_by(catalog: &CatalogSource, blocks: bool, controls: bool) -> OwnerReference {
    let uid = catalog.metadata.uid.as_deref().unwrap_or_default();
    let (version, kind) = (CatalogSource::API_VERSION, CatalogSource::KIND);
    owner::owner_reference(version, kind, &catalog.name_any(), uid, blocks, controls)
}
