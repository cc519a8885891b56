//! A package of the catalogs that a namespace sees: its bundles in detail, and its upgrade graph.

mod icon;
mod upgrades;

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use olm_plan::details::{Details, chosen, details};
use olm_plan::preview::{Content, Known};
use olm_types::api::{ClusterServiceVersion, PackageManifest, PackageManifestStatus};
use olm_types::bundle::{CatalogKey, Entry};
use olm_types::document::{Budget, json_as};

use crate::catalogs::{Access, Catalogs, Folders, Visible};
use crate::cluster::Cluster;
use crate::contents::Contents;
use crate::listing::{Listing, visible_offline};
use crate::notices::Notices;
use crate::reading::Reading;

pub use icon::{Icon, icon};
pub use upgrades::{GraphRequest, Upgrades, in_cluster as upgrades, offline as upgrades_offline};

/// A bundle of a package; what is not named is the default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Named<'a> {
    /// The package.
    pub package: &'a str,
    /// A version, or the name of a CSV; otherwise the head of the channel.
    pub version: Option<&'a str>,
    /// The channel; otherwise the default one.
    pub channel: Option<&'a str>,
    /// The catalog, NAME or NAMESPACE/NAME; otherwise the only one with the package.
    pub source: Option<&'a str>,
}

/// A package of a cluster, with what is not known of it.
///
/// # Errors
/// No catalog has it, several have, or time runs out.
pub async fn in_cluster(cluster: &Cluster, named: Named<'_>, reading: &Reading) -> Result<Details> {
    let sources = &reading.sources;
    let listing = Listing::of_cluster(cluster, sources, Some(named.package)).await?;
    let status = the_only(&listing.packages, named.package, named.source)?;
    let settings = cluster.settings(sources.olm_namespace.as_deref()).await?;
    let (visible, unread) = Visible::read(cluster, &cluster.namespace, &settings).await?;
    let key = key_of(status);
    let visible = visible.only(&key);
    let mut catalogs =
        Catalogs::of_cluster(Access::of(cluster), &visible, &sources.catalog).await?;
    if !catalogs.has(&key) && catalogs.unread.is_empty() {
        catalogs.unread.extend(unread);
    }
    let contents = Contents::of(cluster, &catalogs, &reading.pulling, reading.bundles.clone());
    read(named, status, &listing, &contents, &Known::default()).await
}

/// A package of catalogs that flags name.
///
/// # Errors
/// As [`in_cluster`].
pub async fn offline(
    namespace: Option<&str>,
    named: Named<'_>,
    reading: &Reading,
    notices: &Notices,
) -> Result<Details> {
    let sources = &reading.sources;
    let listing = Listing::of_flags(namespace, sources, Some(named.package), notices).await?;
    let status = the_only(&listing.packages, named.package, named.source)?;
    let (visible, known) = visible_offline(namespace, sources)?;
    let (flags, folders) = (&sources.catalog, Folders::default());
    let catalogs = Catalogs::of_flags(&visible, flags, &folders, notices).await?;
    let folder = reading.bundles.clone();
    let contents = Contents { cluster: None, catalogs: &catalogs, images: None, folder };
    read(named, status, &listing, &contents, &known).await
}

/// The package of that name, in the catalog that is named.
///
/// # Errors
/// There is none, or several catalogs have one.
pub fn the_only<'a>(
    packages: &'a [PackageManifest],
    package: &str,
    source: Option<&str>,
) -> Result<&'a PackageManifestStatus> {
    let is_source = |status: &&PackageManifestStatus| {
        source.is_none_or(|source| {
            source == status.catalog_source || source == key_of(status).to_string()
        })
    };
    let all = packages.iter().filter_map(|one| one.status.as_ref());
    let found: Vec<&PackageManifestStatus> =
        all.filter(|status| status.package_name == package).filter(is_source).collect();
    match found.as_slice() {
        [one] => Ok(one),
        [] => bail!(
            "no catalog that was read has the package {package}; `kubectl olm search` shows what there is"
        ),
        several => {
            let names: Vec<String> = several.iter().map(|one| key_of(one).to_string()).collect();
            bail!(
                "several catalogs have the package {package}: {}; --source names one",
                names.join(", ")
            )
        }
    }
}

/// The catalog of a package.
pub fn key_of(status: &PackageManifestStatus) -> CatalogKey {
    CatalogKey::new(&status.catalog_source_namespace, &status.catalog_source)
}

async fn read(
    named: Named<'_>,
    status: &PackageManifestStatus,
    listing: &Listing,
    contents: &Contents<'_>,
    known: &Known,
) -> Result<Details> {
    let (channel, name) = chosen(status, named.channel, named.version)?;
    let key = key_of(status);
    let is_partial = contents.catalogs.partial.contains(&key);
    let snapshot = contents.catalogs.set.snapshot(&key);
    let entries = snapshot.map(|one| one.channel(&status.package_name, &channel.name));
    let entry: Option<&Arc<Entry>> =
        entries.and_then(|entries| entries.iter().find(|entry| *entry.name == *name));
    let mut unknown = contents.catalogs.unread.clone();
    let csv = match entry {
        Some(entry) => match contents.read(entry, known).await {
            Content::Read(bundle) => Some(read_csv(&bundle.csv_json)?),
            Content::Unknown(why) => {
                unknown.push(format!("permissions of {name}: {why}"));
                None
            }
        },
        None => {
            if unknown.is_empty() {
                unknown.push(format!("dependencies and permissions of {name}: {key} was not read"));
            }
            None
        }
    };
    let entry = entry.filter(|_| !is_partial).map(|entry| &**entry);
    let place = (channel, name.as_str());
    let mut found = details(status, place, &listing.subscriptions, entry, csv.as_ref());
    found.unknown = unknown;
    Ok(found)
}

/// A CSV of a bundle.
///
/// # Errors
/// It is none.
pub fn read_csv(text: &str) -> Result<ClusterServiceVersion> {
    json_as(text, &Budget::OBJECT).context("the CSV of the bundle cannot be read")
}
