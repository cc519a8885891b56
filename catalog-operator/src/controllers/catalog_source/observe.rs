//! What is known about a CatalogSource.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};
use kube::ResourceExt;
use kube::core::ObjectMeta;
use olm_effect::{Refusal, Target};
use olm_kit::live;
use olm_lifecycle::catalog_source::hosting::{Hosting, connects_in_process};
use olm_lifecycle::catalog_source::registry::{account_name, config_map_name, service_name};
use olm_lifecycle::catalog_source::{
    Backend, ConfigMapFound, Connection, Observed, Present, backend, dial_address, has_template,
    is_poll_due,
};
use olm_lifecycle::writes::resource_of;
use olm_types::api::CatalogSource;
use olm_types::bundle::CatalogKey;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::CatalogSourceReconciler;
use crate::clock;
use crate::digest::DigestRequest;
use crate::servers::Names;

/// How long a registry may take to say the digest of an image, credentials and redirects included.
const DIGEST: Duration = Duration::from_secs(20);

/// A catalog that is connected as its spec asks, if it can be.
pub(super) struct Connected {
    /// What serves it.
    backend: Option<Backend>,
    /// What is there of that.
    server: Present,
    /// What the operator serves of it itself.
    hosting: Option<Hosting>,
    /// Its connection, or why there is none.
    pub(super) connection: Result<Option<Connection>, String>,
}

impl CatalogSourceReconciler {
    /// Connects the catalog as its spec asks, and gathers what is known about it.
    pub(super) async fn observe(
        &self,
        catalog: Arc<CatalogSource>,
        key: &CatalogKey,
    ) -> Result<Observed, Refusal> {
        let Connected { backend, server, hosting, connection } =
            self.connect(&catalog, key).await?;
        let config_map = match &backend {
            Some(Backend::ConfigMap) => self.config_map(&catalog, key).await,
            _ => ConfigMapFound::NotNeeded,
        };
        let server_version =
            if has_template(&catalog) { self.version.current().await } else { None };
        Ok(Observed {
            acting_since: *self.acting_since.get_or_init(clock::now),
            digest: self.digest(&catalog, &server, hosting.as_ref()).await,
            content: self.catalogs.facts(key),
            server_version,
            config_map,
            connection,
            server,
            hosting,
            catalog,
        })
    }

    /// Connects the catalog as its spec asks: what serves it, what is there of that, and whether it
    /// answers.
    pub(super) async fn connect(
        &self,
        catalog: &CatalogSource,
        key: &CatalogKey,
    ) -> Result<Connected, Refusal> {
        let backend = backend(catalog).ok();
        let server = match &backend {
            Some(backend @ (Backend::Image | Backend::ConfigMap)) => {
                self.present(catalog, key, backend).await?
            }
            Some(Backend::Address(_)) | None => Present::default(),
        };
        let hosting = match &backend {
            Some(Backend::Image) => self.hosting(catalog, key, &server).await,
            _ => None,
        };
        let connection = match self.in_process(catalog, key, &server, hosting.as_ref()) {
            Some(connection) => Ok(Some(connection)),
            None => self.connection(catalog, key, backend.as_ref(), &server),
        };
        Ok(Connected { backend, server, hosting, connection })
    }

    /// The connection to what this process serves itself, if that counts.
    fn in_process(
        &self,
        catalog: &CatalogSource,
        key: &CatalogKey,
        server: &Present,
        hosting: Option<&Hosting>,
    ) -> Option<Connection> {
        let image = catalog.spec.image.as_deref().unwrap_or_default();
        let counts = connects_in_process(hosting?, image, server.service.as_deref());
        let host = &self.hosts.as_ref().filter(|_| counts)?.host;
        let address = dial_address(catalog, &Backend::Image);
        self.catalogs.attach(key, &address, host.connection(key)?);
        self.catalogs.connection(key)
    }

