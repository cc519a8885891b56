//! `graph`: the upgrade graph of a package, as lanes, for Mermaid, or as values.

mod lanes;
mod mermaid;

use anyhow::Result;
use olm_client::Cluster;
use olm_client::cluster::one_namespace;
use olm_client::package::{GraphRequest, Upgrades, upgrades, upgrades_offline};
use olm_plan::graph::Graph;

use crate::Outcome;
use crate::args::{Format, GraphArgs};
use crate::output::{Kind, Output};

/// Shows a package of a cluster, with what is installed in the namespace.
pub async fn run(
    cluster: &Cluster,
    all: bool,
    asked: &GraphArgs,
    output: Output,
) -> Result<Outcome> {
    one_namespace(cluster, all)?;
    shown(&upgrades(cluster, asking(asked), &asked.sources).await?, output)
}

/// Shows a package of catalogs that flags name.
pub async fn offline(
    namespace: Option<&str>,
    asked: &GraphArgs,
    output: Output,
) -> Result<Outcome> {
    let notices = Output::notices();
    shown(&upgrades_offline(namespace, asking(asked), &asked.sources, &notices).await?, output)
}

fn asking(asked: &GraphArgs) -> GraphRequest<'_> {
    GraphRequest {
        package: &asked.package,
        channel: asked.channel.as_deref(),
        source: asked.source.as_deref(),
        version: asked.from.as_deref(),
    }
}

fn shown(found: &Upgrades, output: Output) -> Result<Outcome> {
    print(&found.graph, output)?;
    for unread in &found.unread {
        Output::complain(&format!("unknown: {unread}"));
    }
    Ok(if found.unread.is_empty() { Outcome::Fine } else { Outcome::Incomplete })
}

fn print(drawn: &Graph, output: Output) -> Result<()> {
    match output.format() {
        Format::Table | Format::Wide | Format::Text => output.print(&lanes::draw(drawn)),
        Format::Mermaid => output.print(&mermaid::draw(drawn)),
        Format::Name => {
            let names = drawn.rows.iter().map(|row| format!("{}\n", row.bundle));
            output.print(&names.collect::<String>())
        }
        _ => output.object(Kind::UpgradeGraph, drawn),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use olm_plan::graph::{InstalledVersion, graph};
    use olm_types::bundle::{CatalogKey, Entry};

    use super::*;
    use crate::output::assert_described;

    fn entry(channel: &str, version: &str, replaces: Option<&str>, skips: &[&str]) -> Arc<Entry> {
        let catalog = CatalogKey::new("olm", "c");
        Arc::new(Entry {
            version: format!("{version}.0.0").parse().ok(),
            replaces: replaces.map(|old| format!("a.v{old}").into()),
            skips: skips.iter().map(|old| format!("a.v{old}").into()).collect(),
            in_default_channel: channel == "stable",
            ..Entry::new(catalog, "a", channel, &format!("a.v{version}"))
        })
    }

    /// Two channels: in one a version is skipped.
    pub(super) fn example() -> Graph {
        let entries = [
            entry("stable", "1", None, &[]),
            entry("stable", "2", Some("1"), &[]),
            entry("stable", "3", Some("1"), &["2"]),
            entry("fast", "1", None, &[]),
            entry("fast", "2", Some("1"), &[]),
            entry("fast", "3", Some("2"), &[]),
        ];
        let (csv, channel) = ("a.v1".to_owned(), Some("stable".to_owned()));
        let here = InstalledVersion { csv, version: "1.0.0".parse().ok(), channel };
        graph(&entries, None, Some(&here))
    }

    #[test]
    fn the_schema_describes_a_graph() {
        let graph = example();
        assert!(!graph.nodes.is_empty() && !graph.edges.is_empty(), "{graph:?}");
        assert_described(Kind::UpgradeGraph, &graph);
    }
}
