//! Phases of an InstallPlan: the rows of spec catalog-operator 9.7. What executions lead to is in
//! `conclusion`.

mod conclusion;
mod failed;
mod order;

use jiff::ToSpan;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{OwnerReference, Time};
use olm_effect::Action;
use olm_types::api::{
    Approval, OperatorGroupSpec, OperatorGroupStatus, Step, StepResource, StepStatus, Subscription,
    SubscriptionSpec,
};
use rstest::rstest;

use super::*;
use crate::tenancy::Attestor;

fn now() -> Timestamp {
    Timestamp::UNIX_EPOCH
}

fn step(status: StepStatus) -> Step {
    Step {
        resource: StepResource { kind: "ConfigMap".to_owned(), ..StepResource::default() },
        status,
        ..Step::default()
    }
}

fn group(targets: &[&str]) -> Arc<OperatorGroup> {
    let mut group = OperatorGroup::new("og", OperatorGroupSpec::default());
    group.metadata.namespace = Some("ns".to_owned());
    let namespaces = targets.iter().map(|target| (*target).to_owned()).collect();
    group.status = Some(OperatorGroupStatus { namespaces, ..OperatorGroupStatus::default() });
    Arc::new(group)
}

fn observed(phase: InstallPlanPhase) -> Observed {
    let mut plan = InstallPlan::new("install-x", Default::default());
    plan.metadata.namespace = Some("ns".to_owned());
    plan.status = Some(InstallPlanStatus {
        phase,
        plan: vec![step(StepStatus::Unknown)],
        ..InstallPlanStatus::default()
    });
    Observed {
        plan: Arc::new(plan),
        siblings: Vec::new(),
        around: Surroundings::default(),
        groups: vec![group(&["ns"])],
        csvs: BTreeSet::new(),
        replaced: BTreeSet::new(),
        crd_owners: BTreeMap::new(),
        guarded: BTreeSet::new(),
        rights_changed: false,
        operator_namespace: "olm".to_owned(),
        retry_timeout: Duration::from_secs(60),
        trust: StepTrust::All,
        keeps_stored_versions: false,
    }
}

fn with_status(observed: &mut Observed, change: impl FnOnce(&mut InstallPlanStatus)) {
    let plan = Arc::make_mut(&mut observed.plan);
    change(plan.status.as_mut().unwrap());
}

/// The status that the effects write, if they write one.
fn written(effects: &[Effect]) -> Option<InstallPlanStatus> {
    let object = effects.iter().find_map(|effect| match &effect.action {
        Action::Status { object, .. } => Some(object.clone()),
        _ => None,
    });
    object.map(|object| serde_json::from_value::<InstallPlan>(object).unwrap().status.unwrap())
}

fn write_of(decision: Decision) -> (Option<InstallPlanStatus>, Option<String>) {
    match decision {
        Decision::Write { effects, problem } => (written(&effects), problem),
        Decision::Nothing => (None, None),
        Decision::Execute(_) | Decision::Wait { .. } | Decision::Resolve => panic!("executes"),
    }
}

#[rstest]
#[case(InstallPlanPhase::Complete)]
#[case(InstallPlanPhase::Failed)]
#[case(InstallPlanPhase::None)]
#[case(InstallPlanPhase::RequiresApproval)]
fn nothing_happens(#[case] phase: InstallPlanPhase) {
    assert!(matches!(decide(&observed(phase), now()), Decision::Nothing));
    assert!(matches!(decide(&observed(phase), now() + 1.hour()), Decision::Nothing));
}

