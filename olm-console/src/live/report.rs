//! What a page is sent, and when: how it is followed, and that something has changed, at most once a second, or twice
//! a minute where it shows all namespaces.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::kinds::WatchScope;
use super::watch::{Condition, Refusal, WatchState};

/// Between two reports of changes: many come at once, and a page is read for each.
const PAUSE: Duration = Duration::from_secs(1);

/// The same for what is read of all namespaces: somewhere in a large cluster something changes all the time.
const PAUSE_OF_ALL: Duration = Duration::from_secs(30);

/// What was found of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KindState {
    pub(super) plural: &'static str,
    pub(super) place: WatchScope,
    pub(super) seen: WatchState,
}

/// What is to be sent next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StreamUpdate {
    /// How the page is followed.
    State(String),
    /// Something has changed; what is there now.
    Changed(u64),
    /// There is nothing to follow any more.
    End,
    /// Nothing, for so long or until something happens.
    Wait(Option<Duration>),
}

/// What was sent.
#[derive(Debug)]
pub(super) struct Report {
    state: String,
    digest: Option<u64>,
    changed: Option<Instant>,
}

impl Report {
    /// A page that shows what was there then, where that is known.
    pub(super) fn new(seen: Option<u64>) -> Self {
        Self { state: String::new(), digest: seen, changed: None }
    }

    /// What is to be sent of what was found.
    pub(super) fn next(
        &mut self,
        namespace: &str,
        looks: &[KindState],
        now: Instant,
    ) -> StreamUpdate {
        let state = sentence(namespace, looks);
        if state != self.state {
            self.state.clone_from(&state);
            return StreamUpdate::State(state);
        }
        if looks.iter().all(|look| matches!(look.seen.condition, Condition::Refused(_))) {
            return StreamUpdate::End;
        }
        let Some(found) = digest(looks).filter(|found| Some(*found) != self.digest) else {
            return StreamUpdate::Wait(None);
        };
        let since = self.changed.map(|last| now.saturating_duration_since(last));
        let pause = pause(looks);
        if let Some(since) = since.filter(|since| *since < pause) {
            return StreamUpdate::Wait(Some(pause.saturating_sub(since)));
        }
        (self.digest, self.changed) = (Some(found), Some(now));
        StreamUpdate::Changed(found)
    }
}

/// Stands for all that was found; nothing while something is not listed yet.
pub(super) fn digest(looks: &[KindState]) -> Option<u64> {
    let begins = |look: &KindState| look.seen.condition == Condition::Beginning;
    if looks.iter().any(begins) {
        return None;
    }
    Some(looks.iter().fold(0, |all: u64, look| all.rotate_left(7) ^ look.seen.digest))
}

fn pause(looks: &[KindState]) -> Duration {
    let is_of_all = looks.iter().any(|look| look.place == WatchScope::Everywhere);
    if is_of_all { PAUSE_OF_ALL } else { PAUSE }
}

/// How a page is followed.
fn sentence(namespace: &str, looks: &[KindState]) -> String {
    let all: Vec<&KindState> = looks.iter().collect();
    let forbidden = |place: WatchScope| {
        let there: Vec<&KindState> = looks.iter().filter(|look| look.place == place).collect();
        refused(&there, Refusal::Forbidden)
    };
    let problems: Vec<String> = [
        lost(looks),
        forbidden(WatchScope::Home).map(|kinds| format!("may not watch {kinds} in {namespace}")),
        forbidden(WatchScope::Global).map(|kinds| format!("may not watch global {kinds}")),
        forbidden(WatchScope::Everywhere)
            .map(|kinds| format!("may not watch {kinds} in all namespaces")),
        refused(&all, Refusal::NoSuchKind).map(|kinds| format!("the cluster has no {kinds}")),
        refused(&all, Refusal::SignedOut).map(|_| "not signed in any more".to_owned()),
    ]
    .into_iter()
    .flatten()
    .collect();
    let has = |wanted: Condition| looks.iter().any(|look| look.seen.condition == wanted);
    match problems.join("; ") {
        none if none.is_empty() && has(Condition::Beginning) => "not live yet".to_owned(),
        none if none.is_empty() => "live".to_owned(),
        some if has(Condition::Following) => format!("live in part: {some}"),
        some => format!("not live: {some}"),
    }
}

/// Since when something is not followed.
fn lost(looks: &[KindState]) -> Option<String> {
    let lost = looks.iter().filter_map(|look| match look.seen.condition {
        Condition::Lost(seen) => Some(seen),
        _ => None,
    });
    let lost: Vec<Option<Timestamp>> = lost.collect();
    match lost.iter().flatten().min() {
        Some(seen) => Some(format!("last seen {}; asked again", seen.strftime("%H:%M:%S UTC"))),
        None if lost.is_empty() => None,
        None => Some("the API server does not answer; asked again".to_owned()),
    }
}

