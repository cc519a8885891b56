//! A catalog in a store as the port that controllers use: no server, no copy, no wire.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use olm_tasks::blocking;
use olm_types::bundle::CatalogKey;
use tokio::sync::watch;
use tonic::Code;

use crate::connection::{
    BundleManifests, CatalogConnection, ConnectionEvent, ConnectionStatus, LoadError, RpcError,
};
use crate::index::{Index, QueryError};
use crate::snapshot::{CatalogSnapshot, FolderError};

/// The content of one CatalogSource, as it is now.
#[derive(Debug)]
pub struct StoredCatalog {
    key: CatalogKey,
    status: watch::Sender<ConnectionStatus>,
    content: Mutex<Content>,
}

#[derive(Debug, Default)]
struct Content {
    index: Option<Arc<Index>>,
    /// What a resolver uses, if it was made already.
    snapshot: Option<CatalogSnapshot>,
}

impl StoredCatalog {
    /// Without content yet.
    pub fn new(key: CatalogKey) -> Self {
        let status = ConnectionStatus::default().after(&ConnectionEvent::Dial);
        Self { key, status: watch::Sender::new(status), content: Mutex::default() }
    }

    /// Has this content from now on.
    pub fn show(&self, index: Arc<Index>, snapshot: Option<CatalogSnapshot>) {
        *self.content() = Content { index: Some(index), snapshot };
        // Each content is as good as a server that came up anew: what was loaded is stale.
        self.status.send_modify(|status| {
            let lost = status.after(&ConnectionEvent::Lost);
            *status = lost.after(&ConnectionEvent::Answered);
        });
    }

    /// There is no content yet, and this is why; it stays what it is when there is some.
    pub fn fail(&self, why: &str) {
        if self.index().is_none() {
            self.status.send_modify(|status| {
                *status = status.after(&ConnectionEvent::Failed(why.into()));
            });
        }
    }

    /// What it has, if anything.
    pub fn index(&self) -> Option<Arc<Index>> {
        self.content().index.clone()
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn current(&self) -> Result<Arc<Index>, RpcError> {
        let message = "its image was not pulled yet".to_owned();
        self.index().ok_or(RpcError { code: Code::Unavailable, message })
    }
}

#[async_trait]
impl CatalogConnection for StoredCatalog {
    fn key(&self) -> &CatalogKey {
        &self.key
    }

    fn status(&self) -> watch::Receiver<ConnectionStatus> {
        self.status.subscribe()
    }

    async fn load(&self) -> Result<CatalogSnapshot, LoadError> {
        let made = self.content().snapshot.take();
        if let Some(made) = made {
            return Ok(made);
        }
        let (index, key) = (self.current().map_err(LoadError::List)?, self.key.clone());
        let read = blocking(move || CatalogSnapshot::of_index(key, &index)).await;
        let read = read.map_err(|panicked| LoadError::Index(panicked.to_string()))?;
        read.map_err(|error| match error {
            FolderError::TooLarge(exceeded) => LoadError::TooLarge(exceeded),
            error => LoadError::Index(error.to_string()),
        })
    }

    async fn bundle(
        &self,
        package: &str,
        channel: &str,
        name: &str,
    ) -> Result<BundleManifests, RpcError> {
        let index = self.current()?;
        let [package, channel, name] = [package, channel, name].map(str::to_owned);
        let read = blocking(move || index.bundle(&package, &channel, &name)?.message()).await;
        let read = read.map_err(|panicked| unknown(panicked.to_string()))?;
        let bundle = read.map_err(|error: QueryError| unknown(error.to_string()))?;
        Ok(BundleManifests {
            name: bundle.csv_name,
            csv_json: bundle.csv_json,
            objects: bundle.object,
            bundle_path: bundle.bundle_path,
        })
    }
}

/// As a server would say it.
fn unknown(message: String) -> RpcError {
    RpcError { code: Code::Unknown, message }
}
