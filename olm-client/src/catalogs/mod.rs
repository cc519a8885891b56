//! Catalogs: in folders and at addresses that flags name, in the Pods of their CatalogSources or, for a program in
//! the cluster, at their Services, and as far as the packages API presents them.
//!
//! An address that a CatalogSource names is never asked: whoever may write one would choose what this machine
//! connects to.

mod cache;
mod flags;
mod folders;
mod forward;
mod hosted;
mod packages;
mod place;
mod pod;
mod presented;
mod route;
mod visible;

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use futures::future::join_all;
use olm_catalog::connection::BundleManifests;
use olm_catalog::snapshot::{CatalogSnapshot, Member, SnapshotSet};
use olm_types::api::CatalogSource;
use olm_types::bundle::{CatalogKey, Entry};
use tokio::sync::OwnedSemaphorePermit;

use crate::cluster::Cluster;
use crate::notices::Notices;
use packages::Presented;
use place::{CatalogLocation, Forwarded};

pub use cache::{Cache, CacheSection};
pub use folders::Folders;
pub use pod::REGISTRY_POD;
pub use route::{ReadAccess, Route};
pub use visible::Visible;

/// How catalogs of a cluster are reached.
#[derive(Clone, Copy)]
pub struct Access<'a> {
    /// The cluster that their Pods are in.
    pub cluster: &'a Cluster,
    /// What was read before.
    pub cache: &'a Cache,
}

impl<'a> Access<'a> {
    /// With the cache of its user.
    pub fn of(cluster: &'a Cluster) -> Self {
        Self { cluster, cache: &cluster.cache }
    }
}

/// The catalogs of a namespace.
pub struct Catalogs {
    /// What the resolver sees.
    pub set: SnapshotSet,
    /// What could not be read, and why.
    pub unread: Vec<String>,
    /// Catalogs of which only what the packages API presents is known.
    pub partial: Vec<CatalogKey>,
    places: BTreeMap<CatalogKey, CatalogLocation>,
    /// Given back with what was read.
    _permit: Option<OwnedSemaphorePermit>,
}

impl Catalogs {
    /// The catalogs that flags name.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub async fn of_flags(
        visible: &Visible,
        flags: &[String],
        folders: &Folders,
        notices: &Notices,
    ) -> Result<Self> {
        let mut catalogs = Self::empty();
        let mut members = Vec::new();
        for (key, place, content) in named(visible, flags, folders, notices).await? {
            let (priority, content) = (visible.priority(&key), Ok(content?));
            members.push(Member { key: key.clone(), priority, content });
            catalogs.places.insert(key, place);
        }
        catalogs.set = SnapshotSet::new(members);
        Ok(catalogs)
    }

    /// The catalogs that the namespace sees: those that flags name there, the others in their Pods, or as far
    /// as the packages API presents them.
    ///
    /// One that cannot be read is left out, as OLM goes on without it, and is unknown.
    ///
    /// # Errors
    /// One that a flag names cannot be read, and has no CatalogSource.
    pub async fn of_cluster(
        access: Access<'_>,
        visible: &Visible,
        flags: &[String],
    ) -> Result<Self> {
        let permit = access.cluster.route.permit().await;
        let Cluster { folders, notices, .. } = access.cluster;
        let mut catalogs = Self { _permit: permit, ..Self::empty() };
        let mut members: Vec<Member> = Vec::new();
        for (key, place, content) in named(visible, flags, folders, notices).await? {
            let priority = visible.priority(&key);
            let content = match content {
                Err(error) if visible.sources().any(|(source, _)| source == key) => {
                    catalogs.unread.push(format!("catalog {key} ({error:#})"));
                    Err(format!("{error:#}"))
                }
                content => {
                    catalogs.places.insert(key.clone(), place);
                    Ok(content?)
                }
            };
            members.push(Member { key, priority, content });
        }
        let is_read = |key: &CatalogKey| members.iter().any(|member| member.key == *key);
        let all = visible.sources();
        let others: Vec<(CatalogKey, &CatalogSource)> =
            all.filter(|(key, _)| !is_read(key)).collect();
        let read = join_all(others.iter().map(|(key, source)| reach(access, key, source))).await;
        let mut presented = None;
        for ((key, source), read) in others.into_iter().zip(read) {
            let content = match read {
                Ok((place, snapshot)) => {
                    catalogs.places.insert(key.clone(), place);
                    Ok(snapshot)
                }
                Err(error) => {
                    let stand_in =
                        catalogs.stand_in(access.cluster, &key, &error, visible, &mut presented);
                    stand_in.await.map(Arc::new)
                }
            };
            let priority = source.spec.priority.unwrap_or_default();
            members.push(Member { key, priority, content });
        }
        catalogs.set = SnapshotSet::new(members);
        Ok(catalogs)
    }

    fn empty() -> Self {
        let set = SnapshotSet::new(Vec::new());
        let (unread, partial, places) = (Vec::new(), Vec::new(), BTreeMap::new());
        Self { set, unread, partial, places, _permit: None }
    }

    /// What the packages API presents of a catalog that is out of reach.
    async fn stand_in(
        &mut self,
        cluster: &Cluster,
        key: &CatalogKey,
        error: &anyhow::Error,
        visible: &Visible,
        presented: &mut Option<Presented>,
    ) -> Result<CatalogSnapshot, String> {
        let presented = match presented {
            Some(presented) => presented,
            None => presented.insert(Presented::read(cluster, visible.home()).await),
        };
        let hint = format!("--catalog {key}=HOST:PORT names where it is served");
        match presented.snapshot(key) {
            Ok(snapshot) => {
                self.partial.push(key.clone());
                self.unread.push(format!(
                    "edges, dependencies and manifests of catalog {key}, of which the packages API shows the \
                     heads of channels ({error:#}); {hint}"
                ));
                Ok(snapshot)
            }
            Err(other) => {
                self.unread.push(format!("catalog {key} ({error:#}; {other}); {hint}"));
                Err(format!("{error:#}"))
            }
        }
    }

    /// What could not be read, as the end of an error.
    pub fn unknown(&self) -> String {
        self.unread.iter().map(|what| format!("; unknown: {what}")).collect()
    }

    /// The manifests of a bundle that its catalog holds.
    ///
    /// # Errors
    /// The catalog does not have it, or cannot be asked.
    pub async fn bundle(&self, entry: &Entry) -> Result<BundleManifests> {
        let place = self.places.get(&entry.catalog).context("its catalog was not read")?;
        place.bundle(&entry.package, &entry.channel, &entry.name).await
    }
}

