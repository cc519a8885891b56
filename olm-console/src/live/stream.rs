//! What a page is sent, as server-sent events.
//!
//! ```text
//! state    how the page is followed, as text
//! changed  something has changed; its id stands for what is there now
//! end      nothing comes any more
//! ```
//! A stream lasts as long as its connection and its session. A comment every 20 seconds shows both sides that the
//! other is there.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream::unfold;
use tokio::time::{Instant, sleep};

use super::report::{Report, StreamUpdate};
use super::shared::Followed;
use crate::session::{Identity, SessionEnd};

/// Between two comments.
const HEARTBEAT: Duration = Duration::from_secs(20);

/// When a browser comes back that has lost its stream.
const RETRY: Duration = Duration::from_secs(3);

/// A page that is followed.
struct Page {
    followed: Followed,
    ends: SessionEnd,
    report: Report,
    has_ended: bool,
}

/// The events of a page that showed what was `seen`.
pub(super) fn events(followed: Followed, identity: &Identity, seen: Option<u64>) -> Response {
    let ends = identity.ends.clone();
    let page = Page { followed, ends, report: Report::new(seen), has_ended: false };
    let events = unfold(page, |mut page: Page| async move {
        let event: Result<Event, Infallible> = Ok(page.next().await?);
        Some((event, page))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT)).into_response()
}

impl Page {
    async fn next(&mut self) -> Option<Event> {
        if self.has_ended {
            return None;
        }
        loop {
            let looks = self.followed.look();
            let next = self.report.next(self.followed.namespace(), &looks, Instant::now());
            let pause = match next {
                StreamUpdate::State(text) => return Some(event("state").data(text).retry(RETRY)),
                StreamUpdate::Changed(id) => {
                    return Some(event("changed").id(format!("{id:x}")).data("changed"));
                }
                StreamUpdate::End => return Some(self.end("end")),
                StreamUpdate::Wait(pause) => pause,
            };
            tokio::select! {
                () = self.ends.wait() => {
                    return Some(self.end("not live: you are not logged in any more"));
                }
                () = self.followed.changed() => {}
                () = sleep(pause.unwrap_or_default()), if pause.is_some() => {}
            }
        }
    }

    /// `why` is shown, unless it is `end`: then the state has said it.
    fn end(&mut self, why: &str) -> Event {
        self.has_ended = true;
        event("end").data(why)
    }
}

fn event(name: &str) -> Event {
    Event::default().event(name)
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;
    use crate::live::Live;
    use crate::pages::Page as Shown;

    /// Without a cluster nothing is followed: the stream says so, and ends with its session.
    #[tokio::test]
    async fn a_stream_ends_with_its_session() {
        let (identity, session) = Identity::for_tests();
        let followed = Live::new(None).begin(&identity, Shown::Installed, "ns").unwrap();
        let mut body = events(followed, &identity, None).into_body();
        let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
        let first = String::from_utf8(first.to_vec()).unwrap();
        assert!(first.contains("event: state\n") && first.contains("data: not live"), "{first}");
        drop(session);
        let mut last = String::new();
        while let Some(frame) = body.frame().await {
            last = String::from_utf8(frame.unwrap().into_data().unwrap().to_vec()).unwrap();
        }
        assert!(last.starts_with("event: end\n"), "{last}");
        assert!(last.contains("not logged in any more"), "{last}");
    }
}
