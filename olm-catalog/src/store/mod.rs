//! Catalogs that were pulled, kept on a disk, and used without a server of their own.
//!
//! ```text
//! image --pull--> layers in files --> files of the catalog --index--> content, by its key
//! content --connection--> snapshot --> resolver, packages
//!        '--registry::server--> gRPC
//! ```
//! What is kept of an image is the index of its catalog alone, under a key made of the image's digest
//! and the folder that was asked for. It is never changed, and shared by all catalogs of that image.
//! For each CatalogSource it is recorded which content it has and which it had before; other content
//! goes. Several processes may use one folder.
//!
//! ```text
//! content/KEY/catalog.index   the index
//! catalogs/HASH.json          which content a CatalogSource has, and had before
//! in-use                      locked, together with others, by each process that uses the folder
//! pulling/…                   what is being pulled, locked by whoever pulls it
//! ```

mod connection;
mod error;
mod key;
mod pull;
mod recorded;
mod shared;
mod space;
#[cfg(test)]
mod tests;
mod users;
mod workspace;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use olm_types::bundle::CatalogKey;

use crate::index::Index;
use recorded::Records;
use space::Space;
use users::Users;
use workspace::Workspace;

pub use connection::StoredCatalog;
pub use error::{PullError, StoreError};
pub use key::ContentKey;
pub use pull::{PullOptions, Pulled, pull};
pub use recorded::{Recorded, StoredContent};
pub use shared::confirm;

/// Name of an index in the folder of its content.
const INDEX: &str = "catalog.index";
/// A folder with catalogs. Clones share what is known of it.
#[derive(Clone, Debug)]
pub struct CatalogStore {
    root: PathBuf,
    space: Arc<Space>,
    /// Held while content comes or goes.
    changing: Arc<Mutex<()>>,
    users: Arc<Users>,
}

impl CatalogStore {
    /// Uses a folder, which is made where there is none; what was left of pulls that did not end goes.
    /// It takes `limit` bytes at most, what is there already included.
    ///
    /// # Errors
    /// The folder cannot be read or written.
    pub fn open(root: &Path, limit: u64) -> Result<Self, StoreError> {
        for part in ["content", "catalogs", "pulling"] {
            let folder = root.join(part);
            fs::create_dir_all(&folder).map_err(StoreError::at(&folder))?;
        }
        workspace::remove_abandoned(&root.join("pulling"))?;
        let (space, changing) = (Arc::new(Space::new(limit)), Arc::default());
        let users = Arc::new(Users::join(root));
        let store = Self { root: root.to_owned(), space, changing, users };
        store.measure()?;
        Ok(store)
    }

    /// Whether another process used the folder already: its volume is one of several replicas.
    pub fn was_in_use(&self) -> bool {
        self.users.others
    }

    /// The index of a content, after a look at every byte of it; none when it is not here. One that is
    /// damaged goes.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn index(&self, key: &ContentKey) -> Result<Option<Index>, StoreError> {
        let path = self.content(key).join(INDEX);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::at(&path)(error)),
        };
        match Index::open(file) {
            Ok(index) => Ok(Some(index)),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "a catalog on the disk is damaged and goes");
                self.remove(key)?;
                Ok(None)
            }
        }
    }

    /// When a content was pulled, if it is here.
    pub fn pulled_at(&self, key: &ContentKey) -> Option<SystemTime> {
        fs::metadata(self.content(key).join(INDEX)).ok()?.modified().ok()
    }

    /// Which content a CatalogSource has, and had before.
    pub fn recorded(&self, catalog: &CatalogKey) -> Option<Recorded> {
        self.records().get(catalog)
    }

    /// A CatalogSource has a content from now on; what it had before is kept as well.
    ///
    /// # Errors
    /// That cannot be written.
    pub fn record(&self, catalog: &CatalogKey, content: &StoredContent) -> Result<(), StoreError> {
        self.records().set(catalog, content)
    }

    /// Removes what no CatalogSource has or had before, and what is recorded of CatalogSources that do
    /// not exist. What is being served stays readable for whoever has it open.
    ///
    /// # Errors
    /// Something cannot be read or removed; the rest is removed all the same.
    pub fn collect(&self, exists: impl Fn(&CatalogKey) -> bool) -> Result<(), StoreError> {
        let _changing = self.change();
        let kept = self.records().collect(exists)?;
        let mut failed = Ok(());
        for key in self.keys()?.difference(&kept) {
            if let Err(error) = self.remove(key) {
                failed = Err(error);
            }
        }
        self.measure()?;
        failed
    }

    /// Bytes on the disk, and how many there may be.
    pub fn bytes(&self) -> (u64, u64) {
        self.space.taken()
    }

    /// A folder of its own for a pull.
    fn workspace(&self) -> Result<Workspace, StoreError> {
        Workspace::new(&self.root.join("pulling"), Arc::clone(&self.space))
    }

    /// Moves the index of a workspace into place; it is the content of a CatalogSource from now on.
    fn add(
        &self,
        catalog: &CatalogKey,
        held: &StoredContent,
        workspace: Workspace,
    ) -> Result<(), StoreError> {
        let _changing = self.change();
        let place = self.content(&held.key());
        match fs::rename(workspace.finished(), &place) {
            // Another process was faster with the same content.
            Err(_) if place.join(INDEX).is_file() => {}
            renamed => renamed.map_err(StoreError::at(&place))?,
        }
        drop(workspace);
        self.records().set(catalog, held)?;
        self.measure()
    }

    fn change(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn content(&self, key: &ContentKey) -> PathBuf {
        self.root.join("content").join(key.as_str())
    }

    fn records(&self) -> Records {
        Records::new(self.root.join("catalogs"))
    }

    /// All content that is here.
    fn keys(&self) -> Result<BTreeSet<ContentKey>, StoreError> {
        let folder = self.root.join("content");
        let entries = fs::read_dir(&folder).map_err(StoreError::at(&folder))?;
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        Ok(names.filter_map(|name| ContentKey::parse(&name)).collect())
    }

    fn remove(&self, key: &ContentKey) -> Result<(), StoreError> {
        let folder = self.content(key);
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::at(&folder)(error))
            }
            _ => Ok(()),
        }
    }

    /// Counts what is kept anew: other processes may have changed it.
    fn measure(&self) -> Result<(), StoreError> {
        let sizes = self.keys()?.into_iter().filter_map(|key| {
            let index = fs::metadata(self.content(&key).join(INDEX)).ok()?;
            Some(index.len())
        });
        self.space.keep(sizes.sum());
        Ok(())
    }
}
