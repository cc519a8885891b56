//! Which Job counts, and what follows.

use k8s_openapi::api::batch::v1::Job;
use kube_core::ResourceExt;
use olm_effect::{Action, Effect};
use olm_types::hash::unpack_name;
use rstest::rstest;

use super::*;

/// `f3` failed at second 3, `s1` and `nf3` did not fail and were created then, `c2` is complete, `x` says nothing.
fn jobs(words: &str) -> Attempts {
    let job = |word: &str| {
        let digits: String = word.chars().filter(char::is_ascii_digit).collect();
        let second = digits.parse().unwrap_or(0);
        match word.chars().next() {
            Some('f') => failed(word, second),
            Some('c') => with_condition(live(word, second), "Complete", "", second),
            _ => live(word, second),
        }
    };
    Attempts::new(words.split_whitespace().map(|word| Arc::new(job(word))).collect())
}

#[rstest]
#[case::none("", AttemptState::None)]
#[case::at_work("nf1", AttemptState::UnderWay)]
#[case::without_conditions("f3 x f2", AttemptState::UnderWay)]
#[case::failed("f1 f2", AttemptState::Ended)]
#[case::success("f1 c2", AttemptState::Ended)]
fn one_at_work_takes_a_place(#[case] given: &str, #[case] state: AttemptState) {
    assert_eq!(jobs(given).state(), state);
}

fn names(jobs: &[Arc<Job>]) -> Vec<String> {
    jobs.iter().map(|job| job.name_any()).collect()
}

#[rstest]
#[case::none(5, "", "", &[])]
#[case::nothing_is_retained(0, "f2 f3 f1", "f3", &["f2", "f1"])]
#[case::two_of_one(1, "f3 f2", "f3", &[])]
#[case::without_conditions(3, "f3 x f2", "x", &[])]
#[case::the_first_stays(1, "f3 f1 f2", "f3", &["f2"])]
#[case::as_many_as_stay_go(2, "f2 f1 f3 f4 f5", "f5", &["f3", "f2"])]
#[case::success(3, "f1 f2 s1", "s1", &[])]
#[case::at_work(3, "nf1 nf3 nf2", "nf3", &[])]
fn sorting(
    #[case] retained: usize,
    #[case] given: &str,
    #[case] latest: &str,
    #[case] surplus: &[&str],
) {
    let attempts = jobs(given);
    assert_eq!(attempts.latest().map(|job| job.name_any()).unwrap_or_default(), latest);
    assert_eq!(names(attempts.surplus(retained)), surplus);
}

/// Another attempt so long after a failure.
fn every(retry_interval: Option<Duration>) -> UnpackLimits {
    UnpackLimits { retry_interval, ..UnpackLimits::default() }
}

fn started(next: JobDecision) -> Effect {
    let JobDecision::Start(effect) = next else { panic!("{next:?}") };
    effect
}

#[test]
fn the_first_job_has_the_name_of_the_bundle() {
    let effect = started(Attempts::default().next(&wanted(), &UnpackLimits::default(), now()));
    assert_eq!(effect.target.to_string(), format!("Job ns-a/{}", unpack_name(IMAGE)));
    assert!(matches!(effect.action, Action::Create(_)));
}

/// `(job, interval in seconds)`, and what follows at second 1000.
#[rstest]
#[case::no_interval(failed("f", 900), None, Ok(None))]
#[case::not_yet(failed("f", 900), Some(300), Ok(Some(201)))]
#[case::at_the_end_of_it(failed("f", 900), Some(100), Ok(Some(1)))]
#[case::at_work(live("w", 10), Some(1), Ok(None))]
#[case::time(failed("f", 900), Some(99), Err(()))]
fn a_failed_job_is_followed_by_another_after_the_interval(
    #[case] job: Job,
    #[case] interval: Option<u64>,
    #[case] expected: Result<Option<u64>, ()>,
) {
    let attempts = Attempts::new(vec![Arc::new(job)]);
    match attempts.next(&wanted(), &every(interval.map(Duration::from_secs)), now()) {
        JobDecision::Watch { cleanup, retry_in, .. } => {
            assert_eq!(Ok(retry_in), expected.map(|rest| rest.map(Duration::from_secs)));
            assert_eq!(cleanup, []);
        }
        JobDecision::Start(effect) => {
            assert!(expected.is_err());
            let Action::Create(manifest) = effect.action else { panic!("no creation") };
            assert_eq!(manifest["metadata"]["generateName"], unpack_name(IMAGE));
            assert!(manifest["metadata"].get("name").is_none() && effect.target.name.is_empty());
        }
    }
}

