//! The client as the port that controllers use.

use std::pin::pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures::{StreamExt, stream};
use olm_types::bundle::CatalogKey;
use tokio::sync::watch;
use tonic::{Code, Status};

use super::calls::RegistryClient;
use crate::connection::{
    BundleManifests, CatalogConnection, ConnectionStatus, LoadError, RpcError,
};
use crate::snapshot::{CatalogSnapshot, LimitExceeded, Records, SnapshotBuilder};

#[async_trait]
impl CatalogConnection for RegistryClient {
    fn key(&self) -> &CatalogKey {
        &self.key
    }

    fn status(&self) -> watch::Receiver<ConnectionStatus> {
        self.watch_status()
    }

    async fn load(&self) -> Result<CatalogSnapshot, LoadError> {
        self.load_in_time(None).await
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
    /// As [`CatalogConnection::load`], and records what was answered.
    ///
    /// # Errors
    /// As there.
    pub async fn load_recorded(&self) -> Result<(CatalogSnapshot, Records), LoadError> {
        let mut records = Records::default();
        let snapshot = self.load_in_time(Some(&mut records)).await?;
        Ok((snapshot, records))
    }

    async fn load_in_time(
        &self,
        records: Option<&mut Records>,
    ) -> Result<CatalogSnapshot, LoadError> {
        let limit = self.options.load_timeout;
        tokio::time::timeout(limit, self.load_all(records))
            .await
            .map_err(|_| LoadError::Deadline(limit))?
    }

    async fn load_all(
        &self,
        mut records: Option<&mut Records>,
    ) -> Result<CatalogSnapshot, LoadError> {
        let mut builder = SnapshotBuilder::new(self.key.clone(), self.options.snapshot);
        let bundles = self.in_silence(self.list_bundles()).await;
        let mut bundles = bundles.map_err(LoadError::List)?;
        while let Some(bundle) =
            self.in_silence(bundles.message()).await.map_err(LoadError::Stream)?
        {
            builder.add(&bundle)?;
            if let Some(records) = records.as_deref_mut() {
                records.bundle(&bundle);
            }
        }
        self.add_packages(&mut builder, records).await?;
        let finished = olm_tasks::blocking(move || builder.finish()).await;
        finished.map_err(|error| LoadError::Index(error.to_string()))
    }

    /// What the server says next, if it says something soon.
    async fn in_silence<T>(
        &self,
        next: impl Future<Output = Result<T, Status>>,
    ) -> Result<T, RpcError> {
        let limit = self.options.load_silence;
        match tokio::time::timeout(limit, next).await {
            Ok(said) => Ok(said?),
            Err(_) => Err(RpcError {
                code: Code::DeadlineExceeded,
                message: format!("the server sent nothing for {} s", limit.as_secs()),
            }),
        }
    }

    /// Asks for each package; a refusal concerns only that package. An answer is condensed when it
    /// is there: those of a hostile server are large, and many.
    async fn add_packages(
        &self,
        builder: &mut SnapshotBuilder,
        mut records: Option<&mut Records>,
    ) -> Result<(), LimitExceeded> {
        let ask = |name: Arc<str>| async move {
            let answer = self.package(&name).await.map_err(|error| error.to_string());
            (name, answer)
        };
        let answers = stream::iter(builder.packages()).map(ask);
        let mut answers = pin!(answers.buffered(self.options.parallel_calls));
        while let Some((name, answer)) = answers.next().await {
            if let Some(records) = records.as_deref_mut() {
                records.package(&name, &answer);
            }
            builder.add_package(name, answer)?;
        }
        Ok(())
    }
}
