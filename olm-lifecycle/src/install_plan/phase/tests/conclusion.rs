//! What executions lead to: the rows of spec catalog-operator 9.7 about errors and time.

use olm_effect::Refusal;

use super::*;
use crate::install_plan::execution::{Ended, Note, NoteKind, StepError};

fn ended(status: StepStatus, failure: Option<StepError>) -> Ended {
    Ended { steps: vec![step(status)], failure, notes: Vec::new() }
}

/// A user deletes the object of the step.
fn going() -> StepError {
    let finalizers = ["a/x", "b/y"].map(str::to_owned).into();
    StepError::BeingDeleted { kind: "Service".to_owned(), name: "s".to_owned(), finalizers }
}

fn refused(code: u16) -> StepError {
    let cause = Refusal { code, reason: String::new(), message: "no".to_owned() };
    StepError::Refused { what: "error creating configmap c".to_owned(), cause }
}

#[rstest]
#[case::error_without_time(
    Some(refused(500)),
    0,
    InstallPlanPhase::Failed,
    Some("error creating configmap c: no")
)]
#[case::error_in_time(
    Some(refused(500)),
    60,
    InstallPlanPhase::Installing,
    Some("retrying execution due to error: error creating configmap c: no")
)]
#[case::forbidden_to_olm_is_always_in_time(
    Some(refused(403)),
    0,
    InstallPlanPhase::Installing,
    Some("retrying execution due to error: error creating configmap c: no")
)]
#[case::deletion_in_time(
    Some(going()),
    60,
    InstallPlanPhase::Installing,
    Some(
        "retrying execution due to error: Service s is being deleted and has to be gone before it can be \
         created; finalizers hold it: a/x, b/y"
    )
)]
#[case::deletion_without_time(
    Some(going()),
    0,
    InstallPlanPhase::Failed,
    Some(
        "Service s is being deleted and has to be gone before it can be created; finalizers hold it: \
         a/x, b/y"
    )
)]
#[case::success(None, 0, InstallPlanPhase::Complete, None)]
fn an_execution_ends(
    #[case] failure: Option<StepError>,
    #[case] timeout: u64,
    #[case] phase: InstallPlanPhase,
    #[case] message: Option<&str>,
) {
    let mut observed = observed(InstallPlanPhase::Installing);
    observed.retry_timeout = Duration::from_secs(timeout);
    let conclusion = conclude(&observed, ended(StepStatus::Created, failure), now());
    let status = written(&conclusion.effects).unwrap();
    assert_eq!((status.phase, status.message.as_deref()), (phase, message));
    assert_eq!(conclusion.requeue.is_some(), phase == InstallPlanPhase::Installing);
    assert_eq!(status.start_time, Some(Time(now())));
    let done = phase == InstallPlanPhase::Complete;
    assert_eq!(status.plan[0].status, if done { StepStatus::Present } else { StepStatus::Created });
}

#[test]
fn a_plan_that_was_approved_reports_what_it_created() {
    let mut observed = observed(InstallPlanPhase::Installing);
    Arc::make_mut(&mut observed.plan).spec.approval = Approval::Manual;
    let conclusion = conclude(&observed, ended(StepStatus::Created, None), now());
    assert_eq!(written(&conclusion.effects).unwrap().plan[0].status, StepStatus::Created);
}

#[test]
fn a_minute_after_the_start_an_error_is_final() {
    let mut observed = observed(InstallPlanPhase::Installing);
    with_status(&mut observed, |status| status.start_time = Some(Time(now())));
    let at = |seconds: i64| {
        let conclusion = conclude(
            &observed,
            ended(StepStatus::Unknown, Some(refused(500))),
            now() + seconds.seconds(),
        );
        written(&conclusion.effects).unwrap()
    };
    assert_eq!(at(59).phase, InstallPlanPhase::Installing);
    let failed = at(60);
    assert_eq!(failed.phase, InstallPlanPhase::Failed);
    let condition = &failed.conditions[0];
    assert_eq!(condition.reason.as_deref(), Some("InstallComponentFailed"));
    assert_eq!(condition.message.as_deref(), Some("error creating configmap c: no"));
}

#[test]
fn a_success_says_no_more_than_that() {
    let conclusion =
        conclude(&observed(InstallPlanPhase::Installing), ended(StepStatus::Created, None), now());
    let condition = written(&conclusion.effects).unwrap().conditions.remove(0);
    assert_eq!(
        (condition.status.as_deref(), condition.reason, condition.message),
        (Some("True"), None, None)
    );
}

#[test]
fn a_plan_waits_for_its_apis_and_looks_often_at_first() {
    let mut observed = observed(InstallPlanPhase::Installing);
    with_status(&mut observed, |status| status.start_time = Some(Time(now())));
    let waiting = || ended(StepStatus::WaitingForApi, None);
    let soon = conclude(&observed, waiting(), now() + 1.second());
    let later = conclude(&observed, waiting(), now() + 1.minute());
    assert_eq!((soon.requeue, later.requeue), (Some(API_POLL), Some(RETRY)));
    assert_eq!(written(&soon.effects).unwrap().phase, InstallPlanPhase::Installing);
}