fn refused(looks: &[&KindState], why: Refusal) -> Option<String> {
    let refused = looks.iter().filter(|look| look.seen.condition == Condition::Refused(why));
    let mut kinds: Vec<&str> = refused.map(|look| look.plural).collect();
    kinds.dedup();
    (!kinds.is_empty()).then(|| kinds.join(", "))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const F: Condition = Condition::Following;
    const B: Condition = Condition::Beginning;
    const FORBIDDEN: Condition = Condition::Refused(Refusal::Forbidden);

    fn look(plural: &'static str, condition: Condition, digest: u64) -> KindState {
        KindState { plural, place: WatchScope::Home, seen: WatchState { condition, digest } }
    }

    fn lost_at(second: i64) -> Condition {
        Condition::Lost(Some(Timestamp::from_second(second).unwrap()))
    }

    #[rstest]
    #[case(B, F, "not live yet")]
    #[case(F, F, "live")]
    #[case(lost_at(3723), lost_at(7200), "not live: last seen 01:02:03 UTC; asked again")]
    #[case(F, lost_at(3723), "live in part: last seen 01:02:03 UTC; asked again")]
    #[case(Condition::Lost(None), B, "not live: the API server does not answer; asked again")]
    #[case(FORBIDDEN, FORBIDDEN, "not live: may not watch subscriptions, events in ns")]
    #[case(FORBIDDEN, F, "live in part: may not watch subscriptions in ns")]
    #[case(
        Condition::Refused(Refusal::NoSuchKind),
        F,
        "live in part: the cluster has no subscriptions"
    )]
    #[case(Condition::Refused(Refusal::SignedOut), B, "not live: not signed in any more")]
    fn a_page_says_how_it_is_followed(
        #[case] first: Condition,
        #[case] second: Condition,
        #[case] expected: &str,
    ) {
        let looks = [look("subscriptions", first, 0), look("events", second, 0)];
        assert_eq!(sentence("ns", &looks), expected);
    }

    #[test]
    fn what_is_watched_for_all_namespaces_is_said_to_be() {
        let missing = Condition::Refused(Refusal::NoSuchKind);
        let both = |condition: Condition| {
            let own = look("catalogsources", condition, 0);
            sentence("ns", &[own, KindState { place: WatchScope::Global, ..own }])
        };
        let everywhere =
            KindState { place: WatchScope::Everywhere, ..look("subscriptions", FORBIDDEN, 0) };
        let expected = "not live: may not watch subscriptions in all namespaces";
        assert_eq!(sentence("ns", &[everywhere]), expected);
        let expected =
            "not live: may not watch catalogsources in ns; may not watch global catalogsources";
        assert_eq!(both(FORBIDDEN), expected);
        assert_eq!(both(missing), "not live: the cluster has no catalogsources");
    }

    #[test]
    fn many_changes_are_reported_once_a_second() {
        let (mut report, begin) = (Report::new(None), Instant::now());
        let mut at = |milliseconds: u64, digest: u64| {
            let looks = [look("events", F, digest)];
            report.next("ns", &looks, begin + Duration::from_millis(milliseconds))
        };
        assert_eq!(at(0, 1), StreamUpdate::State("live".to_owned()));
        assert_eq!(at(0, 1), StreamUpdate::Changed(1), "it is not known what the page shows");
        assert_eq!(at(1, 1), StreamUpdate::Wait(None));
        assert_eq!(at(100, 2), StreamUpdate::Wait(Some(Duration::from_millis(900))));
        assert_eq!(at(500, 3), StreamUpdate::Wait(Some(Duration::from_millis(500))));
        assert_eq!(at(1000, 3), StreamUpdate::Changed(3));
        assert_eq!(at(1500, 4), StreamUpdate::Wait(Some(Duration::from_millis(500))));
        assert_eq!(at(1600, 3), StreamUpdate::Wait(None), "it is again what the page shows");
    }

    #[test]
    fn what_is_read_of_all_namespaces_is_reported_less_often() {
        let (mut report, begin) = (Report::new(None), Instant::now());
        let mut at = |second: u64, digest: u64| {
            let looks =
                [KindState { place: WatchScope::Everywhere, ..look("subscriptions", F, digest) }];
            report.next("ns", &looks, begin + Duration::from_secs(second))
        };
        assert_eq!(at(0, 1), StreamUpdate::State("live".to_owned()));
        assert_eq!(at(0, 1), StreamUpdate::Changed(1));
        assert_eq!(at(10, 2), StreamUpdate::Wait(Some(Duration::from_secs(20))));
        assert_eq!(at(30, 2), StreamUpdate::Changed(2));
    }

    #[test]
    fn what_the_page_shows_is_no_change_and_all_is_listed_first() {
        let now = Instant::now();
        let looks = [look("a", F, 1), look("b", F, 2)];
        let seen = digest(&looks).unwrap();
        assert_ne!(digest(&[look("a", F, 2), look("b", F, 1)]), Some(seen));
        let mut report = Report::new(Some(seen));
        let first = [look("a", F, 1), look("b", B, 0)];
        assert_eq!(report.next("ns", &first, now), StreamUpdate::State("not live yet".to_owned()));
        assert_eq!(report.next("ns", &first, now), StreamUpdate::Wait(None));
        assert_eq!(report.next("ns", &looks, now), StreamUpdate::State("live".to_owned()));
        assert_eq!(report.next("ns", &looks, now), StreamUpdate::Wait(None));
    }

    #[test]
    fn a_page_that_may_watch_nothing_ends() {
        let (mut report, now) = (Report::new(None), Instant::now());
        let looks = [look("a", FORBIDDEN, 0)];
        let state = StreamUpdate::State("not live: may not watch a in ns".to_owned());
        assert_eq!(report.next("ns", &looks, now), state);
        assert_eq!(report.next("ns", &looks, now), StreamUpdate::End);
    }
}
