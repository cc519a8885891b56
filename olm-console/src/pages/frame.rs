//! What stands around every page, and how pages become answers.

use askama::Template;
use axum::response::{Html, IntoResponse, Response};
use http::StatusCode;
use olm_client::clean;

use super::Page;
use crate::failure::Failure;

/// What stands around a page.
pub(super) struct Frame {
    /// What it is about.
    pub(super) title: String,
    /// Where it is in the menu.
    pub(super) here: Page,
    /// The namespace that is looked at.
    pub(super) namespace: String,
    /// The API server.
    pub(super) server: String,
    /// The commands that show the same, one a line.
    pub(super) command: String,
    /// Whether the user has logged in, and may log out.
    pub(super) leaves: bool,
    /// Where the page gets its events, if it is live.
    pub(super) live: Option<String>,
    /// What was said while it was read.
    pub(super) notes: Vec<String>,
    /// What its forms have.
    pub(super) token: String,
}

/// An entry of the menu.
pub(super) struct Entry {
    pub(super) title: &'static str,
    pub(super) url: String,
    pub(super) is_here: bool,
}

/// A page that could not be read.
#[derive(Template)]
#[template(path = "problem.html")]
pub(super) struct Problem {
    pub(super) frame: Frame,
    pub(super) failure: Failure,
}

/// The menu: title, address, and pages that belong there.
const MENU: [(&str, &str, &[Page]); 4] = [
    ("Catalog", "/catalog", &[Page::Catalog, Page::Package, Page::Install]),
    (
        "Installed",
        "/installed",
        &[Page::Installed, Page::AllInstalled, Page::Operator, Page::Remove, Page::Create],
    ),
    ("Plans", "/plan", &[Page::Plan, Page::Upgrade]),
    ("Health", "/health", &[Page::Health]),
];

impl Frame {
    /// The menu, in the same namespace.
    pub(super) fn menu(&self) -> Vec<Entry> {
        let entry = |(title, path, pages): &(&'static str, &str, &[Page])| Entry {
            title,
            url: url(path, &[("namespace", Some(&self.namespace))]),
            is_here: pages.contains(&self.here),
        };
        MENU.iter().map(entry).collect()
    }

    /// Scripts of a page that is live.
    pub(super) fn scripts(&self) -> &'static [String] {
        if self.live.is_some() { crate::assets::scripts() } else { &[] }
    }

    /// Where another namespace is looked at.
    pub(super) fn elsewhere(&self) -> &'static str {
        let own = MENU.iter().find(|(_, _, pages)| pages.contains(&self.here));
        own.map_or("/catalog", |(_, path, _)| path)
    }
}

/// An answer with a page. What turns the direction of writing or controls a terminal stands in no page.
pub(super) fn html(page: &impl Template) -> Response {
    match page.render() {
        Ok(text) => Html(clean::text(&text)).into_response(),
        Err(error) => {
            let why = format!("This page cannot be written: {error}\n");
            (StatusCode::INTERNAL_SERVER_ERROR, why).into_response()
        }
    }
}

/// An address of a page, with what is given of these.
pub(super) fn url(path: &str, params: &[(&str, Option<&str>)]) -> String {
    let given = params.iter().filter_map(|(name, value)| Some((name, (*value)?)));
    let given = given.filter(|(_, value)| !value.is_empty());
    let pairs: Vec<String> =
        given.map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    match pairs.as_slice() {
        [] => path.to_owned(),
        pairs => format!("{path}?{}", pairs.join("&")),
    }
}

fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_holds_any_text() {
        let found =
            url("/p", &[("a", Some("x y&z=é")), ("b", None), ("c", Some("")), ("d", Some("1"))]);
        assert_eq!(found, "/p?a=x%20y%26z%3D%C3%A9&d=1");
        assert_eq!(url("/p", &[("a", None)]), "/p");
    }

    #[test]
    fn texts_of_others_are_escaped() {
        let hostile = "<script>alert(1)</script>\u{202e}\"'";
        let frame = Frame {
            title: hostile.to_owned(),
            here: Page::Health,
            namespace: "ns\" onfocus=\"alert(1)".to_owned(),
            server: hostile.to_owned(),
            command: hostile.to_owned(),
            leaves: true,
            live: None,
            notes: vec![hostile.to_owned()],
            token: String::new(),
        };
        let page = Problem { frame, failure: Failure::other(hostile) }.render().unwrap();
        assert!(!page.contains("<script") && !page.contains("\" onfocus"), "{page}");
        assert!(page.contains("&#60;script&#62;alert(1)"), "{page}");
    }
}
