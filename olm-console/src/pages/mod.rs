//! The pages: each reads what it shows, asks olm-plan, and fills a template. What cannot be read is a part of the
//! page that says so. Some change something: a form is posted, compared with what its page has shown, written, and
//! answered with the address of a page that shows what came of it.
//!
//! Elements that tests in a browser look for keep these ids:
//!
//! ```text
//! search, provides, found, count            what packages are searched by, what is found, and how many there are
//! command                                   the command that shows the same
//! installed-table, events-table, catalogs-table, certificates-table
//!                                           tables
//! others                                    /installed: CSVs without a Subscription
//! upgrade-graph, graph-table                the graph, and the same as a table
//! install-form, install-confirm             /install: what is asked for, and what was shown
//! approve-form                              /plan: the InstallPlan that waits
//! upgrade-form                              /upgrade
//! remove-form, removed                      /remove, and its report
//! example-form, create-form, object         /create: which example, and the object
//! act-install, act-upgrade, act-remove, act-create, act-plan
//!                                           links to these pages, or buttons that say why not
//! content                                   what a page is about, below its h1
//! ```

mod act;
mod bounds;
mod catalog;
mod create;
mod explained;
mod frame;
mod health;
mod install;
mod installed;
#[cfg(test)]
mod odd_clusters;
mod operator;
mod package;
mod params;
mod plan;
mod remove;
mod shown;
mod upgrade;

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
use olm_client::{Cluster, Notices, Remembered};
use tokio::time::Instant;

use crate::command::CommandLine;
use crate::failure::Failure;
use crate::live::{self, Live};
use crate::session::Identity;
use crate::{Console, headers, icon as picture};
use frame::{Frame, Problem, html};

pub(crate) use params::Params;

/// How long the packages of a namespace are kept, and what explains an operator: pages of one search, and words added
/// to it, ask once.
const KEPT: Duration = Duration::from_secs(20);

/// Most characters of a namespace.
const NAMESPACE: usize = 63;

/// A page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    Catalog,
    Package,
    Installed,
    /// Of all namespaces.
    AllInstalled,
    Operator,
    Plan,
    Health,
    Icon,
    Install,
    Upgrade,
    Remove,
    Create,
}

impl Page {
    /// The page at this address with these parameters.
    fn asked(self, params: &Params) -> Self {
        match self {
            Self::Installed if params.is_of_all() => Self::AllInstalled,
            other => other,
        }
    }
}

/// What pages are read with.
pub(crate) struct PageContext {
    console: Console,
    live: Live,
    listing: RefCell<Option<ReadPackages>>,
    explanations: explained::Explanations,
    reports: remove::Reports,
}

/// The packages of a namespace, as one session has read them.
struct ReadPackages {
    read: Instant,
    session: u64,
    home: String,
    /// Stands for what was there before they were read, where that is known.
    seen: Option<u64>,
    listing: Rc<Listing>,
}

/// One page that is read.
struct PageView<'a> {
    context: &'a PageContext,
    session: u64,
    leaves: bool,
    cluster: Cluster,
    params: &'a Params,
    /// Stands for what was there before it is read, where that is known.
    seen: Option<u64>,
    notes: Arc<Mutex<Vec<String>>>,
}

impl PageContext {
    /// Nothing is read yet.
    pub(crate) fn new(console: Console, live: Live) -> Self {
        let reports = remove::Reports::default();
        let (listing, explanations) = (RefCell::new(None), explained::Explanations::default());
        Self { console, live, listing, explanations, reports }
    }
}

