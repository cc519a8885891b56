//! The pages: each reads what it shows, asks olm-plan, and fills a template. What cannot be read is a part of the
//! page that says so.

mod bounds;
mod catalog;
mod frame;
mod health;
mod installed;
mod operator;
mod package;
mod plan;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use olm_client::listing::Listing;
use olm_client::package::icon;
use olm_client::{Cluster, Notices};
use serde::Deserialize;
use tokio::time::Instant;

use crate::command::Words;
use crate::failure::Failure;
use crate::{Console, headers, icon as picture};
use frame::{Frame, Problem, html};

/// How long the packages of a namespace are kept: pages of one search, and words added to it, ask once.
const KEPT: Duration = Duration::from_secs(20);

/// Most characters of a namespace.
const NAMESPACE: usize = 63;

/// A page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    Catalog,
    Package,
    Installed,
    Operator,
    Plan,
    Health,
    Icon,
}

/// What an address says about a page. What is empty is as if it were not there.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Params {
    namespace: Option<String>,
    q: Option<String>,
    name: Option<String>,
    catalog: Option<String>,
    category: Option<String>,
    capability: Option<String>,
    channel: Option<String>,
    version: Option<String>,
    page: Option<String>,
}

/// What pages are read with.
pub(crate) struct Desk {
    console: Console,
    listing: RefCell<Option<(Instant, String, Rc<Listing>)>>,
}

/// One page that is read.
struct Visit<'a> {
    desk: &'a Desk,
    cluster: Cluster,
    params: &'a Params,
    notes: Arc<Mutex<Vec<String>>>,
}

impl Desk {
    /// Nothing is read yet.
    pub(crate) fn new(console: Console) -> Self {
        Self { console, listing: RefCell::new(None) }
    }
}

/// Reads a page. It always ends with an answer.
pub(crate) async fn read(desk: &Desk, page: Page, params: &Params) -> Response {
    let home = given(&params.namespace).unwrap_or(&desk.console.cluster.namespace);
    if !is_namespace(home) {
        let why = "A namespace has letters, digits and dashes.";
        return (StatusCode::BAD_REQUEST, failed(desk, page, Failure::other(why))).into_response();
    }
    let notes = Arc::new(Mutex::new(Vec::new()));
    let kept = notes.clone();
    let notices = Notices::new(move |line| {
        kept.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_owned());
    });
    let cluster = Cluster {
        namespace: home.to_owned(),
        notices: notices.without_progress(),
        ..desk.console.cluster.clone()
    };
    let visit = Visit { desk, cluster, params, notes };
    match page {
        Page::Catalog => catalog::read(&visit).await,
        Page::Package => package::read(&visit).await,
        Page::Installed => installed::read(&visit).await,
        Page::Operator => operator::read(&visit).await,
        Page::Plan => plan::read(&visit).await,
        Page::Health => health::read(&visit).await,
        Page::Icon => picture_of(&visit).await,
    }
}

/// A page in place of one that could not be read.
pub(crate) fn failed(desk: &Desk, page: Page, failure: Failure) -> Response {
    let cluster = &desk.console.cluster;
    let command = Words::new(&desk.console.flags, &cluster.namespace).word("doctor");
    let frame = Frame {
        title: "Not shown".to_owned(),
        here: page,
        namespace: cluster.namespace.clone(),
        server: cluster.server.clone(),
        command: command.line(),
        notes: Vec::new(),
    };
    html(&Problem { frame, failure })
}

impl Visit<'_> {
    fn home(&self) -> &str {
        &self.cluster.namespace
    }

    fn command(&self) -> Words {
        Words::new(&self.desk.console.flags, self.home())
    }

    /// What stands around a page; it is made last, as it has what was said while reading.
    fn frame(&self, here: Page, title: &str, command: &Words) -> Frame {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        notes.sort();
        notes.dedup();
        Frame {
            title: title.to_owned(),
            here,
            namespace: self.home().to_owned(),
            server: self.cluster.server.clone(),
            command: command.line(),
            notes,
        }
    }

    /// The packages of the namespace, as they were a moment ago.
    async fn listing(&self) -> anyhow::Result<Rc<Listing>> {
        let fresh = |(read, home, _): &&(Instant, String, Rc<Listing>)| {
            read.elapsed() < KEPT && home == self.home()
        };
        let kept = self.desk.listing.borrow().as_ref().filter(fresh).map(|kept| kept.2.clone());
        if let Some(listing) = kept {
            return Ok(listing);
        }
        let sources = &self.desk.console.reading.sources;
        let listing = Rc::new(Listing::of_cluster(&self.cluster, sources, None).await?);
        let kept = (Instant::now(), self.home().to_owned(), listing.clone());
        *self.desk.listing.borrow_mut() = Some(kept);
        Ok(listing)
    }
}

/// What an address says, unless it is empty.
fn given(value: &Option<String>) -> Option<&str> {
    value.as_deref().map(str::trim).filter(|value| !value.is_empty())
}

/// A namespace becomes a part of addresses of the API server.
fn is_namespace(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty() && name.len() <= NAMESPACE && name.chars().all(plain)
}

/// A picture, or what stands for one that is not there, may not be read or is none.
async fn picture_of(visit: &Visit<'_>) -> Response {
    let package = given(&visit.params.name).unwrap_or_default();
    let found = icon(&visit.cluster, package, picture::LARGEST).await.ok();
    let of_type = found.and_then(|found| {
        let of_type = picture::type_of(&found.media_type, &found.bytes)?;
        Some((of_type, found.bytes))
    });
    let (of_type, bytes) =
        of_type.unwrap_or_else(|| ("image/svg+xml", picture::NONE.as_bytes().to_vec()));
    let mut response = Body::from(bytes).into_response();
    let all = response.headers_mut();
    all.insert(CONTENT_TYPE, HeaderValue::from_static(of_type));
    all.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(headers::PICTURE));
    response
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("team-1", true)]
    #[case("", false)]
    #[case("../secrets", false)]
    #[case("a/b", false)]
    #[case("A", false)]
    #[case("a?watch=true", false)]
    fn a_namespace_stays_one_part_of_an_address(#[case] name: &str, #[case] expected: bool) {
        assert_eq!(is_namespace(name), expected);
    }

    #[test]
    fn what_is_empty_is_not_there() {
        assert_eq!(given(&Some("  ".to_owned())), None);
        assert_eq!(given(&Some(" a ".to_owned())), Some("a"));
    }
}
