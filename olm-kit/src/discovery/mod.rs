//! Which kinds the API server serves.
//!
//! Kinds are looked up per group and version and kept. A kind that is not there is looked up again
//! at most once per [`REFRESH_AFTER`], since a CustomResourceDefinition may have been added; a kind
//! that is there stays known, and the API server answers 404 should it go.

mod optional;
mod server_version;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{APIResource, APIResourceList};
use kube::Client;
use olm_effect::Resource;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::path::segment;

pub use optional::{Optional, OptionalKind};
pub use server_version::{BELIEVED_FOR, ServerVersion};

/// Shortest time between two look-ups of one group and version.
pub const REFRESH_AFTER: Duration = Duration::from_secs(3);

/// Why discovery failed.
#[derive(Debug, thiserror::Error)]
pub enum DiscoveryError {
    /// The kinds of a group and version cannot be listed.
    #[error("cannot list the kinds of {api_version}")]
    Kinds {
        /// `group/version`, or the bare version for the core group.
        api_version: String,
        /// What went wrong.
        #[source]
        source: Box<kube::Error>,
    },
    /// An object cannot be read.
    #[error("cannot read {kind} {name}")]
    Object {
        /// Its kind.
        kind: String,
        /// Its name.
        name: String,
        /// What went wrong.
        #[source]
        source: Box<kube::Error>,
    },
    /// The version of the API server cannot be read.
    #[error("cannot read the version of the API server")]
    Version(#[source] Box<kube::Error>),
}

/// A kind that the API server serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKind {
    /// Group, version, kind and plural.
    pub resource: Resource,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

/// Groups and versions that are remembered. They may come from manifests of a catalog; when there
/// are more, everything is forgotten and looked up anew.
const REMEMBERED: usize = 1024;

/// The kinds that the API server serves, looked up when asked for. Clones share what is known.
#[derive(Clone)]
pub struct ApiKinds {
    client: Client,
    groups: Arc<Mutex<BTreeMap<String, Group>>>,
}

/// What is known of one group and version. Locked during a look-up, so that many who miss the same
/// kind cause one look-up, and a group that does not answer holds up no other.
type Group = Arc<tokio::sync::Mutex<Option<Known>>>;

struct Known {
    at: Instant,
    kinds: BTreeMap<String, ApiKind>,
}

impl ApiKinds {
    /// Asks with `client`.
    pub fn new(client: Client) -> Self {
        Self { client, groups: Arc::default() }
    }

    /// The kind, or `None` when the API server does not serve it.
    ///
    /// # Errors
    /// When the API server cannot be asked; that says nothing about the kind.
    pub async fn resolve(
        &self,
        group: &str,
        version: &str,
        kind: &str,
    ) -> Result<Option<ApiKind>, DiscoveryError> {
        let api_version = Resource::new(group, version, kind, "").api_version();
        if (!group.is_empty() && segment("API group", group).is_err())
            || segment("API version", version).is_err()
        {
            return Ok(None);
        }
        let known = self.group(&api_version);
        let mut known = known.lock().await;
        if let Some(known) = &*known {
            let found = known.kinds.get(kind).cloned();
            if found.is_some() || known.at.elapsed() < REFRESH_AFTER {
                return Ok(found);
            }
        }
        let kinds = self.look_up(group, version, &api_version).await?;
        let found = kinds.get(kind).cloned();
        *known = Some(Known { at: Instant::now(), kinds });
        Ok(found)
    }

    /// Whether the API server serves the group and version, with whatever kinds.
    ///
    /// # Errors
    /// When the API server cannot be asked.
    pub async fn serves(&self, group: &str, version: &str) -> Result<bool, DiscoveryError> {
        // No kind has this name, so what is known is fresh afterwards.
        self.resolve(group, version, "").await?;
        let known = self.group(&Resource::new(group, version, "", "").api_version());
        let served = known.lock().await.as_ref().is_some_and(|known| !known.kinds.is_empty());
        Ok(served)
    }

    fn group(&self, api_version: &str) -> Group {
        let mut groups = self.groups.lock();
        if groups.len() >= REMEMBERED && !groups.contains_key(api_version) {
            groups.clear();
        }
        groups.entry(api_version.to_owned()).or_default().clone()
    }

    async fn look_up(
        &self,
        group: &str,
        version: &str,
        api_version: &str,
    ) -> Result<BTreeMap<String, ApiKind>, DiscoveryError> {
        let answer = if group.is_empty() {
            self.client.list_core_api_resources(version).await
        } else {
            self.client.list_api_group_resources(api_version).await
        };
        match answer {
            Ok(list) => Ok(kinds(group, version, list)),
            // An absent group is answered in plain text, so only the code counts.
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(BTreeMap::new()),
            Err(source) => Err(DiscoveryError::Kinds {
                api_version: api_version.to_owned(),
                source: Box::new(source),
            }),
        }
    }
}

/// Version of the API server, for example `v1.33.1`.
///
/// # Errors
/// When it cannot be read.
pub async fn server_version(client: &Client) -> Result<String, DiscoveryError> {
    let info = client.apiserver_version().await;
    info.map(|info| info.git_version).map_err(|source| DiscoveryError::Version(Box::new(source)))
}

/// The kinds of a list by name; subresources have a slash in theirs.
fn kinds(group: &str, version: &str, list: APIResourceList) -> BTreeMap<String, ApiKind> {
    let objects = list.resources.into_iter().filter(|resource| !resource.name.contains('/'));
    objects
        .map(|APIResource { kind, name, namespaced, .. }| {
            let resource = Resource::new(group, version, &kind, &name);
            (kind, ApiKind { resource, namespaced })
        })
        .collect()
}

#[cfg(test)]
mod tests;
