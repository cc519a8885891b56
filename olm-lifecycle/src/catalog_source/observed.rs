//! What is known about a CatalogSource before anything is decided.

use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{LocalObjectReference, Pod, Service, ServiceAccount};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use olm_types::api::CatalogSource;
use olm_types::owner;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::hosting::Hosting;

/// A CatalogSource and everything that its status depends on.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The CatalogSource.
    pub catalog: Arc<CatalogSource>,
    /// What serves it now.
    pub server: Present,
    /// The ConfigMap that it names.
    pub config_map: ConfigMapFound,
    /// Its connection, if there is one, or why there cannot be one.
    pub connection: Result<Option<Connection>, String>,
    /// Since when this operator acts: its start, or when it took the Lease.
    pub acting_since: Timestamp,
    /// What was read over the connection.
    pub content: Content,
    /// The digest that its image has in the registry, or why that is not known. Only asked for
    /// when a poll is due, and only with `--catalog-polling=digest`.
    pub digest: Option<Result<String, String>>,
    /// The version of the API server, for image templates.
    pub server_version: Option<String>,
    /// What the operator serves of it itself; none with `--catalogs=pod`.
    pub hosting: Option<Hosting>,
}

/// The objects that serve a catalog, as they are.
#[derive(Clone, Debug, Default)]
pub struct Present {
    /// The ServiceAccount.
    pub account: Option<Arc<ServiceAccount>>,
    /// The Service.
    pub service: Option<Arc<Service>>,
    /// The NetworkPolicies that there are.
    pub policies: Vec<Arc<NetworkPolicy>>,
    /// The Role.
    pub role: Option<Arc<Role>>,
    /// The RoleBinding.
    pub binding: Option<Arc<RoleBinding>>,
    /// Pods with the catalog's label, or with that of Pods that look for a newer image.
    pub pods: Vec<Arc<Pod>>,
    /// Whether the namespace admits only Pods of the standard `restricted`.
    pub restricted: bool,
}

/// The ConfigMap that a CatalogSource names.
#[derive(Clone, Debug, Default)]
pub enum ConfigMapFound {
    /// The catalog is in none.
    #[default]
    NotNeeded,
    /// It has the label by which it is watched.
    Watched(ObjectMeta),
    /// It lacks that label.
    Unwatched(ObjectMeta),
    /// It is unavailable, and why.
    Missing(String),
}

/// The connection to a registry server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Where it goes.
    pub address: String,
    /// IDLE, CONNECTING, READY, TRANSIENT_FAILURE or SHUTDOWN.
    pub state: String,
    /// Since when it is in that state.
    pub since: Timestamp,
}

/// What was read of a catalog.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// When it was last read completely; none when it never was.
    pub read_at: Option<Timestamp>,
    /// Channel entries that were read then.
    pub entries: usize,
    /// Why it could not be read since.
    pub problem: Option<String>,
    /// Whether nothing is resolved with what was read before (`--unhealthy-catalogs=block`).
    pub blocks: bool,
    /// Why the packages API does not show all of it.
    pub hidden: Option<String>,
}

/// Whether an object that stands under the name of one of ours belongs to another owner.
pub fn foreign(object: &Value, catalog: &CatalogSource) -> bool {
    let uid = catalog.metadata.uid.as_deref().unwrap_or_default();
    let metadata = object.get("metadata").and_then(|value| ObjectMeta::deserialize(value).ok());
    metadata.is_none_or(|metadata| !owner::is_owned_by_uid(&metadata, uid))
}

/// Takes in an object that was found beside what is watched.
pub fn include(present: &mut Present, object: Value) {
    match object.get("kind").and_then(Value::as_str) {
        Some("Service") => present.service = read(&object).or(present.service.take()),
        Some("NetworkPolicy") => present.policies.extend(read(&object)),
        Some("Role") => present.role = read(&object).or(present.role.take()),
        Some("RoleBinding") => present.binding = read(&object).or(present.binding.take()),
        _ => {}
    }
}

fn read<K: DeserializeOwned>(object: &Value) -> Option<Arc<K>> {
    K::deserialize(object).ok().map(Arc::new)
}

impl Present {
    pub(super) fn pull_secrets(&self) -> Option<Vec<LocalObjectReference>> {
        let account = self.account.as_ref()?;
        Some(account.image_pull_secrets.clone().unwrap_or_default())
    }
}

impl ConfigMapFound {
    /// The metadata of a ConfigMap that is there.
    pub(super) fn metadata(&self) -> Option<&ObjectMeta> {
        match self {
            Self::Watched(metadata) | Self::Unwatched(metadata) => Some(metadata),
            Self::NotNeeded | Self::Missing(_) => None,
        }
    }
}
