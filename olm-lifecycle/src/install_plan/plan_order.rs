//! Plans of one Subscription are executed one after the other.
//!
//! As soon as the CSV of a plan exists the next version may be planned, while steps of the older
//! plan are still to come. Executed side by side, the older plan could put its objects over the
//! newer ones, or bring back what went away with its CSV; so the newer plan waits. It does not wait
//! for ever: an older plan that lacks rights, say, may never be done.

use std::time::Duration;

use jiff::Timestamp;
use kube_core::ResourceExt;
use olm_types::api::{InstallPlan, InstallPlanPhase, InstallPlanStatus};

use super::continuation::owners;

/// What the message of a plan begins with that waits; so it is known later that it has waited.
const WAITS: &str = "waiting for InstallPlan ";

/// The plan that comes first, and how long to wait for it at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    pub(super) rest: Duration,
    behind: String,
}

impl Wait {
    /// What the plan says while it waits.
    pub(super) fn message(&self) -> String {
        format!("{WAITS}{}, which is older, to be done", self.behind)
    }
}

/// What the plan waits for of `others` that come before it; nothing when the plan is next. An
/// older plan is waited for until it was tried for `limit`.
pub(super) fn wait<'a>(
    plan: &InstallPlan,
    others: impl IntoIterator<Item = &'a InstallPlan>,
    limit: Duration,
    now: Timestamp,
) -> Option<Wait> {
    let ahead = others.into_iter().filter(|other| {
        is_running(other) && rank(other) < rank(plan) && of_same_subscription(other, plan)
    });
    let waits = ahead.filter_map(|other| {
        Some(Wait { rest: rest(other, limit, now)?, behind: other.name_any() })
    });
    waits.max_by(|one, other| one.rest.cmp(&other.rest).then(other.behind.cmp(&one.behind)))
}

/// How long a plan that is being executed is still waited for; nothing when it was tried for `limit`.
pub(crate) fn rest(plan: &InstallPlan, limit: Duration, now: Timestamp) -> Option<Duration> {
    limit.checked_sub(age(plan, now)?).filter(|rest| !rest.is_zero())
}

/// Whether the plan had to wait, and was not tried since.
pub(super) fn has_waited(status: &InstallPlanStatus) -> bool {
    status.message.as_deref().is_some_and(|message| message.starts_with(WAITS))
}

/// A plan that is next does not say any longer that it waits.
pub(super) fn taken(status: InstallPlanStatus) -> InstallPlanStatus {
    if has_waited(&status) { InstallPlanStatus { message: None, ..status } } else { status }
}

/// Order of creation.
fn rank(plan: &InstallPlan) -> (Option<i64>, Option<Timestamp>, Option<&str>) {
    let created = plan.metadata.creation_timestamp.as_ref().map(|time| time.0);
    (plan.spec.generation, created, plan.metadata.name.as_deref())
}

fn is_running(plan: &InstallPlan) -> bool {
    let phase = plan.phase();
    plan.metadata.deletion_timestamp.is_none()
        && match phase {
            InstallPlanPhase::Installing => true,
            InstallPlanPhase::RequiresApproval => plan.spec.approved,
            InstallPlanPhase::None
            | InstallPlanPhase::Planning
            | InstallPlanPhase::Complete
            | InstallPlanPhase::Failed => false,
        }
}

fn of_same_subscription(one: &InstallPlan, other: &InstallPlan) -> bool {
    owners(one).any(|uid| owners(other).any(|each| each == uid))
}

