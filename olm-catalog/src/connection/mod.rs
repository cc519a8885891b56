//! The port through which a controller uses one served catalog.
//!
//! The adapter for real servers is [`RegistryClient`](crate::registry::client::RegistryClient);
//! tests of controllers bring their own.

mod error;
mod state;

use async_trait::async_trait;
use olm_types::bundle::CatalogKey;
use tokio::sync::watch;

pub use error::{LoadError, RpcError};
pub use state::{ConnectionEvent, ConnectionState, ConnectionStatus};

use crate::snapshot::CatalogSnapshot;

/// A catalog that is served somewhere.
#[async_trait]
pub trait CatalogConnection: Send + Sync {
    /// Which CatalogSource it belongs to.
    fn key(&self) -> &CatalogKey;

    /// The state of the connection, now and from now on. A higher
    /// [`generation`](ConnectionStatus::generation) means that what was loaded may be stale.
    fn status(&self) -> watch::Receiver<ConnectionStatus>;

    /// Reads everything that a resolver needs, in bounded time and memory.
    ///
    /// # Errors
    /// The server cannot be asked, stops halfway, is too slow, or gives too much.
    async fn load(&self) -> Result<CatalogSnapshot, LoadError>;

    /// Reads one bundle with its manifests.
    ///
    /// # Errors
    /// The server cannot be asked or does not have the bundle.
    async fn bundle(
        &self,
        package: &str,
        channel: &str,
        name: &str,
    ) -> Result<BundleManifests, RpcError>;
}

/// What has to be applied to a cluster to install a bundle, as the catalog gave it: JSON texts
/// whose content has not been read yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BundleManifests {
    /// Name of the bundle.
    pub name: String,
    /// The CSV.
    pub csv_json: String,
    /// All manifests, usually with the CSV among them.
    pub objects: Vec<String>,
    /// Bundle image; empty when the manifests are in the catalog.
    pub bundle_path: String,
}

impl BundleManifests {
    /// About how many bytes of memory the manifests take.
    pub fn bytes(&self) -> usize {
        let texts = self.objects.iter().chain([&self.csv_json]);
        texts.map(|text| text.len() + size_of::<String>()).fold(0, usize::saturating_add)
    }
}
