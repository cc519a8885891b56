//! A package: what its author writes, its versions, its upgrade graph, and what one of its bundles brings and needs.

mod drawing;

use askama::Template;
use axum::response::Response;
use olm_client::package::{Asking, Named, in_cluster, upgrades};
use olm_plan::details::{BundleDetails, Details};
use olm_plan::preview::permissions::right;

use super::frame::{Frame, Problem, html, url};
use super::{Page, Visit, given};
use crate::failure::Failure;
use crate::markdown::markup;
use drawing::{Drawing, drawing};

/// Versions of a channel that are shown.
const VERSIONS: usize = 60;

/// Lines of one fact that are shown.
const LINES: usize = 100;

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
pub(super) async fn read(visit: &Visit<'_>) -> Response {
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
    let reading = &visit.desk.console.reading;
    let details = match in_cluster(&visit.cluster, asked, reading).await {
        Ok(details) => details,
        Err(error) => {
            let frame = visit.frame(Page::Package, asked.package, &command);
            return html(&Problem { frame, failure: Failure::of(&error) });
        }
    };
    let catalog = details.row.catalog.clone();
    let from = Asking { package: asked.package, source: Some(&catalog), ..Asking::default() };
    let (drawing, no_drawing) = match upgrades(&visit.cluster, from, &reading.sources).await {
        Ok(found) => (Some(drawing(&found, visit.home())), None),
        Err(error) => (None, Some(Failure::of(&error))),
    };
    let row = &details.row;
    let title = if row.display_name.is_empty() { &row.name } else { &row.display_name };
    html(&Package {
        frame: visit.frame(Page::Package, title, &command),
        icon: url("/icon", &[("namespace", Some(visit.home())), ("name", Some(&row.name))]),
        install: install_url(visit.home(), &details, asked.version.is_some()),
        readme: markup(&details.description),
        installed: row.installed.join(", "),
        channels: channels(&details, visit.home()),
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

fn channels(details: &Details, home: &str) -> Vec<Channel> {
    let (row, bundle) = (&details.row, &details.bundle);
    let all = details.channels.iter().map(|channel| Channel {
        name: channel.name.clone(),
        is_default: channel.is_default,
        deprecated: channel.deprecated.clone(),
        versions: channel
            .versions
            .iter()
            .take(VERSIONS)
            .map(|one| Version {
                text: if one.version.is_empty() { &one.csv } else { &one.version }.clone(),
                url: version_url(home, &row.name, &row.catalog, &channel.name, &one.csv),
                deprecated: one.deprecated.is_some(),
                is_chosen: one.csv == bundle.csv && channel.name == bundle.channel,
            })
            .collect(),
        more: channel.versions.len().saturating_sub(VERSIONS),
    });
    all.collect()
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
    shown.map(|(title, lines)| fact(title, lines)).collect()
}

fn fact(title: &'static str, lines: Option<Vec<String>>) -> Fact {
    let more = lines.as_ref().map_or(0, |lines| lines.len().saturating_sub(LINES));
    let lines = lines.map(|lines| lines.into_iter().take(LINES).collect());
    Fact { title, lines, more }
}

#[cfg(test)]
mod tests {
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
}