#[test]
fn the_same_retry_is_not_written_again() {
    let mut observed = observed(InstallPlanPhase::Installing);
    let first = conclude(&observed, ended(StepStatus::Unknown, Some(refused(403))), now());
    with_status(&mut observed, |status| *status = written(&first.effects).unwrap());
    let second =
        conclude(&observed, ended(StepStatus::Unknown, Some(refused(403))), now() + 5.seconds());
    assert!(second.effects.is_empty());
    assert_eq!(second.requeue, Some(RETRY));
}

#[test]
fn a_failed_execution_is_tried_again_soon_at_first() {
    let mut observed = observed(InstallPlanPhase::Installing);
    with_status(&mut observed, |status| status.start_time = Some(Time(now())));
    let pause = |after: i64| {
        let failed = ended(StepStatus::Unknown, Some(refused(403)));
        conclude(&observed, failed, now() + after.seconds()).requeue.map(|pause| pause.as_secs())
    };
    assert_eq!([0, 1, 3, 5, 600].map(pause), [1, 1, 3, 5, 5].map(Some));
}

#[test]
fn what_is_reported_becomes_events_and_a_number() {
    let notes = vec![
        Note { step: 0, what: NoteKind::Warnings(vec!["old".to_owned()]) },
        Note { step: 0, what: NoteKind::TakenOver },
        Note { step: 7, what: NoteKind::TakenOver },
    ];
    let ended = Ended { notes, ..ended(StepStatus::Created, None) };
    let conclusion = conclude(&observed(InstallPlanPhase::Installing), ended, now());
    let events = conclusion.effects.iter().filter_map(|effect| match &effect.action {
        Action::Event(note) => Some((note.reason.as_str(), note.field_path.as_deref())),
        _ => None,
    });
    let events: Vec<_> = events.collect();
    let step = Some("status.plan[0]");
    assert_eq!(events, [("AppliedWithWarnings", step), ("ObjectTakenOver", step)]);
    assert_eq!(conclusion.warned, 1);
}

#[test]
fn a_copy_fails_the_plan_which_goes_on_when_it_is_gone() {
    let mut observed = observed(InstallPlanPhase::Installing);
    with_status(&mut observed, |status| status.start_time = Some(Time(now())));
    let copy = || {
        let [csv, namespace, from] = ["csv.v1", "ns", "kitchen"].map(str::to_owned);
        StepError::CopyInTheWay { csv, namespace, from }
    };
    let at = |observed: &Observed, failure, seconds: i64| {
        conclude(observed, ended(StepStatus::Unknown, failure), now() + seconds.seconds())
    };
    let late = at(&observed, Some(copy()), 60);
    let failed = written(&late.effects).unwrap();
    assert_eq!((failed.phase, late.requeue), (InstallPlanPhase::Failed, Some(RETRY)));
    with_status(&mut observed, |status| *status = failed);
    assert!(matches!(decide(&observed, now() + 61.seconds()), Decision::Execute(_)));
    let again = at(&observed, Some(copy()), 65);
    assert!(again.effects.is_empty() && again.requeue == Some(RETRY), "{again:?}");
    let done = written(&at(&observed, None, 70).effects).unwrap();
    assert_eq!((done.phase, done.message), (InstallPlanPhase::Complete, None));
}

/// Whoever owns the group reads what its account may not do; the plan goes on with the right.
#[test]
fn what_an_account_may_not_do_fails_the_plan_and_is_tried_again() {
    let mut observed = observed(InstallPlanPhase::Installing);
    with_status(&mut observed, |status| {
        status.start_time = Some(Time(now()));
        status.attenuated_service_account_ref = Some(ObjectReference::default());
    });
    let at = |observed: &Observed, failure, seconds: i64| {
        conclude(observed, ended(StepStatus::Unknown, failure), now() + seconds.seconds())
    };
    let early = at(&observed, Some(refused(403)), 59);
    assert_eq!(written(&early.effects).unwrap().phase, InstallPlanPhase::Installing);
    let late = at(&observed, Some(refused(403)), 60);
    let failed = written(&late.effects).unwrap();
    assert_eq!((failed.phase, late.requeue), (InstallPlanPhase::Failed, Some(RETRY)));
    assert_eq!(failed.message.as_deref(), Some("error creating configmap c: no"));
    assert_eq!(failed.conditions[0].reason.as_deref(), Some("InstallComponentFailed"));
    with_status(&mut observed, |status| *status = failed);
    let again = at(&observed, Some(refused(403)), 65);
    assert!(again.effects.is_empty() && again.requeue == Some(RETRY), "{again:?}");
    let other = at(&observed, Some(refused(500)), 65);
    assert_eq!(other.requeue, None);
    let done = written(&at(&observed, None, 70).effects).unwrap();
    assert_eq!((done.phase, done.message), (InstallPlanPhase::Complete, None));
}
