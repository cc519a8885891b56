//! Where the contents of a catalog are.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use olm_catalog::connection::{BundleManifests, CatalogConnection};
use olm_catalog::registry::client::{ClientOptions, Dial, RegistryClient};
use olm_catalog::snapshot::CatalogSnapshot;
use olm_types::bundle::CatalogKey;
use tokio::sync::OnceCell;

use super::folders::Folder;
use super::forward::Forward;

/// Where a catalog is asked.
pub(super) enum CatalogLocation {
    /// In a file-based catalog.
    Folder(Folder),
    /// At an address that a flag names.
    Server(Box<RegistryClient>),
    /// In a Pod of the cluster.
    Forwarded(Forwarded),
}

/// A server in a Pod, connected to when it is asked for the first time.
pub(super) struct Forwarded {
    key: CatalogKey,
    forward: Arc<Forward>,
    client: OnceCell<RegistryClient>,
}

impl Forwarded {
    /// Nothing is asked yet.
    pub(super) fn new(key: CatalogKey, forward: Forward) -> Self {
        Self { key, forward: Arc::new(forward), client: OnceCell::new() }
    }

    /// The client of the server.
    ///
    /// # Errors
    /// The Pod's port cannot be forwarded.
    pub(super) async fn client(&self) -> Result<&RegistryClient> {
        let open = async {
            self.forward.begin().await?;
            let dialer: Arc<dyn Dial> = self.forward.clone();
            let options = ClientOptions { dialer: Some(dialer), ..options() };
            Ok(RegistryClient::open(self.key.clone(), &self.forward.authority(), options)?)
        };
        self.client.get_or_try_init(|| open).await
    }
}

impl CatalogLocation {
    /// What a resolver needs of it.
    ///
    /// # Errors
    /// It cannot be read in time, or holds too much.
    pub(super) async fn load(&self) -> Result<Arc<CatalogSnapshot>> {
        let client = match self {
            Self::Folder(folder) => return Ok(Arc::clone(&folder.snapshot)),
            Self::Server(client) => &**client,
            Self::Forwarded(forwarded) => forwarded.client().await?,
        };
        client.load().await.map(Arc::new).map_err(|error| anyhow!("{error}"))
    }

    /// A bundle with its manifests.
    ///
    /// # Errors
    /// It is not there, or the server cannot be asked.
    pub(super) async fn bundle(
        &self,
        package: &str,
        channel: &str,
        name: &str,
    ) -> Result<BundleManifests> {
        let client = match self {
            Self::Folder(folder) => {
                let found = folder.index.bundle(package, channel, name)?.message()?;
                return Ok(BundleManifests {
                    name: found.csv_name,
                    csv_json: found.csv_json,
                    objects: found.object,
                    bundle_path: found.bundle_path,
                });
            }
            Self::Server(client) => &**client,
            Self::Forwarded(forwarded) => forwarded.client().await?,
        };
        client.bundle(package, channel, name).await.map_err(|error| anyhow!("{error}"))
    }
}

/// How servers are asked: soon there is an answer, or none.
pub(super) fn options() -> ClientOptions {
    ClientOptions {
        dial_timeout: Duration::from_secs(5),
        load_timeout: Duration::from_secs(60),
        ..ClientOptions::default()
    }
}

/// A client of a server at an address.
///
/// # Errors
/// The address has not the form `HOST:PORT`.
pub(super) fn server(key: &CatalogKey, address: &str) -> Result<CatalogLocation> {
    match RegistryClient::open(key.clone(), address, options()) {
        Ok(client) => Ok(CatalogLocation::Server(Box::new(client))),
        Err(error) => bail!("{error}; it is no folder, and an address is HOST:PORT"),
    }
}
