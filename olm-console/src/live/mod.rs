//! Live updates: an open page watches what it shows, and is read again when that has changed.
//!
//! ```text
//! kinds   what each page watches
//! watch   one watch: of one kind, in one namespace, with the rights of one session
//! shared  watches that pages share, and how many pages and watches there are
//! report  what a page is sent, and when
//! stream  the same as server-sent events
//! ```
//! Nothing polls and nothing watches for a page that is closed. Watches bring metadata only, and what is kept of an
//! object are two numbers: a page is sent that something is different, and reads it by itself.

mod kinds;
mod report;
mod shared;
mod stream;
mod watch;

use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use http::{HeaderMap, StatusCode};
use serde::Deserialize;

use crate::pages::{Page, is_namespace};
use crate::session::Identity;

use kinds::name_of;
pub(crate) use shared::{Live, PAGES};

/// Where pages get their events.
pub(crate) const PATH: &str = "/live";

/// What is said to the page after the last.
const FULL: &str = "not live: too many open pages\n";

/// What an address says about a page.
#[derive(Deserialize)]
struct LiveQuery {
    page: String,
    namespace: String,
    /// What was there when the page was read, where that is known.
    seen: Option<String>,
}

/// The address of events, behind the guard of all pages.
pub(crate) fn router<S: Clone + Send + Sync + 'static>(live: Live) -> Router<S> {
    Router::new().route(PATH, get(answer)).with_state(live)
}

/// The address of the events of a page, if it is live. `seen` is what was there before it was read.
pub(crate) fn address(page: Page, namespace: &str, seen: Option<u64>) -> Option<String> {
    let name = name_of(page)?;
    let seen = seen.map(|seen| format!("&seen={seen:x}")).unwrap_or_default();
    Some(format!("{PATH}?page={name}&namespace={namespace}{seen}"))
}

async fn answer(
    State(live): State<Live>,
    Extension(identity): Extension<Identity>,
    Query(asked): Query<LiveQuery>,
    headers: HeaderMap,
) -> Response {
    let page = kinds::named(&asked.page).filter(|_| is_namespace(&asked.namespace));
    let Some(page) = page else {
        return (StatusCode::BAD_REQUEST, "not live: there is no such page\n").into_response();
    };
    // A browser that comes back says what it was sent last.
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let seen = last.or(asked.seen.as_deref()).and_then(|text| u64::from_str_radix(text, 16).ok());
    match live.begin(&identity, page, &asked.namespace) {
        Some(followed) => stream::events(followed, &identity, seen),
        None => (StatusCode::SERVICE_UNAVAILABLE, FULL).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_names_page_namespace_and_what_was_seen() {
        let found = address(Page::Installed, "team-1", Some(255));
        assert_eq!(found.as_deref(), Some("/live?page=installed&namespace=team-1&seen=ff"));
        let found = address(Page::Health, "team-1", None);
        assert_eq!(found.as_deref(), Some("/live?page=health&namespace=team-1"));
        assert_eq!(address(Page::Install, "team-1", None), None);
    }
}