/// What is in a catalog that a flag names, or why that cannot be used.
type Named = (CatalogKey, CatalogLocation, Result<Arc<CatalogSnapshot>>);

/// The catalogs that flags name.
async fn named(
    visible: &Visible,
    flags: &[String],
    folders: &Folders,
    notices: &Notices,
) -> Result<Vec<Named>> {
    let mut found = Vec::new();
    for flag in flags {
        for (key, place) in flags::parse(flag, visible, folders)? {
            let content = notices.slow(&format!("reading catalog {key}"), place.load()).await;
            let content = content.with_context(|| format!("cannot use the catalog {key}"));
            found.push((key, place, content));
        }
    }
    Ok(found)
}

/// A catalog in its Pod, or in one of the operator; what was read of the same images before is not read again.
async fn reach(
    access: Access<'_>,
    key: &CatalogKey,
    source: &CatalogSource,
) -> Result<(CatalogLocation, Arc<CatalogSnapshot>)> {
    if let Route::Service(read_access) = &access.cluster.route {
        let place = route::of_service(access.cluster, read_access, key, source).await?;
        let snapshot = place.load().await?;
        return Ok((place, snapshot));
    }
    let pod = pod::of(access.cluster, key, source).await?;
    let digest = pod.digest(&access.cluster.server, key, source);
    let forwarded = Forwarded::new(key.clone(), pod.forward(access.cluster));
    let cached =
        digest.as_ref().and_then(|digest| access.cache.read(CacheSection::Catalogs, digest));
    let limits = place::options().snapshot;
    let cached =
        cached.and_then(|bytes| CatalogSnapshot::of_records(key.clone(), &bytes, limits).ok());
    if let Some(snapshot) = cached {
        return Ok((CatalogLocation::Forwarded(forwarded), Arc::new(snapshot)));
    }
    let reading = async {
        let loaded = forwarded.client().await?.load_recorded().await;
        loaded.map_err(|error| anyhow!("{error}"))
    };
    let notices = &access.cluster.notices;
    let (snapshot, records) = notices.slow(&format!("reading catalog {key}"), reading).await?;
    if let (Some(digest), Some(bytes)) = (digest, records.finish()) {
        access.cache.write(CacheSection::Catalogs, &digest, &bytes);
    }
    Ok((CatalogLocation::Forwarded(forwarded), Arc::new(snapshot)))
}
