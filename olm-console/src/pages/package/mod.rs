//! A package: what its author writes, its versions, its upgrade graph, and what one of its bundles brings and needs.

mod drawing;

use askama::Template;
use axum::response::Response;
use olm_client::package::{GraphRequest, Named, in_cluster, upgrades};
use olm_plan::details::{BundleDetails, ChannelDetails, Details};
use olm_plan::preview::permissions::right;
use olm_plan::search::PackageRow;

use super::bounds::{Budget, short};
use super::frame::{Frame, Problem, html, url};
use super::{Page, PageView, given};
use crate::failure::Failure;
use crate::markdown::markup;
use drawing::{Drawing, drawing};

/// Versions of all channels together that are shown.
const VERSIONS: usize = 60;

/// Versions of a channel that are shown at least, where there are many channels.
const FEW: usize = 3;

/// Channels that are shown, the default one first.
const CHANNELS: usize = 40;

/// Bytes of them, and of markup around each version.
const LINKS: usize = 14 * 1024;
const MARKUP: usize = 40;

/// Lines of one fact that are shown.
const LINES: usize = 100;

/// Bytes of all facts together.
const FACTS: usize = 16 * 1024;

/// Characters of names and of what an author says in a line.
const LINE: usize = 300;

#[derive(Template)]
#[template(path = "package.html")]
struct Package {
    frame: Frame,
    icon: String,
    install: String,
    details: Details,
    readme: String,
    installed: String,
    channels: Vec<Channel>,
    more_channels: usize,
    facts: Vec<Fact>,
    drawing: Option<Drawing>,
    no_drawing: Option<Failure>,
}

struct Channel {
    name: String,
    is_default: bool,
    deprecated: Option<String>,
    versions: Vec<Version>,
    more: usize,
}

struct Version {
    text: String,
    url: String,
    deprecated: bool,
    is_chosen: bool,
}

/// Something about a bundle; without lines it is unknown.
struct Fact {
    title: &'static str,
    lines: Option<Vec<String>>,
    more: usize,
}

/// Reads the page.
pub(super) async fn read(visit: &PageView<'_>) -> Response {
    let asked = Named {
        package: given(&visit.params.name).unwrap_or_default(),
        version: given(&visit.params.version),
        channel: given(&visit.params.channel),
        source: given(&visit.params.catalog),
    };
    let command = visit.command().word("show").word(asked.package);
    let command = command
        .flag("--source", asked.source)
        .flag("--channel", asked.channel)
        .flag("--version", asked.version);
    let reading = &visit.context.console.reading;
    let mut details = match in_cluster(&visit.cluster, asked, reading).await {
        Ok(details) => details,
        Err(error) => {
            let frame = visit.frame(Page::Package, asked.package, &command);
            return html(&Problem { frame, failure: Failure::of(&error) });
        }
    };
    let catalog = details.row.catalog.clone();
    let page = given(&visit.params.page).and_then(|page| page.parse().ok()).unwrap_or(1);
    let from =
        GraphRequest { package: asked.package, source: Some(&catalog), ..GraphRequest::default() };
    let (drawing, no_drawing) = match upgrades(&visit.cluster, from, &reading.sources).await {
        Ok(found) => (Some(drawing(&found, visit.home(), page)), None),
        Err(error) => (None, Some(Failure::of(&error))),
    };
    shorten(&mut details.row);
    let row = &details.row;
    let title = if row.display_name.is_empty() { &row.name } else { &row.display_name };
    let graph = visit.command().word("graph").word(asked.package).flag("--source", asked.source);
    html(&Package {
        frame: visit.frame_of(Page::Package, title, &[command, graph]),
        icon: url("/icon", &[("namespace", Some(visit.home())), ("name", Some(&row.name))]),
        install: install_url(visit.home(), &details, asked.version.is_some()),
        readme: markup(&details.description),
        installed: row.installed.join(", "),
        channels: channels(&details.channels, &details.row, &details.bundle, visit.home()),
        more_channels: details.channels.len().saturating_sub(CHANNELS),
        facts: facts(&details.bundle),
        details,
        drawing,
        no_drawing,
    })
}

/// Where what is shown is installed.
fn install_url(home: &str, details: &Details, is_version_named: bool) -> String {
    let (row, bundle) = (&details.row, &details.bundle);
    let version = if bundle.version.is_empty() { &bundle.csv } else { &bundle.version };
    let params = [
        ("namespace", Some(home)),
        ("package", Some(row.name.as_str())),
        ("catalog", Some(row.catalog.as_str())),
        ("channel", Some(bundle.channel.as_str())),
        ("version", Some(version.as_str()).filter(|_| is_version_named)),
    ];
    url("/install", &params)
}

/// What an author says in a line is one.
fn shorten(row: &mut PackageRow) {
    for text in [&mut row.display_name, &mut row.provider, &mut row.capabilities] {
        *text = short(text, LINE);
    }
    row.deprecated = row.deprecated.as_deref().map(|why| short(why, LINE));
}

/// The address of a version of a package.
fn version_url(home: &str, package: &str, catalog: &str, channel: &str, csv: &str) -> String {
    let params = [
        ("namespace", Some(home)),
        ("name", Some(package)),
        ("catalog", Some(catalog)),
        ("channel", Some(channel)),
        ("version", Some(csv)),
    ];
    url("/package", &params)
}