/// Reads a page. It always ends with an answer.
pub(crate) async fn read(
    context: &PageContext,
    identity: &Identity,
    page: Page,
    params: &Params,
) -> Response {
    let home = given(&params.namespace).unwrap_or(&identity.cluster.namespace);
    if !is_namespace(home) {
        let failure = Failure::other("A namespace has letters, digits and dashes.");
        let page = failed(context, identity, page, params, failure);
        return (StatusCode::BAD_REQUEST, page).into_response();
    }
    let page = page.asked(params);
    let seen = context.live.digest(identity.session, page, home);
    let notes = Arc::new(Mutex::new(Vec::new()));
    let kept = notes.clone();
    let notices = Notices::new(move |line| {
        kept.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_owned());
    });
    let cluster = Cluster {
        namespace: home.to_owned(),
        notices: notices.without_progress(),
        remembered: Remembered::from_now_on(),
        ..identity.cluster.clone()
    };
    let (session, leaves) = (identity.session, identity.has_logged_in());
    let visit = PageView { context, session, leaves, cluster, params, seen, notes };
    match page {
        Page::Catalog => catalog::read(&visit).await,
        Page::Package => package::read(&visit).await,
        Page::Installed => installed::read(&visit, false).await,
        Page::AllInstalled => installed::read(&visit, true).await,
        Page::Operator => operator::read(&visit).await,
        Page::Plan => plan::read(&visit).await,
        Page::Health => health::read(&visit).await,
        Page::Icon => picture_of(&visit).await,
        Page::Install => install::read(&visit).await,
        Page::Upgrade => upgrade::read(&visit).await,
        Page::Remove => remove::read(&visit).await,
        Page::Create => create::read(&visit).await,
    }
}

/// A page in place of one that could not be read. It is live as that one is, so that it is read again.
pub(crate) fn failed(
    context: &PageContext,
    identity: &Identity,
    page: Page,
    params: &Params,
    failure: Failure,
) -> Response {
    let (cluster, page) = (&identity.cluster, page.asked(params));
    let home = given(&params.namespace).filter(|home| is_namespace(home));
    let home = home.unwrap_or(&cluster.namespace);
    let command = CommandLine::new(&context.console.flags, home).word("doctor");
    let frame = Frame {
        title: "Not shown".to_owned(),
        here: page,
        namespace: home.to_owned(),
        server: cluster.server.clone(),
        command: command.line(),
        leaves: identity.has_logged_in(),
        live: live::address(page, home, None).filter(|_| !params.is_posted()),
        notes: Vec::new(),
        token: String::new(),
    };
    html(&Problem { frame, failure })
}

impl PageView<'_> {
    fn home(&self) -> &str {
        &self.cluster.namespace
    }

    fn command(&self) -> CommandLine {
        CommandLine::new(&self.context.console.flags, self.home())
    }

    /// What stands around a page; it is made last, as it has what was said while reading.
    fn frame(&self, here: Page, title: &str, command: &CommandLine) -> Frame {
        self.frame_of(here, title, std::slice::from_ref(command))
    }

    /// The same around a page that shows what several commands print.
    fn frame_of(&self, here: Page, title: &str, commands: &[CommandLine]) -> Frame {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        notes.sort();
        notes.dedup();
        let commands: Vec<String> = commands.iter().map(CommandLine::line).collect();
        Frame {
            title: title.to_owned(),
            here,
            namespace: self.home().to_owned(),
            server: self.cluster.server.clone(),
            command: commands.join("\n"),
            leaves: self.leaves,
            live: live::address(here, self.home(), self.seen).filter(|_| !self.params.is_posted()),
            notes,
            token: self.params.token.text().to_owned(),
        }
    }

    /// The packages of the namespace, as they were a moment ago.
    async fn listing(&self) -> anyhow::Result<Rc<Listing>> {
        let fresh = |kept: &&ReadPackages| {
            let is_own = kept.session == self.session && kept.home == self.home();
            // A page that is followed knows whether something has changed since.
            let is_same = self.seen.is_none() || kept.seen == self.seen;
            kept.read.elapsed() < KEPT && is_own && is_same
        };
        let kept =
            self.context.listing.borrow().as_ref().filter(fresh).map(|kept| kept.listing.clone());
        if let Some(listing) = kept {
            return Ok(listing);
        }
        let sources = &self.context.console.reading.sources;
        let listing = Rc::new(Listing::of_cluster(&self.cluster, sources, None).await?);
        let (read, home) = (Instant::now(), self.home().to_owned());
        let (session, seen) = (self.session, self.seen);
        let kept = ReadPackages { read, session, home, seen, listing: listing.clone() };
        *self.context.listing.borrow_mut() = Some(kept);
        Ok(listing)
    }
}

/// What an address says, unless it is empty.
fn given(value: &Option<String>) -> Option<&str> {
    value.as_deref().map(str::trim).filter(|value| !value.is_empty())
}

/// A namespace becomes a part of addresses of the API server.
pub(crate) fn is_namespace(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty() && name.len() <= NAMESPACE && name.chars().all(plain)
}

/// A picture, or what stands for one that is not there, may not be read or is none.
async fn picture_of(visit: &PageView<'_>) -> Response {
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