    /// What the stores have. An account that lacks the label by which accounts are watched is
    /// another owner's, and used as it is.
    async fn present(
        &self,
        catalog: &CatalogSource,
        key: &CatalogKey,
        backend: &Backend,
    ) -> Result<Present, Refusal> {
        let account = account_name(catalog, backend);
        let mut present = self.servers.present(&Names {
            namespace: &key.namespace,
            catalog: &key.name,
            service: &service_name(catalog, backend),
            account: &account,
        });
        if present.account.is_none() {
            let target =
                Target::namespaced(resource_of::<ServiceAccount>(), &key.namespace, &account);
            present.account = self.read(&target).await?.map(Arc::new);
        }
        Ok(present)
    }

    fn connection(
        &self,
        catalog: &CatalogSource,
        key: &CatalogKey,
        backend: Option<&Backend>,
        server: &Present,
    ) -> Result<Option<Connection>, String> {
        let Some(backend) = backend else {
            self.catalogs.disconnect(key);
            return Ok(None);
        };
        let elsewhere = catalog.spec.address.as_ref().is_some_and(|address| !address.is_empty());
        if !elsewhere && server.service.is_none() {
            return Ok(self.catalogs.connection(key));
        }
        let address = dial_address(catalog, backend);
        self.catalogs.connect(key, &address).map_err(|error| error.to_string())?;
        Ok(self.catalogs.connection(key))
    }

    /// What is not watched is looked for live: users make ConfigMaps without our label.
    async fn config_map(&self, catalog: &CatalogSource, key: &CatalogKey) -> ConfigMapFound {
        let name = config_map_name(catalog);
        if let Some(found) = self.servers.config_maps.get(Some(&*key.namespace), name) {
            return ConfigMapFound::Watched(found.metadata.clone());
        }
        let target = Target::namespaced(resource_of::<ConfigMap>(), &key.namespace, name);
        match self.read::<ConfigMap>(&target).await {
            Ok(Some(found)) => {
                ConfigMapFound::Unwatched(ObjectMeta { managed_fields: None, ..found.metadata })
            }
            Ok(None) => ConfigMapFound::Missing(format!("configmaps \"{name}\" not found")),
            Err(refusal) => ConfigMapFound::Missing(refusal.to_string()),
        }
    }

    /// Asks the registry for the digest of the image when it is time, and no other task looks
    /// already.
    async fn digest(
        &self,
        catalog: &CatalogSource,
        server: &Present,
        hosting: Option<&Hosting>,
    ) -> Option<Result<String, String>> {
        // What the operator serves, it looks for itself.
        let hosted = hosting.is_some_and(|hosting| hosting.asked);
        let digests = self.digests.as_ref().filter(|_| !hosted)?;
        if !is_poll_due(catalog, clock::now()) {
            return None;
        }
        let secrets = server.account.iter().flat_map(|account| &account.image_pull_secrets);
        let request = DigestRequest {
            image: catalog.spec.image.clone().unwrap_or_default(),
            namespace: catalog.namespace().unwrap_or_default(),
            pull_secrets: secrets.flatten().map(|secret| secret.name.clone()).collect(),
        };
        let digest = timeout(DIGEST, digests.digest(&request)).await;
        let digest = digest.unwrap_or_else(|_| {
            Err(format!("the registry did not say it within {} s", DIGEST.as_secs()))
        });
        if let Err(error) = &digest {
            let image = &request.image;
            tracing::info!(image, error, "the registry does not say its digest, a Pod looks");
        }
        Some(digest)
    }

    /// Reads one object from the API server.
    pub(super) async fn read<K: DeserializeOwned>(
        &self,
        target: &Target,
    ) -> Result<Option<K>, Refusal> {
        let found = live::read(&self.client, target).await?;
        let unreadable = |error: serde_json::Error| Refusal {
            code: 0,
            reason: String::new(),
            message: format!("{target} cannot be read: {error}"),
        };
        found.as_ref().map(K::deserialize).transpose().map_err(unreadable)
    }
}
