//! After a resolution that found something.

use olm_types::annotations::PIN;
use rstest::rstest;

use super::*;
use crate::install_plan::request::PlanRequest;
use crate::subscription::plan_status::{self, ReferencedPlan};
use crate::tenancy::Attestor;

/// Selects, plans, creates and records, as the operator does.
fn install(
    namespace: &Namespace,
    choices: &[Choice],
) -> (Selection, Option<(PlanRequest, Vec<Effect>)>) {
    let selection = select(namespace, choices);
    let request = plan(namespace, &selection, &fetch(&selection), &[]).unwrap();
    let recorded = request.map(|request| {
        let live = stored(request.object(&[]), "install-1");
        let effects = record(namespace, &selection, &request, &live, &Attestor::default(), now());
        (request, effects)
    });
    (selection, recorded)
}

fn step_names(request: &PlanRequest) -> Vec<&str> {
    request.steps.iter().map(|step| step.resource.name.as_str()).collect()
}

#[test]
fn a_plan_is_a_component_of_those_that_will_follow_it() {
    let all = ["fresh", "there"].map(|package| {
        let mut one = subscription(package, "stable", "");
        one.metadata.name = Some(package.to_owned());
        one
    });
    let namespace = namespace(all.into());
    let updates = [("fresh".to_owned(), "fresh.v1".to_owned())].into();
    let selection = Selection { updates, ..Selection::default() };
    let labels = plan_labels(&namespace, &selection).unwrap();
    let key = format!("operators.coreos.com/fresh.{}", namespace.name);
    assert_eq!(labels.into_keys().collect::<Vec<_>>(), [key]);
    assert_eq!(plan_labels(&namespace, &Selection::default()), None);
}

#[test]
fn a_new_subscription_gets_a_plan() {
    let namespace = namespace(vec![subscription("a", "alpha", "")]);
    let (_, recorded) = install(&namespace, &[choice(entry("a", "alpha", "a.v1"), "")]);
    let (request, effects) = recorded.unwrap();
    assert_eq!((request.generation, request.approval), (1, Approval::Automatic));
    assert_eq!(step_names(&request), ["a.v1"]);
    assert_eq!(effects[0].target.resource.kind, "InstallPlan");
    let status = &written(&effects)["a-alpha"];
    assert_eq!(status.current_csv.as_deref(), Some("a.v1"));
    assert_eq!(
        (status.state, status.install_plan_generation),
        (SubscriptionState::UpgradePending, Some(1))
    );
    assert_eq!(status.installplan.as_ref().unwrap().uuid, "uid-install-1");
    assert_eq!(status.install_plan_ref.as_ref().unwrap().name.as_deref(), Some("install-1"));
    assert_eq!(status.installed_csv, None);
}

#[rstest]
#[case::automatic(Approval::Automatic, "Installing")]
#[case::manual(Approval::Manual, "RequiresApproval")]
fn what_a_plan_waits_for_is_said_at_once(#[case] approval: Approval, #[case] reason: &str) {
    let mut one = subscription("a", "alpha", "");
    one.spec.install_plan_approval = Some(approval);
    let namespace = namespace(vec![one]);
    let (request, effects) =
        install(&namespace, &[choice(entry("a", "alpha", "a.v1"), "")]).1.unwrap();
    let status = written(&effects).remove("a-alpha").unwrap();
    let mut others = others(&status).into_iter();
    let pending = others.find(|condition| condition.type_ == "InstallPlanPending").unwrap();
    assert_eq!(pending.reason.as_deref(), Some(reason));
    let live = stored(request.object(&[]), "install-1");
    let plan = InstallPlan { status: Some(request.status()), ..live };
    let plan = ReferencedPlan::Found(Arc::new(plan));
    let again = plan_status::reconcile(&status, &namespace.subscriptions[0], &plan, now());
    assert_eq!(again, None, "the next look has nothing to add");
}

#[test]
fn a_subscription_without_channel_follows_any() {
    let namespace = namespace(vec![subscription("package", "", "")]);
    let (selection, _) = install(&namespace, &[choice(entry("package", "channel", "bundle"), "")]);
    assert_eq!(selection.updates, [("package-".to_owned(), "bundle".to_owned())].into());
}

#[test]
fn a_dependency_gets_a_subscription_of_its_own() {
    let namespace = namespace(vec![subscription("a", "alpha", "")]);
    let choices = [choice(entry("a", "alpha", "a.v1"), ""), choice(entry("b", "beta", "b.v1"), "")];
    let (request, effects) = install(&namespace, &choices).1.unwrap();
    assert_eq!(step_names(&request), ["a.v1", "b.v1", "b-beta-catsrc-catsrc-namespace"]);
    assert_eq!(request.object(&[]).spec.cluster_service_version_names, ["a.v1", "b.v1"]);
    assert_eq!(written(&effects).len(), 1);
}

#[test]
fn two_subscriptions_to_one_package_share_the_steps() {
    let mut twin = subscription("a", "alpha", "");
    twin.metadata.name = Some("a-alpha-2".to_owned());
    let namespace = namespace(vec![subscription("a", "alpha", ""), twin]);
    let (request, effects) =
        install(&namespace, &[choice(entry("a", "alpha", "a.v1"), "")]).1.unwrap();
    assert_eq!(step_names(&request), ["a.v1"]);
    assert_eq!(written(&effects).into_keys().collect::<Vec<_>>(), ["a-alpha", "a-alpha-2"]);
    assert_eq!(request.object(&[]).metadata.owner_references.unwrap().len(), 2);
}