/// The record of the plan was lost: its steps look as if they had never been executed.
#[rstest]
#[case::its_csv_is_to_come("a.v1", &[], true)]
#[case::another_one_was_replaced("a.v1", &["b.v1"], true)]
#[case::a_newer_version_took_over("a.v1", &["a.v1"], false)]
fn a_plan_does_not_bring_back_what_was_replaced(
    #[case] resolving: &str,
    #[case] replaced: &[&str],
    #[case] executed: bool,
) {
    let mut observed = observed(InstallPlanPhase::Installing);
    let manifest = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}}"#;
    with_status(&mut observed, |status| {
        let step = &mut status.plan[0];
        step.resolving = resolving.to_owned();
        (step.resource.name, step.resource.version) = ("m".to_owned(), "v1".to_owned());
        step.resource.manifest = Some(manifest.to_owned());
    });
    observed.replaced = replaced.iter().map(|name| (*name).to_owned()).collect();
    let Decision::Execute(mut execution) = decide(&observed, now()) else { panic!("not executed") };
    assert_eq!(execution.next_request().is_some(), executed);
    if !executed {
        let written = written(&conclude(&observed, execution.finish(), now()).effects).unwrap();
        assert_eq!(written.phase, InstallPlanPhase::Complete);
        assert_eq!(written.plan[0].status, StepStatus::Present);
    }
}

/// Plan 2 of Subscription `a`, with what is around it.
fn of_subscription_a() -> Observed {
    let mut observed = observed(InstallPlanPhase::Installing);
    observed.plan = numbered(&observed, 2, "a");
    let mut subscription = Subscription::new("a", SubscriptionSpec::default());
    subscription.metadata.uid = Some("a".to_owned());
    observed.around.subscriptions.push(Arc::new(subscription));
    observed
}

fn numbered(observed: &Observed, generation: i64, owner: &str) -> Arc<InstallPlan> {
    let mut plan = (*observed.plan).clone();
    plan.metadata.name = Some(format!("install-{generation}"));
    plan.spec.generation = Some(generation);
    plan.metadata.creation_timestamp = Some(Time(now()));
    let (kind, uid) = (Subscription::KIND.to_owned(), owner.to_owned());
    plan.metadata.owner_references =
        Some(vec![OwnerReference { kind, uid, ..OwnerReference::default() }]);
    Arc::new(plan)
}

#[test]
fn the_plan_of_a_next_version_waits_for_the_older_one() {
    let mut observed = of_subscription_a();
    observed.siblings = vec![numbered(&observed, 1, "b"), observed.plan.clone()];
    assert!(matches!(decide(&observed, now()), Decision::Execute(_)));
    observed.siblings.push(numbered(&observed, 1, "a"));
    let decision = decide(&observed, now());
    assert!(matches!(decision, Decision::Wait { rest, .. } if rest.as_secs() == 60));
    assert!(matches!(decide(&observed, now() + 60.seconds()), Decision::Execute(_)));
}

#[test]
fn a_plan_that_waits_says_once_for_which() {
    let mut observed = of_subscription_a();
    observed.siblings = vec![numbered(&observed, 1, "a")];
    let Decision::Wait { effects, .. } = decide(&observed, now()) else { panic!("does not wait") };
    let text = "waiting for InstallPlan install-1, which is older, to be done";
    let status = written(&effects).unwrap();
    assert_eq!(
        (status.phase, status.message.as_deref()),
        (InstallPlanPhase::Installing, Some(text))
    );
    let Action::Event(event) = &effects[1].action else { panic!("no event") };
    assert_eq!((event.reason.as_str(), event.message.as_str()), ("InstallPlanWaiting", text));
    with_status(&mut observed, |old| *old = status);
    let Decision::Wait { effects, .. } = decide(&observed, now()) else { panic!("does not wait") };
    assert_eq!(effects, []);
    observed.siblings.clear();
    let Decision::Execute(execution) = decide(&observed, now()) else { panic!("not executed") };
    let done = written(&interrupt(&observed, execution.finish(), now()).effects).unwrap();
    assert_eq!((done.message, done.start_time), (None, Some(Time(now()))));
}

