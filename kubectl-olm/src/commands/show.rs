//! `show`: a package, its channels, and what one of its bundles brings, needs and may do.

use std::fmt::{self, Write};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use olm_plan::details::{BundleDetails, ChannelDetails, Details, chosen, details};
use olm_plan::preview::permissions::Right;
use olm_plan::preview::{Content, Known};
use olm_types::api::{ClusterServiceVersion, PackageManifest, PackageManifestStatus};
use olm_types::bundle::{CatalogKey, Entry};
use olm_types::document::{Budget, json_as};

use super::search::{Listing, visible_offline};
use crate::Outcome;
use crate::args::{Format, Showing};
use crate::catalogs::{Access, Catalogs, Visible};
use crate::cluster::Cluster;
use crate::contents::Contents;
use crate::output::{Kind, Output, cell};
use crate::plan::right;

/// Most versions of a channel that are shown without `-o json`.
const VERSIONS: usize = 8;

/// Most lines of a description that are shown without `-o wide`.
const LINES: usize = 6;

/// Shows a package of a cluster.
pub async fn run(cluster: &Cluster, asked: &Showing, output: Output) -> Result<Outcome> {
    let sources = &asked.reading.sources;
    let listing = Listing::of_cluster(cluster, sources, Some(&asked.package)).await?;
    let status = of_package(&listing.packages, asked)?;
    let settings = cluster.settings(sources.olm_namespace.as_deref()).await?;
    let (visible, _) = Visible::read(cluster, &cluster.namespace, &settings).await?;
    let visible = visible.only(&key_of(status));
    let catalogs = Catalogs::of_cluster(Access::of(cluster), &visible, &sources.catalog).await?;
    let bundles = asked.reading.bundles.clone();
    let contents = Contents::of(cluster, &catalogs, &asked.reading.pulling, bundles);
    shown(asked, status, &listing, &contents, &Known::default(), output).await
}

/// Shows a package of catalogs that flags name.
pub async fn offline(namespace: Option<&str>, asked: &Showing, output: Output) -> Result<Outcome> {
    let sources = &asked.reading.sources;
    let listing = Listing::of_flags(namespace, sources, Some(&asked.package)).await?;
    let status = of_package(&listing.packages, asked)?;
    let (visible, known) = visible_offline(namespace, sources)?;
    let catalogs = Catalogs::of_flags(&visible, &sources.catalog).await?;
    let folder = asked.reading.bundles.clone();
    let contents = Contents { cluster: None, catalogs: &catalogs, images: None, folder };
    shown(asked, status, &listing, &contents, &known, output).await
}

/// The package of that name, in the catalog that a flag names.
///
/// # Errors
/// There is none, or several catalogs have one.
pub fn of_package<'a>(
    packages: &'a [PackageManifest],
    asked: &Showing,
) -> Result<&'a PackageManifestStatus> {
    the_only(packages, &asked.package, asked.source.as_deref())
}

/// As [`of_package`], by names.
///
/// # Errors
/// As there.
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

async fn shown(
    asked: &Showing,
    status: &PackageManifestStatus,
    listing: &Listing,
    contents: &Contents<'_>,
    known: &Known,
    output: Output,
) -> Result<Outcome> {
    let (channel, name) = chosen(status, asked.channel.as_deref(), asked.version.as_deref())?;
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
        None => None,
    };
    let entry = entry.filter(|_| !is_partial).map(|entry| &**entry);
    let place = (channel, name.as_str());
    let mut found = details(status, place, &listing.subscriptions, entry, csv.as_ref());
    found.unknown = unknown;
    match output.format() {
        Format::Table | Format::Wide | Format::Text => {
            output.print(&describe(&found, output.is_wide()))?;
        }
        Format::Name => output.print(&format!("{}\n", found.row.name))?,
        _ => output.object(Kind::Package, &found)?,
    }
    Ok(if found.unknown.is_empty() { Outcome::Fine } else { Outcome::Incomplete })
}

/// A CSV of a bundle.
///
/// # Errors
/// It is none.
pub fn read_csv(text: &str) -> Result<ClusterServiceVersion> {
    json_as(text, &Budget::OBJECT).context("the CSV of the bundle cannot be read")
}

fn describe(found: &Details, is_wide: bool) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(found, is_wide, &mut text);
    text
}

