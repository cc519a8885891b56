//! When a replica resolves, obtains and waits.

use rstest::rstest;
use serde_json::json;

use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_000_000 + seconds).unwrap()
}

fn leader() -> Pulling {
    let target = Target { image: "i".to_owned(), leads: true, ..Target::default() };
    let (failed_look, failed_pull) = (None, None);
    Pulling { target, content: None, resolved: None, failed_look, failed_pull, since: at(0) }
}

impl Pulling {
    fn follows(mut self) -> Self {
        self.target.leads = false;
        self
    }

    fn pinned(mut self, digest: &str) -> Self {
        self.target.pinned = Some(digest.to_owned());
        self
    }

    fn polled(mut self, seconds: u64) -> Self {
        self.target.period = Some(Duration::from_secs(seconds));
        self
    }

    fn recorded(mut self, image: &str, digest: &str) -> Self {
        let (image, digest) = (image.to_owned(), digest.to_owned());
        self.target.recorded = Some(Record { image, digest, port: None });
        self
    }

    fn found(mut self, image: &str, digest: &str, seconds: i64) -> Self {
        let (image, digest) = (image.to_owned(), digest.to_owned());
        self.resolved = Some(Resolved { image, digest, at: at(seconds) });
        self
    }

    fn with(mut self, digest: &str) -> Self {
        let (image, digest) = ("i".to_owned(), digest.to_owned());
        self.content = Some(HostedContent { image, digest, folder: None, pulled_at: at(0) });
        self
    }

    fn failed(mut self, digest: Option<&str>, reason: &'static str, attempts: u32) -> Self {
        let failure = Some(PullFailure {
            image: "i".to_owned(),
            digest: digest.map(str::to_owned),
            reason,
            message: String::new(),
            attempts,
            at: at(0),
            retry_after: 0,
        });
        match digest {
            None => self.failed_look = failure,
            Some(_) => self.failed_pull = failure,
        }
        self
    }
}

fn shown(step: NextStep) -> String {
    match step {
        NextStep::Resolve => "resolve".to_owned(),
        NextStep::Obtain(digest) => format!("obtain {digest}"),
        NextStep::Wait(time) => format!("wait {}", time.as_secs()),
        NextStep::Idle => "idle".to_owned(),
    }
}

const AWAY: &str = "RegistryUnavailable";