/// For how long the plan has been tried; since it was created, if it was never tried.
fn age(plan: &InstallPlan, now: Timestamp) -> Option<Duration> {
    let started = plan.status.as_ref().and_then(|status| status.start_time.as_ref());
    let since = started.or(plan.metadata.creation_timestamp.as_ref())?.0;
    Some(Duration::try_from(now.duration_since(since)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    fn plan(generation: i64, phase: &str, uid: &str, started: i64) -> InstallPlan {
        let time = |seconds: i64| Timestamp::from_second(seconds).unwrap().to_string();
        serde_json::from_value(json!({
            "metadata": {
                "name": format!("install-{generation}"), "namespace": "ns",
                "creationTimestamp": time(0),
                "ownerReferences": [{
                    "apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription",
                    "name": uid, "uid": uid,
                }],
            },
            "spec": {
                "generation": generation, "approval": "Automatic", "approved": true,
                "clusterServiceVersionNames": [],
            },
            "status": {"phase": phase, "startTime": time(started), "catalogSources": []},
        }))
        .unwrap()
    }

    /// Plan 2 of Subscription `a` at second 100, with 60 seconds of limit.
    #[rstest]
    #[case::an_older_one_runs(plan(1, "Installing", "a", 90), Some(50))]
    #[case::an_older_one_is_about_to_run(plan(1, "RequiresApproval", "a", 99), Some(59))]
    #[case::its_clock_is_ahead(plan(1, "Installing", "a", 101), Some(60))]
    #[case::an_older_one_does_not_get_on(plan(1, "Installing", "a", 40), None)]
    #[case::an_older_one_is_done(plan(1, "Complete", "a", 90), None)]
    #[case::an_older_one_failed(plan(1, "Failed", "a", 90), None)]
    #[case::a_newer_one_runs(plan(3, "Installing", "a", 90), None)]
    #[case::that_of_another_subscription_runs(plan(1, "Installing", "b", 90), None)]
    fn order(#[case] other: InstallPlan, #[case] expected: Option<u64>) {
        let mine = plan(2, "Installing", "a", 100);
        let (limit, now) = (Duration::from_secs(60), Timestamp::from_second(100).unwrap());
        let waits = wait(&mine, [&mine, &other], limit, now);
        assert_eq!(waits.as_ref().map(|wait| wait.rest.as_secs()), expected);
        let name = other.metadata.name.unwrap();
        let message = format!("waiting for InstallPlan {name}, which is older, to be done");
        assert_eq!(waits.map(|wait| wait.message()), expected.map(|_| message));
    }

    #[test]
    fn of_several_the_one_that_takes_longest_is_named() {
        let (old, older) = (plan(2, "Installing", "a", 90), plan(1, "Installing", "a", 80));
        let mine = plan(3, "Installing", "a", 100);
        let now = Timestamp::from_second(100).unwrap();
        let wait = wait(&mine, [&older, &old], Duration::from_secs(60), now).unwrap();
        assert_eq!((wait.rest.as_secs(), &*wait.behind), (50, "install-2"));
    }

    #[test]
    fn who_waited_is_known_until_it_is_tried() {
        let wait = Wait { rest: Duration::ZERO, behind: "install-1".to_owned() };
        let status = InstallPlanStatus { message: Some(wait.message()), ..Default::default() };
        assert!(has_waited(&status));
        assert_eq!(taken(status), InstallPlanStatus::default());
        let message = Some("retrying execution due to error: x".to_owned());
        let tried = InstallPlanStatus { message, ..Default::default() };
        assert!(!has_waited(&tried));
        assert_eq!(taken(tried.clone()), tried);
    }

    #[test]
    fn an_unapproved_plan_is_not_waited_for() {
        let mut other = plan(1, "RequiresApproval", "a", 99);
        other.spec.approved = false;
        let now = Timestamp::from_second(100).unwrap();
        let mine = plan(2, "Installing", "a", 100);
        assert_eq!(wait(&mine, [&other], Duration::from_secs(60), now), None);
    }

    #[test]
    fn a_plan_without_an_owner_does_not_wait() {
        let mut mine = plan(2, "Installing", "a", 100);
        mine.metadata.owner_references = None;
        let other = plan(1, "Installing", "a", 99);
        let now = Timestamp::from_second(100).unwrap();
        assert_eq!(wait(&mine, [&other], Duration::from_secs(60), now), None);
    }
}