#[test]
fn an_upgrade_names_what_it_replaces() {
    let mut namespace = namespace(vec![subscription("a", "alpha", "a.v1")]);
    namespace.csvs.insert("a.v1".to_owned(), CsvState::default());
    let (request, effects) =
        install(&namespace, &[choice(entry("a", "alpha", "a.v3"), "a.v1")]).1.unwrap();
    let csv: serde_json::Value =
        serde_json::from_str(request.steps[0].resource.manifest.as_deref().unwrap()).unwrap();
    assert_eq!(csv["spec"]["replaces"], "a.v1");
    let status = &written(&effects)["a-alpha"];
    assert_eq!(
        (status.current_csv.as_deref(), status.installed_csv.as_deref()),
        (Some("a.v3"), Some("a.v1"))
    );
}

/// The Subscriptions that get the plan. Those beside them may get to know how ready they are.
fn followers(effects: &[Effect]) -> Vec<String> {
    let follows = |(name, status): (String, SubscriptionStatus)| {
        status.install_plan_ref.is_some().then_some(name)
    };
    written(effects).into_iter().filter_map(follows).collect()
}

#[test]
fn what_is_installed_is_left_out() {
    let mut namespace =
        namespace(vec![subscription("a", "alpha", "a.v1"), subscription("b", "alpha", "")]);
    namespace.csvs.insert("a.v1".to_owned(), CsvState::default());
    let choices =
        [choice(entry("a", "alpha", "a.v1"), ""), choice(entry("b", "alpha", "b.v1"), "")];
    let (request, effects) = install(&namespace, &choices).1.unwrap();
    assert_eq!(step_names(&request), ["b.v1"]);
    assert_eq!(followers(&effects), ["b-alpha"]);
}

/// As in v0: the CSV was deleted by hand, and no Subscription follows a new one.
#[test]
fn a_csv_that_is_gone_makes_no_plan_of_its_own() {
    let gone = namespace(vec![subscription("a", "alpha", "a.v1")]);
    let (selection, recorded) = install(&gone, &[choice(entry("a", "alpha", "a.v1"), "")]);
    assert_eq!(selection.inline.len(), 1);
    assert!(recorded.is_none());
    let with_other =
        namespace(vec![subscription("a", "alpha", "a.v1"), subscription("b", "alpha", "")]);
    let choices =
        [choice(entry("a", "alpha", "a.v1"), ""), choice(entry("b", "alpha", "b.v1"), "")];
    let (request, effects) = install(&with_other, &choices).1.unwrap();
    assert_eq!(step_names(&request), ["a.v1", "b.v1"]);
    assert_eq!(followers(&effects), ["b-alpha"]);
}

#[test]
fn generations_go_up() {
    let mut namespace = namespace(vec![subscription("a", "alpha", "")]);
    let mut old = InstallPlan::default();
    old.spec.generation = Some(4);
    namespace.plans = vec![Arc::new(stored(old, "ip"))];
    let (request, effects) =
        install(&namespace, &[choice(entry("a", "alpha", "a.v1"), "")]).1.unwrap();
    assert_eq!(request.generation, 5);
    assert_eq!(written(&effects)["a-alpha"].install_plan_generation, Some(5));
}

#[test]
fn one_manual_subscription_makes_the_plan_manual() {
    let mut manual = subscription("b", "alpha", "");
    manual.spec.install_plan_approval = Some(Approval::Manual);
    let namespace = namespace(vec![subscription("a", "alpha", ""), manual]);
    let (request, _) = install(&namespace, &[choice(entry("a", "alpha", "a.v1"), "")]).1.unwrap();
    assert_eq!(request.approval, Approval::Manual);
}

#[test]
fn nothing_to_do_writes_nothing() {
    let mut namespace = namespace(vec![subscription("a", "alpha", "a.v1")]);
    namespace.csvs.insert("a.v1".to_owned(), CsvState::default());
    let (selection, recorded) = install(&namespace, &[]);
    assert!(recorded.is_none());
    let status = written(&clear_failures(&namespace, &selection, now())).remove("a-alpha").unwrap();
    assert_eq!(others(&status), [healthy()], "it says whether it is ready");
    Arc::make_mut(&mut namespace.subscriptions[0]).status = Some(status);
    assert_eq!(clear_failures(&namespace, &selection, now()), []);
}

/// Where everything that moves is pinned, its siblings are not asked; where something else moves, they are.
#[rstest]
#[case::all_that_moves(&["a"], Approval::Automatic)]
#[case::with_a_sibling(&["a", "b"], Approval::Manual)]
fn pins_approve_what_leads_to_them(#[case] moved: &[&str], #[case] expected: Approval) {
    let mut pinned = subscription("a", "alpha", "");
    pinned.spec.install_plan_approval = Some(Approval::Manual);
    pinned.spec.starting_csv = Some("a.v1".to_owned());
    pinned.annotations_mut().insert(PIN.to_owned(), "true".to_owned());
    let mut manual = subscription("b", "alpha", "");
    manual.spec.install_plan_approval = Some(Approval::Manual);
    let namespace = namespace(vec![pinned, manual]);
    let choices: Vec<_> = moved
        .iter()
        .map(|package| choice(entry(package, "alpha", &format!("{package}.v1")), ""))
        .collect();
    let (_, recorded) = install(&namespace, &choices);
    assert_eq!(recorded.unwrap().0.approval, expected);
}
