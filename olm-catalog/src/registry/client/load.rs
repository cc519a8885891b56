//! The client as the port that controllers use.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use futures::{StreamExt, stream};
use olm_types::bundle::CatalogKey;
use tokio::sync::watch;

use super::calls::RegistryClient;
use crate::connection::{
    BundleManifests, CatalogConnection, ConnectionStatus, LoadError, RpcError,
};
use crate::registry::proto;
use crate::snapshot::{CatalogSnapshot, SnapshotBuilder};

#[async_trait]
impl CatalogConnection for RegistryClient {
    fn key(&self) -> &CatalogKey {
        &self.key
    }

    fn status(&self) -> watch::Receiver<ConnectionStatus> {
        self.watch_status()
    }

    async fn load(&self) -> Result<CatalogSnapshot, LoadError> {
        let limit = self.options.load_timeout;
        tokio::time::timeout(limit, self.load_all())
            .await
            .map_err(|_| LoadError::Deadline(limit))?
    }

    async fn bundle(
        &self,
        package: &str,
        channel: &str,
        name: &str,
    ) -> Result<BundleManifests, RpcError> {
        let bundle = self.get_bundle(package, channel, name).await?;
        Ok(BundleManifests {
            name: bundle.csv_name,
            csv_json: bundle.csv_json,
            objects: bundle.object,
            bundle_path: bundle.bundle_path,
        })
    }
}

impl RegistryClient {
    async fn load_all(&self) -> Result<CatalogSnapshot, LoadError> {
        let mut builder = SnapshotBuilder::new(self.key.clone(), self.options.snapshot);
        let mut bundles = self
            .calls()
            .list_bundles(proto::ListBundlesRequest {})
            .await
            .map_err(|status| LoadError::List(status.into()))?
            .into_inner();
        while let Some(bundle) =
            bundles.message().await.map_err(|status| LoadError::Stream(status.into()))?
        {
            builder.add(&bundle)?;
        }
        let packages = self.packages(builder.packages()).await;
        Ok(builder.finish(&packages))
    }

    /// Asks for each package; a refusal concerns only that package.
    async fn packages(
        &self,
        names: impl IntoIterator<Item = Arc<str>>,
    ) -> BTreeMap<Arc<str>, Result<proto::Package, String>> {
        let ask = |name: Arc<str>| async move {
            let answer = self.package(&name).await.map_err(|error| error.to_string());
            (name, answer)
        };
        stream::iter(names).map(ask).buffer_unordered(self.options.parallel_calls).collect().await
    }
}