/// A plan whose Subscription is gone, is being deleted, or follows another plan.
#[test]
fn a_plan_is_judged_before_it_is_executed() {
    let mut observed = of_subscription_a();
    let subscription = Arc::make_mut(&mut observed.around.subscriptions[0]);
    subscription.metadata.deletion_timestamp = Some(Time(now()));
    let (status, problem) = write_of(decide(&observed, now()));
    let why = "the Subscription that this InstallPlan was made for is being deleted";
    let condition = status.unwrap().conditions.remove(0);
    assert_eq!((condition.message.as_deref(), problem.as_deref()), (Some(why), Some(why)));
    observed.around.subscriptions.clear();
    assert!(matches!(decide(&observed, now()), Decision::Nothing));
    observed.around.namespace_goes = true;
    Arc::make_mut(&mut observed.plan).metadata.owner_references = None;
    assert!(matches!(decide(&observed, now()), Decision::Nothing));
}

#[test]
fn a_plan_that_no_subscription_asks_for_any_more_is_deleted() {
    let mut observed = of_subscription_a();
    let properties =
        r#"{"properties":[{"type":"olm.package","value":{"packageName":"b","version":"1.0.0"}}]}"#;
    let annotations = serde_json::json!({"operatorframework.io/properties": properties});
    with_status(&mut observed, |status| {
        let resource = &mut status.plan[0].resource;
        (resource.kind, resource.name) = ("ClusterServiceVersion".to_owned(), "b.v1".to_owned());
        resource.manifest =
            Some(serde_json::json!({"metadata": {"annotations": annotations}}).to_string());
    });
    let Decision::Wait { effects, rest } = decide(&observed, now() + 2.seconds()) else {
        panic!("deleted at once, and so made again at once")
    };
    assert_eq!((effects, rest.as_secs()), (Vec::new(), 3));
    let later = decide(&observed, now() + 5.seconds());
    let Decision::Write { effects, problem } = later else { panic!("kept") };
    assert_eq!(problem.as_deref(), Some("no Subscription asks for b.v1 any more"));
    let Action::Event(event) = &effects[1].action else { panic!("no event") };
    assert_eq!(event.reason, "InstallPlanWithdrawn");
    assert!(matches!(effects[0].action, Action::Delete { .. }), "{effects:?}");
}

#[test]
fn a_plan_without_status_is_left_alone() {
    let mut observed = observed(InstallPlanPhase::Installing);
    Arc::make_mut(&mut observed.plan).status = None;
    assert!(matches!(decide(&observed, now()), Decision::Nothing));
}

#[test]
fn an_approved_plan_is_installed() {
    let mut observed = observed(InstallPlanPhase::RequiresApproval);
    Arc::make_mut(&mut observed.plan).spec.approved = true;
    let (status, problem) = write_of(decide(&observed, now()));
    assert_eq!((status.unwrap().phase, problem), (InstallPlanPhase::Installing, None));
}

#[rstest]
#[case::none(vec![], "no operator group found that is managing this namespace")]
#[case::two(vec![group(&["ns"]), group(&["ns"])], "more than one operator group(s) are managing this namespace count=2")]
fn without_one_group_the_check_fails_once(
    #[case] groups: Vec<Arc<OperatorGroup>>,
    #[case] text: &str,
) {
    let mut observed = observed(InstallPlanPhase::Installing);
    observed.groups = groups;
    let (status, problem) = write_of(decide(&observed, now()));
    let condition = status.clone().unwrap().conditions.remove(0);
    assert_eq!(condition.reason.as_deref(), Some("InstallCheckFailed"));
    assert_eq!(condition.message.as_deref(), Some(text));
    assert_eq!(problem.unwrap(), format!("attenuated service account query failed - {text}"));
    with_status(&mut observed, |old| *old = status.unwrap());
    assert_eq!(write_of(decide(&observed, now() + 1.hour())).0, None);
}

#[test]
fn a_check_that_holds_again_is_withdrawn() {
    let mut observed = observed(InstallPlanPhase::RequiresApproval);
    with_status(&mut observed, |status| {
        set_installed(
            status,
            "False",
            Some(reasons::INSTALL_CHECK_FAILED),
            Some("x".to_owned()),
            now(),
        );
    });
    let condition = write_of(decide(&observed, now())).0.unwrap().conditions.remove(0);
    assert_eq!((condition.reason.as_deref(), condition.message), (Some("Unknown"), None));
}