fn write(found: &Details, is_wide: bool, out: &mut String) -> fmt::Result {
    let row = &found.row;
    let line = |out: &mut String, name: &str, value: &str| match value {
        "" => Ok(()),
        value => writeln!(out, "{:<14}{}", format!("{name}:"), cell(value)),
    };
    line(out, "Package", &row.name)?;
    line(out, "Display name", &row.display_name)?;
    line(out, "Catalog", &row.catalog)?;
    line(out, "Provider", &row.provider)?;
    line(out, "Categories", &row.categories.join(", "))?;
    line(out, "Capabilities", &row.capabilities)?;
    line(out, "Deprecated", row.deprecated.as_deref().unwrap_or_default())?;
    line(out, "Installed in", &row.installed.join(", "))?;
    let limit = if is_wide { usize::MAX } else { LINES };
    let lines: Vec<&str> = found.description.lines().filter(|one| !one.trim().is_empty()).collect();
    lines.iter().take(limit).try_for_each(|one| writeln!(out, "  {}", cell(one)))?;
    if lines.len() > limit {
        writeln!(out, "  … and {} more lines; -o wide has all", lines.len() - limit)?;
    }
    writeln!(out, "Channels:")?;
    found.channels.iter().try_for_each(|channel| write_channel(channel, out))?;
    write_bundle(&found.bundle, out)?;
    found.unknown.iter().try_for_each(|what| writeln!(out, "unknown: {}", cell(what)))
}

fn write_channel(channel: &ChannelDetails, out: &mut String) -> fmt::Result {
    let default = if channel.is_default { " (default)" } else { "" };
    let versions = channel.versions.iter();
    let versions = versions.map(|one| match one.deprecated {
        Some(_) => format!("{} (deprecated)", one.version),
        None => one.version.clone(),
    });
    let shown: Vec<String> = versions.take(VERSIONS).collect();
    let more = match channel.versions.len().saturating_sub(VERSIONS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (name, versions) = (cell(&channel.name), cell(&shown.join(", ")));
    writeln!(out, "  {name}{default}: {versions}{more}")?;
    match &channel.deprecated {
        Some(text) => writeln!(out, "    deprecated: {}", cell(text)),
        None => Ok(()),
    }
}

fn write_bundle(bundle: &BundleDetails, out: &mut String) -> fmt::Result {
    let (csv, channel) = (cell(&bundle.csv), cell(&bundle.channel));
    writeln!(out, "Bundle {csv} in channel {channel}:")?;
    let one = |out: &mut String, name: &str, value: Option<&str>| match value {
        None | Some("") => Ok(()),
        Some(value) => writeln!(out, "  {name}: {}", cell(value)),
    };
    one(out, "version", Some(&bundle.version))?;
    one(out, "image", bundle.image.as_deref())?;
    one(out, "replaces", bundle.replaces.as_deref())?;
    one(out, "skips", Some(&bundle.skips.join(", ")))?;
    one(out, "skipRange", bundle.skip_range.as_deref())?;
    one(out, "install modes", Some(&bundle.install_modes.join(", ")))?;
    one(out, "Kubernetes from", bundle.min_kube_version.as_deref())?;
    one(out, "maturity", bundle.maturity.as_deref())?;
    list(out, "provides", &bundle.provides)?;
    list(out, "requires", &bundle.requires)?;
    list(out, "depends on", bundle.dependencies.as_deref().unwrap_or_default())?;
    list(out, "images", &bundle.images)?;
    let rights: Vec<String> =
        bundle.rights.iter().flatten().map(|one: &Right| right(one)).collect();
    list(out, "permissions", &rights)?;
    list(out, "reaches beyond the operator", &bundle.reaches)?;
    list(out, "links", &bundle.links)?;
    list(out, "maintainers", &bundle.maintainers)
}

fn list(out: &mut String, title: &str, lines: &[String]) -> fmt::Result {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "  {title}:")?;
    lines.iter().try_for_each(|line| writeln!(out, "    {}", cell(line)))
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;
    use crate::output::assert_described;

    #[test]
    fn the_schema_describes_a_package() {
        let status: PackageManifestStatus = from_value(json!({"catalogSource": "c",
            "catalogSourceDisplayName": "", "catalogSourcePublisher": "",
            "catalogSourceNamespace": "olm", "packageName": "a", "defaultChannel": "s",
            "channels": [{"name": "s", "currentCSV": "a.v1", "entries": [{"name": "a.v1",
                "version": "1.0.0"}], "currentCSVDesc": {"version": "1.0.0", "maturity": "alpha",
                "minKubeVersion": "1.30.0"}}]}))
        .unwrap();
        let csv: ClusterServiceVersion = from_value(json!({"metadata": {"name": "a.v1"},
            "spec": {"install": {"strategy": "deployment", "spec": {"deployments": [],
                "permissions": [{"serviceAccountName": "a", "rules": [{"apiGroups": [""],
                    "resources": ["secrets"], "verbs": ["get"]}]}]}}}}))
        .unwrap();
        let place = (&status.channels[0], "a.v1");
        let mut found = details(&status, place, &[], None, Some(&csv));
        found.unknown.push("images".to_owned());
        assert!(found.bundle.rights.as_ref().is_some_and(|all| !all.is_empty()), "{found:?}");
        assert_described(Kind::Package, &found);
    }
}