#[rstest]
#[case::first(leader(), 0, "resolve")]
#[case::resolved(leader().found("i", "a", 0), 0, "obtain a")]
#[case::has_it(leader().found("i", "a", 0).with("a"), 0, "idle")]
#[case::another_image(leader().found("old", "a", 0).with("a"), 0, "resolve")]
#[case::another_folder({
    let mut pulling = leader().found("i", "a", 0).with("a");
    pulling.target.folder = Some("/cat".to_owned());
    pulling
}, 0, "obtain a")]
#[case::pinned(leader().pinned("p"), 0, "obtain p")]
#[case::pinned_is_not_looked_at_again(leader().pinned("p").with("p").polled(10), 99, "idle")]
#[case::a_new_leader_trusts_the_record(leader().recorded("i", "r"), 0, "obtain r")]
#[case::a_record_of_another_image(leader().recorded("old", "r").with("r"), 0, "resolve")]
#[case::what_is_resolved_counts_more(leader().recorded("i", "r").found("i", "a", 0), 0, "obtain a")]
#[case::follower_waits(leader().follows(), 0, "idle")]
#[case::follower_obtains(leader().follows().recorded("i", "r"), 0, "obtain r")]
#[case::follower_does_not_resolve(leader().follows().recorded("i", "r").with("r").polled(10), 99, "idle")]
#[case::follower_keeps_what_it_has(leader().follows().recorded("old", "r").with("b"), 0, "idle")]
#[case::not_due(leader().found("i", "a", 0).with("a").polled(60), 20, "wait 40")]
#[case::due(leader().found("i", "a", 0).with("a").polled(60), 60, "resolve")]
#[case::new_leader_looks_after_a_period(leader().recorded("i", "a").with("a").polled(60), 20, "wait 40")]
#[case::away_at_first(leader().failed(None, AWAY, 1), 2, "wait 3")]
#[case::tried_again(leader().failed(None, AWAY, 1), 5, "resolve")]
#[case::pauses_grow(leader().failed(None, AWAY, 4), 0, "wait 40")]
#[case::pauses_have_an_end(leader().failed(None, AWAY, 40), 0, "wait 900")]
#[case::look_failed(leader().found("i", "a", 0).with("a").polled(60).failed(None, AWAY, 1), 2, "wait 3")]
#[case::pull_failed(leader().found("i", "a", 0).failed(Some("a"), AWAY, 1), 2, "wait 3")]
#[case::pull_again(leader().found("i", "a", 0).failed(Some("a"), AWAY, 1), 5, "obtain a")]
#[case::unusable_waits_long(leader().found("i", "a", 0).failed(Some("a"), "ImageInvalid", 1), 5, "wait 3595")]
#[case::unusable_is_looked_at(leader().found("i", "a", 0).failed(Some("a"), "ImageInvalid", 1).polled(60), 5, "wait 55")]
#[case::unusable_may_be_replaced(leader().found("i", "a", 0).failed(Some("a"), "ImageInvalid", 1).polled(60), 60, "resolve")]
#[case::another_digest_is_another_matter(leader().found("i", "b", 9).failed(Some("a"), "ImageInvalid", 1), 9, "obtain b")]
#[case::gone_meanwhile(leader().found("i", "a", 0).failed(Some("a"), "ImageNotFound", 1), 5, "resolve")]
#[case::and_there_again(leader().found("i", "a", 5).failed(Some("a"), "ImageNotFound", 1), 5, "obtain a")]
#[case::each_failure_has_its_pause(
    leader().found("i", "a", 0).polled(1).failed(Some("a"), AWAY, 2).failed(None, AWAY, 1), 2, "wait 3"
)]
#[case::a_failed_look_makes_no_pull_due(
    leader().found("i", "a", 0).polled(1).failed(Some("a"), AWAY, 2).failed(None, AWAY, 2), 5, "wait 5"
)]
#[case::gone_and_not_asked_at_once(
    leader().found("i", "a", 0).failed(Some("a"), "ImageNotFound", 1).failed(None, AWAY, 2), 5, "wait 5"
)]
#[case::failures_of_another_image({
    let mut pulling = leader().failed(None, AWAY, 9);
    pulling.target.image = "new".to_owned();
    pulling
}, 0, "resolve")]
fn steps(#[case] pulling: Pulling, #[case] seconds: i64, #[case] expected: &str) {
    assert_eq!(shown(next_step(&pulling, at(seconds))), expected);
}

#[rstest]
#[case::limited(0)]
#[case::away_before(1)]
fn a_registry_says_when_it_wants_to_be_asked_again(#[case] attempts: u32) {
    let mut pulling = leader().failed(None, AWAY, attempts);
    pulling.failed_look.as_mut().unwrap().retry_after = 120;
    assert_eq!(shown(next_step(&pulling, at(20))), "wait 100");
}

#[test]
fn looks_are_spread_over_a_tenth_of_the_interval() {
    let poll = json!({"registryPoll": {"interval": "10m"}});
    let period = |name: &str, strategy: &serde_json::Value| {
        let spec = json!({"sourceType": "grpc", "image": "i", "updateStrategy": strategy});
        let metadata = json!({"name": name, "namespace": "olm"});
        let catalog = serde_json::from_value(json!({"metadata": metadata, "spec": spec}));
        poll_period(&catalog.unwrap())
    };
    let periods: Vec<_> = ["a", "b", "c"].map(|name| period(name, &poll).unwrap()).into();
    assert!(periods.iter().all(|period| (600..=660).contains(&period.as_secs())), "{periods:?}");
    assert!(periods[0] != periods[1] || periods[1] != periods[2]);
    assert_eq!(period("a", &json!(null)), None);
}