#[test]
fn a_users_plan_without_steps_is_resolved() {
    let mut observed = observed(InstallPlanPhase::None);
    let plan = Arc::make_mut(&mut observed.plan);
    plan.status = None;
    plan.spec.cluster_service_version_names = vec!["a.v1".to_owned()];
    assert!(matches!(decide(&observed, now()), Decision::Resolve));
    for change in [
        |plan: &mut InstallPlan| plan.spec.generation = Some(1),
        |plan: &mut InstallPlan| {
            plan.metadata.owner_references =
                Some(vec![olm_types::owner::non_blocking_owner("v1", "Subscription", "s", "u")]);
        },
    ] {
        let mut observed = observed.clone();
        change(Arc::make_mut(&mut observed.plan));
        assert!(matches!(decide(&observed, now()), Decision::Nothing), "it is the operator's own");
    }
}

#[rstest]
#[case::while_it_waits(InstallPlanPhase::RequiresApproval)]
#[case::while_it_is_installed(InstallPlanPhase::Installing)]
fn steps_that_are_not_trusted_need_an_account(#[case] phase: InstallPlanPhase) {
    let mut observed = observed(phase);
    observed.trust = StepTrust::Nothing;
    let Decision::Write { effects, problem } = decide(&observed, now()) else {
        panic!("it is executed")
    };
    let status = written(&effects).unwrap();
    assert_eq!(status.phase, phase);
    assert_eq!(status.conditions[0].reason.as_deref(), Some("InstallCheckFailed"));
    assert_eq!(status.conditions[0].message, problem);
    let mut converged = observed.clone();
    with_status(&mut converged, |present| *present = status);
    let again = decide(&converged, now());
    assert!(matches!(again, Decision::Write { effects, .. } if effects.is_empty()), "once");
}

#[rstest]
#[case::automatic(Approval::Automatic, InstallPlanPhase::Installing)]
#[case::manual(Approval::Manual, InstallPlanPhase::RequiresApproval)]
fn steps_of_a_users_plan_await_approval_as_usual(
    #[case] approval: Approval,
    #[case] phase: InstallPlanPhase,
) {
    let mut plan = InstallPlan::new("mine", Default::default());
    plan.spec.approval = approval;
    let writes = super::super::request::requested(
        &plan,
        vec![step(StepStatus::Unknown)],
        &Attestor::default(),
        now(),
    );
    assert_eq!(written(&writes).unwrap().phase, phase);
    let says_so = writes.iter().any(|write| matches!(write.action, Action::Event(_)));
    assert_eq!(says_so, approval == Approval::Manual);
}

#[test]
fn an_approval_of_a_plan_that_changed_does_not_count() {
    let mut observed = observed(InstallPlanPhase::RequiresApproval);
    let plan = Arc::make_mut(&mut observed.plan);
    plan.spec.approved = true;
    plan.spec.cluster_service_version_names = vec!["a.v1".to_owned(), "b.v1".to_owned()];
    let csv = StepResource {
        kind: "ClusterServiceVersion".to_owned(),
        name: "a.v1".to_owned(),
        ..StepResource::default()
    };
    with_status(&mut observed, |status| status.plan[0].resource = csv);
    let status = write_of(decide(&observed, now())).0.unwrap();
    let condition = &status.conditions[0];
    assert_eq!(status.phase, InstallPlanPhase::RequiresApproval);
    assert_eq!(condition.reason.as_deref(), Some("InstallCheckFailed"));
    assert!(
        condition
            .message
            .as_deref()
            .unwrap()
            .contains("names b.v1, for which the plan has no step")
    );
    Arc::make_mut(&mut observed.plan).spec.cluster_service_version_names.pop();
    let status = write_of(decide(&observed, now())).0.unwrap();
    assert_eq!(status.phase, InstallPlanPhase::Installing);
}