fn channels(
    all: &[ChannelDetails],
    row: &PackageRow,
    bundle: &BundleDetails,
    home: &str,
) -> Vec<Channel> {
    let shown = all.len().clamp(1, CHANNELS);
    let each = (VERSIONS / shown).max(FEW);
    let mut budget = Budget::new(LINKS);
    let channel = |channel: &ChannelDetails| -> Channel {
        let versions = channel.versions.iter().take(each).map(|one| Version {
            text: short(if one.version.is_empty() { &one.csv } else { &one.version }, LINE),
            url: version_url(home, &row.name, &row.catalog, &channel.name, &one.csv),
            deprecated: one.deprecated.is_some(),
            is_chosen: one.csv == bundle.csv && channel.name == bundle.channel,
        });
        let versions: Vec<Version> =
            versions.filter(|one| budget.holds(MARKUP, &[&one.text, &one.url])).collect();
        Channel {
            name: short(&channel.name, LINE),
            is_default: channel.is_default,
            deprecated: channel.deprecated.as_deref().map(|why| short(why, LINE)),
            more: channel.versions.len().saturating_sub(versions.len()),
            versions,
        }
    };
    all.iter().take(CHANNELS).map(channel).collect()
}

/// What is not said is left out; what would be said by something that was not read is unknown.
fn facts(bundle: &BundleDetails) -> Vec<Fact> {
    let one = |text: Option<&String>| Some(text.into_iter().cloned().collect::<Vec<_>>());
    let rights = bundle.rights.as_ref().map(|rights| rights.iter().map(right).collect());
    let facts = [
        ("Version", one(Some(&bundle.version))),
        ("Install modes", Some(bundle.install_modes.clone())),
        ("Brings", Some(bundle.provides.clone())),
        ("Requires", Some(bundle.requires.clone())),
        ("Depends on", bundle.dependencies.clone()),
        ("Permissions", rights),
        ("Reaches beyond the operator", Some(bundle.reaches.clone())),
        ("Replaces", one(bundle.replaces.as_ref())),
        ("Skips", Some(bundle.skips.clone())),
        ("Skips the range", one(bundle.skip_range.as_ref())),
        ("Bundle image", one(bundle.image.as_ref())),
        ("Images", Some(bundle.images.clone())),
        ("Kubernetes from", one(bundle.min_kube_version.as_ref())),
        ("Maturity", one(bundle.maturity.as_ref())),
        ("Links", Some(bundle.links.clone())),
        ("Maintainers", Some(bundle.maintainers.clone())),
    ];
    let shown = facts.into_iter().filter(|(_, lines)| {
        lines.as_ref().is_none_or(|lines| lines.iter().any(|line| !line.is_empty()))
    });
    let mut budget = Budget::new(FACTS);
    shown.map(|(title, lines)| fact(title, lines, &mut budget)).collect()
}

fn fact(title: &'static str, lines: Option<Vec<String>>, budget: &mut Budget) -> Fact {
    let all = lines.as_ref().map_or(0, Vec::len);
    let lines: Option<Vec<String>> = lines.map(|lines| {
        let lines = lines.iter().take(LINES).map(|line| short(line, LINE));
        lines.filter(|line| budget.holds(MARKUP, &[line])).collect()
    });
    let more = lines.as_ref().map_or(0, |lines| all - lines.len());
    Fact { title, lines, more }
}

#[cfg(test)]
mod tests {
    use olm_plan::details::VersionDetails;

    use super::*;

    #[test]
    fn what_was_not_read_is_unknown_and_what_is_not_said_is_left_out() {
        let bundle = BundleDetails {
            version: "1.0.0".to_owned(),
            images: vec!["i".to_owned(); LINES + 2],
            ..BundleDetails::default()
        };
        let facts = facts(&bundle);
        let shown: Vec<(&str, bool, usize)> =
            facts.iter().map(|fact| (fact.title, fact.lines.is_some(), fact.more)).collect();
        let expected = [
            ("Version", true, 0),
            ("Depends on", false, 0),
            ("Permissions", false, 0),
            ("Images", true, 2),
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn facts_and_channels_have_a_budget() {
        let line = "<".repeat(LINE);
        let bundle = BundleDetails {
            install_modes: vec![line.clone(); LINES],
            images: vec!["i".to_owned()],
            ..BundleDetails::default()
        };
        let facts = facts(&bundle);
        let lines = facts[0].lines.as_ref().unwrap();
        assert!(lines.len() * LINE * 5 <= FACTS && facts[0].more == LINES - lines.len());
        let version = VersionDetails { csv: line, version: String::new(), deprecated: None };
        let channel = |number: usize| ChannelDetails {
            name: format!("c{number}"),
            is_default: false,
            head: String::new(),
            deprecated: None,
            versions: vec![version.clone(); 9],
        };
        let all: Vec<ChannelDetails> = (0..500).map(channel).collect();
        let mut row = crate::pages::catalog::tests::row("kettle", "tea");
        row.display_name = "W".repeat(20_000);
        shorten(&mut row);
        assert_eq!(row.display_name.chars().count(), LINE + 1);
        let channels = channels(&all, &row, &bundle, "team");
        assert_eq!(channels.len(), CHANNELS);
        let shown: usize = channels.iter().map(|one| one.versions.len()).sum();
        assert!(shown > 0 && shown * LINE * 5 <= LINKS, "{shown}");
        assert_eq!(channels[CHANNELS - 1].more, 9);
    }
}
