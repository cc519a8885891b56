//! A copied CSV as the store of copies keeps it.

use std::ops::Deref;

use olm_kit::watch::Cached;
use olm_lifecycle::copied_csv::CopiedCsv;
use olm_types::api::ClusterServiceVersion;
use serde::Deserialize;

/// A [`CopiedCsv`] that a store can keep.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct StoredCopy(CopiedCsv);

impl From<ClusterServiceVersion> for StoredCopy {
    fn from(csv: ClusterServiceVersion) -> Self {
        Self(csv.into())
    }
}

impl Deref for StoredCopy {
    type Target = CopiedCsv;

    fn deref(&self) -> &CopiedCsv {
        &self.0
    }
}

impl Cached for StoredCopy {
    fn cached_namespace(&self) -> Option<&str> {
        Some(self.namespace())
    }

    fn cached_name(&self) -> &str {
        self.name()
    }

    fn cached_uid(&self) -> Option<&str> {
        Some(self.uid()).filter(|uid| !uid.is_empty())
    }

    fn cached_version(&self) -> Option<&str> {
        Some(self.version()).filter(|version| !version.is_empty())
    }

    /// None are kept.
    fn drop_managed_fields(&mut self) {}
}
