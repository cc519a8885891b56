//! The one that reads the cluster: pages are asked for from the tasks of connections, and read here, on the thread
//! that owns the cluster, several at once. A page is given up when its caller has gone; a change is not.

use std::time::Duration;

use axum::response::Response;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::sync::{mpsc, oneshot};

use crate::Console;
use crate::failure::Failure;
use crate::live::Live;
use crate::pages::{self, Page, PageContext, Params};
use crate::session::Identity;

/// Questions that wait for a place.
pub(crate) const WAITING: usize = 64;

/// Pages that are read at once.
const AT_ONCE: usize = 8;

/// How long a page may be read.
const LONGEST: Duration = Duration::from_secs(90);

/// A page that is asked for.
pub(crate) struct PageRequest {
    /// Which one.
    pub(crate) page: Page,
    /// Of what.
    pub(crate) params: Params,
    /// With whose rights.
    pub(crate) identity: Identity,
    /// Gets the answer.
    pub(crate) reply: oneshot::Sender<Response>,
}

/// Answers until the connections end.
pub(crate) async fn run(console: Console, live: Live, mut asked: mpsc::Receiver<PageRequest>) {
    let context = PageContext::new(console, live);
    let mut reading = FuturesUnordered::new();
    loop {
        tokio::select! {
            question = asked.recv(), if reading.len() < AT_ONCE => match question {
                Some(question) => reading.push(answer(&context, question)),
                None => return,
            },
            Some(()) = reading.next() => {}
        }
    }
}

async fn answer(context: &PageContext, question: PageRequest) {
    let PageRequest { page, params, identity, mut reply } = question;
    let reading = olm_tasks::caught(pages::read(context, &identity, page, &params));
    // What is being written goes to its end: each of its steps has a limit of its own.
    let reading = async {
        match params.is_posted() {
            true => Ok(reading.await),
            false => tokio::time::timeout(LONGEST, reading).await,
        }
    };
    let failed = |failure| pages::failed(context, &identity, page, &params, failure);
    let response = tokio::select! {
        () = reply.closed(), if !params.is_posted() => return,
        read = reading => match read {
            Ok(Ok(response)) => response,
            Ok(Err(panicked)) => failed(Failure::other(&panicked.to_string())),
            Err(_) => failed(Failure::late(LONGEST.as_secs())),
        },
    };
    // The caller has gone.
    let _ = reply.send(response);
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use olm_client::reading::Reading;
    use tokio::time::Instant;

    use super::*;

    fn console() -> Console {
        let (identity, _) = Identity::for_tests();
        Console { cluster: identity.cluster, reading: Reading::default(), flags: Vec::new() }
    }

    /// Asks for a page of a cluster that answers nothing.
    fn ask(questions: &mpsc::Sender<PageRequest>) -> oneshot::Receiver<Response> {
        let (identity, _) = Identity::for_tests();
        let (reply, answer) = oneshot::channel();
        let params = Params::default();
        let question = PageRequest { page: Page::Installed, params, identity, reply };
        assert!(questions.try_send(question).is_ok());
        answer
    }

    /// The page, and how long it took.
    async fn answered(
        asked: mpsc::Receiver<PageRequest>,
        answer: oneshot::Receiver<Response>,
    ) -> (String, Duration) {
        let begun = Instant::now();
        let response = tokio::select! {
            () = run(console(), Live::new(None), asked) => panic!("it has ended"),
            response = answer => response.unwrap(),
        };
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (String::from_utf8(body.to_vec()).unwrap(), begun.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_that_takes_too_long_says_so() {
        let (questions, asked) = mpsc::channel(WAITING);
        let answer = ask(&questions);
        let (page, time) = answered(asked, answer).await;
        assert!(page.contains("no answer") && page.contains("within 90 s"), "{page}");
        assert!((LONGEST..LONGEST * 2).contains(&time), "{time:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_whose_caller_has_gone_gives_its_place_back() {
        let (questions, asked) = mpsc::channel(WAITING);
        (0..AT_ONCE).for_each(|_| drop(ask(&questions)));
        let answer = ask(&questions);
        let (_, time) = answered(asked, answer).await;
        assert!(time < LONGEST * 2, "it has waited for those before it: {time:?}");
    }
}
