//! Packages as people look at them: as the packages API presents them, and made in the same way of catalogs that
//! flags name.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Context, Result};
use futures::stream::{self, StreamExt};
use olm_catalog::packages::{CatalogFacts, Head, Heads, manifest};
use olm_catalog::snapshot::CatalogSnapshot;
use olm_types::api::PackageManifest;
use olm_types::bundle::CatalogKey;

use super::{CatalogLocation, Catalogs};

/// Heads that are asked for at the same time.
const AT_ONCE: usize = 8;

impl Catalogs {
    /// The packages of the catalogs that flags name; of one name where one is asked for.
    ///
    /// # Errors
    /// A catalog cannot be asked for the head of a channel.
    pub async fn packages(&self, name: Option<&str>) -> Result<Vec<PackageManifest>> {
        let mut found = Vec::new();
        for (key, place) in &self.places {
            let Some(snapshot) = self.set.snapshot(key) else { continue };
            found.extend(packages(key, place, snapshot, name).await?);
        }
        Ok(found)
    }

    /// Whether a flag, or its Pod, gives the contents of a catalog.
    pub fn has(&self, key: &CatalogKey) -> bool {
        self.places.contains_key(key)
    }
}

async fn packages(
    key: &CatalogKey,
    place: &CatalogLocation,
    snapshot: &CatalogSnapshot,
    wanted: Option<&str>,
) -> Result<Vec<PackageManifest>> {
    let facts = CatalogFacts {
        key: key.clone(),
        display_name: String::new(),
        publisher: String::new(),
        labels: Default::default(),
        created: None,
    };
    let mut found = Vec::new();
    for (name, summary) in snapshot.packages() {
        if wanted.is_some_and(|wanted| *wanted != **name) {
            continue;
        }
        let heads: BTreeSet<(&Arc<str>, &Arc<str>)> =
            summary.channels.iter().map(|(channel, summary)| (&summary.head, channel)).collect();
        let mut heads: Vec<(&Arc<str>, &Arc<str>)> = heads.into_iter().collect();
        heads.dedup_by_key(|(head, _)| Arc::clone(head));
        let read = heads.into_iter().map(|(head, channel)| read(place, name, channel, head));
        let read: Vec<Result<(Arc<str>, Head)>> =
            stream::iter(read).buffered(AT_ONCE).collect().await;
        // A head that says nothing leaves its channel out, as in the packages API.
        let heads: Heads = read.into_iter().filter_map(Result::ok).collect();
        found.extend(manifest(&facts, name, summary, snapshot.package(name), &heads).ok());
    }
    Ok(found)
}

async fn read(
    place: &CatalogLocation,
    package: &str,
    channel: &str,
    head: &Arc<str>,
) -> Result<(Arc<str>, Head)> {
    let bundle = place.bundle(package, channel, head).await?;
    let read = Head::read(&bundle.csv_json).with_context(|| format!("bundle {head}"))?;
    Ok((Arc::clone(head), read))
}
