//! `show`: a package, its channels, and what one of its bundles brings, needs and may do.

use std::fmt::{self, Write};

use anyhow::Result;
use olm_client::Cluster;
use olm_client::clean::cell;
use olm_client::cluster::one_namespace;
use olm_client::package::{self, Named};
use olm_plan::details::{BundleDetails, ChannelDetails, Details};
use olm_plan::preview::permissions::{Right, right};

use crate::Outcome;
use crate::args::{Format, ShowArgs};
use crate::output::{Kind, Output};

/// Most versions of a channel that are shown without `-o json`.
const VERSIONS: usize = 8;

/// Most lines of a description that are shown without `-o wide`.
const LINES: usize = 6;

/// Shows a package of a cluster.
pub async fn run(
    cluster: &Cluster,
    all: bool,
    asked: &ShowArgs,
    output: Output,
) -> Result<Outcome> {
    one_namespace(cluster, all)?;
    print(&package::in_cluster(cluster, named(asked), &asked.reading).await?, output)
}

/// Shows a package of catalogs that flags name.
pub async fn offline(namespace: Option<&str>, asked: &ShowArgs, output: Output) -> Result<Outcome> {
    let notices = Output::notices();
    let found = package::offline(namespace, named(asked), &asked.reading, &notices).await?;
    print(&found, output)
}

fn named(asked: &ShowArgs) -> Named<'_> {
    Named {
        package: &asked.package,
        version: asked.version.as_deref(),
        channel: asked.channel.as_deref(),
        source: asked.source.as_deref(),
    }
}

fn print(found: &Details, output: Output) -> Result<Outcome> {
    match output.format() {
        Format::Table | Format::Wide | Format::Text => {
            output.print(&describe(found, output.is_wide()))?;
        }
        Format::Name => output.print(&format!("{}\n", found.row.name))?,
        _ => output.object(Kind::Package, found)?,
    }
    Ok(if found.unknown.is_empty() { Outcome::Fine } else { Outcome::Incomplete })
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
    use olm_plan::details::details;
    use olm_types::api::{ClusterServiceVersion, PackageManifestStatus};
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