#[test]
fn failed_jobs_are_cleaned_up_while_retries_are_wanted() {
    let attempts = jobs("f991 f992 f993 f994 f995 f996 f997 f998");
    let cleaned = |interval| match attempts.next(&wanted(), &every(interval), now()) {
        JobDecision::Watch { cleanup, .. } => {
            cleanup.into_iter().map(|effect| effect.target.name).collect::<Vec<_>>()
        }
        JobDecision::Start(effect) => panic!("{effect:?}"),
    };
    assert_eq!(cleaned(Some(Duration::from_secs(60))), ["f993", "f992"]);
    assert_eq!(cleaned(None), [""; 0]);
}

#[rstest]
#[case::another_image(|job: &mut Job| {
    let spec = job.spec.as_mut().unwrap().template.spec.as_mut().unwrap();
    spec.containers[0].image = Some("older-opm".to_owned());
})]
#[case::another_timeout(|job: &mut Job| {
    job.spec.as_mut().unwrap().active_deadline_seconds = Some(600);
})]
#[case::of_a_config_map_that_is_gone(|job: &mut Job| {
    job.metadata.owner_references.as_mut().unwrap()[0].uid = "older".to_owned();
})]
fn a_job_that_is_not_as_wanted_is_deleted(#[case] change: fn(&mut Job)) {
    let mut job = live("job", 10);
    change(&mut job);
    let effect = started(Attempts::new(vec![Arc::new(job)]).next(
        &wanted(),
        &UnpackLimits::default(),
        now(),
    ));
    let Action::Delete { uid, .. } = effect.action else { panic!("{effect:?}") };
    assert_eq!((effect.target.name.as_str(), uid.as_deref()), ("job", Some("uid-job")));
}

#[test]
fn a_job_that_the_api_server_completed_is_as_wanted() {
    let attempts = Attempts::new(vec![Arc::new(live("job", 10))]);
    assert!(matches!(
        attempts.next(&wanted(), &UnpackLimits::default(), now()),
        JobDecision::Watch { .. }
    ));
}

/// Two namespaces that ask for different times would for ever delete each other's Job, and one of them alone could
/// keep the bundle from all.
#[rstest]
#[case::at_work_with_less_time(Some(60), false, true)]
#[case::at_work_with_more_time(Some(3600), false, true)]
#[case::failed_with_less_time(Some(60), true, false)]
#[case::failed_with_more_time(Some(3600), true, true)]
#[case::failed_without_limit(None, true, true)]
fn a_job_that_several_namespaces_wait_for_stays(
    #[case] seconds: Option<i64>,
    #[case] has_failed: bool,
    #[case] stays: bool,
) {
    let mut job = if has_failed { failed("job", 900) } else { live("job", 10) };
    job.spec.as_mut().unwrap().active_deadline_seconds = seconds;
    let attempts = Attempts::new(vec![Arc::new(job)]);
    let mut wanted = wanted();
    wanted.spec.as_mut().unwrap().active_deadline_seconds = Some(600);
    let limits = UnpackLimits { is_shared: true, ..UnpackLimits::default() };
    let watched = matches!(attempts.next(&wanted, &limits, now()), JobDecision::Watch { .. });
    assert_eq!(watched, stays);
}

#[test]
fn a_job_of_another_image_is_deleted_whoever_waits_for_it() {
    let mut job = live("job", 10);
    let spec = job.spec.as_mut().unwrap().template.spec.as_mut().unwrap();
    spec.containers[0].image = Some("older-opm".to_owned());
    let limits = UnpackLimits { is_shared: true, ..UnpackLimits::default() };
    started(Attempts::new(vec![Arc::new(job)]).next(&wanted(), &limits, now()));
}
