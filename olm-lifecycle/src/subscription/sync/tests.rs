//! The rows of spec catalog-operator 9.5 on reconcilers: a whole look at one Subscription.
//!
//! The rows on states are in `subscription/health/tests.rs` and `subscription/plan_status/tests.rs`.
//! Impossible rows: `CheckReference`, since a reference that is there or not is no state that is
//! left behind, and the syncer without reconcilers, since the list of them is fixed.

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use olm_effect::Action;
use olm_types::annotations::PAUSE;
use olm_types::api::{
    CatalogSourceStatus, CsvPhase, InstallPlan, InstallPlanPhase, InstallPlanStatus,
    SubscriptionCondition, SubscriptionState, SubscriptionStatus,
};
use olm_types::conditions::readiness::{ALL as READINESS, READY};
use rstest::rstest;
use serde_json::json;

use super::*;

fn now() -> Timestamp {
    Timestamp::UNIX_EPOCH
}

fn catalog(namespace: &str, name: &str, reason: Option<&str>) -> Arc<CatalogSource> {
    let object = json!({
        "metadata": {"namespace": namespace, "name": name, "uid": format!("{namespace}/{name}")},
        "spec": {"sourceType": "grpc", "address": "kitchen:50051"},
    });
    let mut catalog: CatalogSource = serde_json::from_value(object).unwrap();
    let reason = reason.map(str::to_owned);
    catalog.status = Some(CatalogSourceStatus { reason, ..CatalogSourceStatus::default() });
    Arc::new(catalog)
}

fn observed(status: SubscriptionStatus, catalogs: &[Arc<CatalogSource>]) -> Observed {
    let spec = json!({"source": "cs-0", "sourceNamespace": "ns", "name": "p"});
    let mut subscription = Subscription::new("sub", serde_json::from_value(spec).unwrap());
    subscription.metadata.namespace = Some("ns".to_owned());
    subscription.status = Some(status);
    Observed {
        subscription: Arc::new(subscription),
        plan: ReferencedPlan::None,
        catalogs: catalogs.to_vec(),
        installed: None,
        operator: None,
    }
}

/// The status that is written; nothing when it stays.
fn written(observed: &Observed) -> Option<SubscriptionStatus> {
    let effect = decide(observed, now())?;
    let Action::Status { object, .. } = effect.action else { panic!("{effect:?}") };
    serde_json::from_value::<Subscription>(object).unwrap().status
}

/// The status after a look at these catalogs, from nothing.
fn seen(catalogs: &[Arc<CatalogSource>]) -> SubscriptionStatus {
    written(&observed(SubscriptionStatus::default(), catalogs)).unwrap()
}

/// `type status reason: message`, besides readiness.
fn reported(status: &SubscriptionStatus) -> Vec<String> {
    let line = |one: &SubscriptionCondition| {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        format!("{} {} {}: {}", one.type_, one.status, text(&one.reason), text(&one.message))
    };
    let others = status.conditions.iter().filter(|one| !READINESS.contains(&one.type_.as_str()));
    others.map(line).collect()
}

#[test]
fn no_catalogs() {
    let text = "CatalogSourcesUnhealthy True NoCatalogSourcesFound: dependency resolution requires \
                at least one catalogsource";
    let status = seen(&[]);
    assert_eq!(reported(&status), [text]);
    assert_eq!(status.last_updated, Some(Time(now())));
}

#[test]
fn a_catalog_with_an_invalid_spec_is_unhealthy_at_the_first_look() {
    let status = seen(&[catalog("ns", "cs-0", Some("SpecInvalidError"))]);
    let text = "CatalogSourcesUnhealthy True UnhealthyCatalogSourceFound: targeted catalogsource \
                ns/cs-0 unhealthy";
    assert_eq!(reported(&status), [text]);
    assert!(!status.catalog_health[0].healthy);
}

/// `healthy` or not: the first look reports the plain state, and the second changes nothing.
#[rstest]
#[case::unhealthy(
    Some("SpecInvalidError"),
    "True UnhealthyCatalogSourceFound: targeted catalogsource ns/cs-0 unhealthy"
)]
#[case::healthy(None, "False AllCatalogSourcesHealthy: all available catalogsources are healthy")]
fn no_changes(#[case] reason: Option<&str>, #[case] text: &str) {
    let catalogs = [catalog("ns", "cs-0", reason), catalog("ns", "cs-1", None)];
    let status = seen(&catalogs);
    assert_eq!(reported(&status), [format!("CatalogSourcesUnhealthy {text}")]);
    assert_eq!(written(&observed(status, &catalogs)), None);
}

#[test]
fn a_global_catalog_is_added_in_front_of_the_others() {
    let mut catalogs = vec![catalog("ns", "cs-1", None), catalog("ns", "cs-0", None)];
    let before = seen(&catalogs);
    catalogs.push(catalog("global", "cs-g", None));
    let status = written(&observed(before, &catalogs)).unwrap();
    let text = "CatalogSourcesUnhealthy False CatalogSourcesAdded: all available catalogsources \
                are healthy";
    assert_eq!(reported(&status), [text]);
    let names = status.catalog_health.iter().map(|one| one.catalog_source_ref.uid.clone().unwrap());
    assert_eq!(names.collect::<Vec<_>>(), ["global/cs-g", "ns/cs-0", "ns/cs-1"]);
    assert!(status.catalog_health.iter().all(|one| one.healthy));
}

#[test]
fn a_catalog_that_becomes_invalid_is_updated() {
    let before = seen(&[catalog("ns", "cs-0", None)]);
    let status =
        written(&observed(before, &[catalog("ns", "cs-0", Some("SpecInvalidError"))])).unwrap();
    let text = "CatalogSourcesUnhealthy True CatalogSourcesUpdated: targeted catalogsource ns/cs-0 \
                unhealthy";
    assert_eq!(reported(&status), [text]);
}

fn converged() -> (SubscriptionStatus, [Arc<CatalogSource>; 1]) {
    let catalogs = [catalog("ns", "cs-0", None)];
    (seen(&catalogs), catalogs)
}

fn referring(mut status: SubscriptionStatus) -> SubscriptionStatus {
    let name = Some("ip".to_owned());
    status.install_plan_ref = Some(ObjectReference { name, ..ObjectReference::default() });
    status
}

fn plan(phase: InstallPlanPhase) -> ReferencedPlan {
    let mut plan = InstallPlan::new("ip", Default::default());
    plan.status = Some(InstallPlanStatus { phase, ..InstallPlanStatus::default() });
    ReferencedPlan::Found(Arc::new(plan))
}

use InstallPlanPhase::{Complete, Failed, Installing, None as NoPhase, Planning, RequiresApproval};

/// What is added behind the condition of the catalogs; a second look adds nothing.
#[rstest]
#[case::none(ReferencedPlan::None, None)]
#[case::missing(
    ReferencedPlan::Missing,
    Some("InstallPlanMissing True ReferencedInstallPlanNotFound: ")
)]
#[case::fresh(plan(NoPhase), Some("InstallPlanPending True InstallPlanNotYetReconciled: "))]
#[case::planning(plan(Planning), Some("InstallPlanPending True Planning: "))]
#[case::installing(plan(Installing), Some("InstallPlanPending True Installing: "))]
#[case::approval(plan(RequiresApproval), Some("InstallPlanPending True RequiresApproval: "))]
#[case::failed(plan(Failed), Some("InstallPlanFailed True InstallPlanFailed: "))]
#[case::complete(plan(Complete), None)]
fn plans(#[case] plan: ReferencedPlan, #[case] added: Option<&str>) {
    let (status, catalogs) = converged();
    let healthy = reported(&status).remove(0);
    let look = |status| Observed { plan: plan.clone(), ..observed(status, &catalogs) };
    let after = written(&look(referring(status)));
    assert_eq!(after.is_some(), added.is_some());
    if let (Some(after), Some(added)) = (after, added) {
        assert_eq!(reported(&after), [healthy, added.to_owned()]);
        assert_eq!(written(&look(after)), None, "it is reported once");
    }
}

#[test]
fn a_complete_plan_is_pending_no_more() {
    let (status, catalogs) = converged();
    let look = |plan, status| Observed { plan, ..observed(status, &catalogs) };
    let pending = written(&look(plan(Installing), referring(status.clone()))).unwrap();
    let done = written(&look(plan(Complete), pending)).unwrap();
    assert_eq!(reported(&done), reported(&status));
}

#[test]
fn a_pending_plan_that_is_gone_leaves_nothing_behind() {
    let (status, catalogs) = converged();
    let look = |plan, status| Observed { plan, ..observed(status, &catalogs) };
    let mut pending = written(&look(plan(Installing), referring(status.clone()))).unwrap();
    pending.state = SubscriptionState::UpgradePending;
    let after = written(&look(ReferencedPlan::Missing, pending)).unwrap();
    assert_eq!(reported(&after), reported(&status));
    assert_eq!((after.state, after.install_plan_ref), (SubscriptionState::default(), None));
    assert_eq!(after.last_updated, Some(Time(now())));
}

/// In one write: what is Ready is nowhere said to be pending. What was said comes back with the end of the pause.
#[test]
fn a_pending_upgrade_that_is_paused_is_not_pending_until_the_pause_goes() {
    let (status, catalogs) = converged();
    let look = |pause: Option<&str>, status: SubscriptionStatus| {
        let operator = Some(CsvState { phase: CsvPhase::Succeeded, ..CsvState::default() });
        let mut observed =
            Observed { plan: plan(RequiresApproval), operator, ..observed(status, &catalogs) };
        let subscription = Arc::make_mut(&mut observed.subscription);
        let pause = pause.map(|value| (PAUSE.to_owned(), value.to_owned()));
        subscription.metadata.annotations = Some(pause.into_iter().collect());
        observed
    };
    let mut before = referring(status);
    before.state = SubscriptionState::UpgradePending;
    before.installed_csv = Some("a.v1".to_owned());
    before.current_csv = Some("a.v2".to_owned());
    let said = |status: &SubscriptionStatus| {
        let said = reported(status).split_off(1);
        let kinds = said.iter().map(|line| line.split(' ').next().unwrap_or_default().to_owned());
        (status.state, kinds.collect::<Vec<_>>(), reason_of_ready(status))
    };
    let pending = written(&look(None, before)).unwrap();
    let waits = (
        SubscriptionState::UpgradePending,
        vec!["InstallPlanPending".to_owned()],
        "RequiresApproval".to_owned(),
    );
    assert_eq!(said(&pending), waits);

    let paused = written(&look(Some("true"), pending.clone())).unwrap();
    let held =
        (SubscriptionState::AtLatestKnown, vec!["UpgradeHeld".to_owned()], "Succeeded".to_owned());
    assert_eq!(said(&paused), held);
    assert_eq!(paused.current_csv, pending.current_csv);
    assert_eq!(paused.install_plan_ref, pending.install_plan_ref);
    assert_eq!(written(&look(Some("true"), paused.clone())), None, "it is said once");

    let resumed = written(&look(None, paused)).unwrap();
    assert_eq!(said(&resumed), waits);
    let mistaken = written(&look(Some("yes"), resumed)).unwrap();
    assert_eq!(mistaken.state, SubscriptionState::UpgradePending, "it stays as it was");
    assert!(said(&mistaken).1.contains(&"InstallPlanPending".to_owned()));
}

fn reason_of_ready(status: &SubscriptionStatus) -> String {
    let ready = status.conditions.iter().find(|one| one.type_ == READY);
    ready.and_then(|one| one.reason.clone()).unwrap_or_default()
}

/// The syncer of v0, given an empty Subscription.
#[test]
fn an_empty_subscription_is_no_error() {
    let mut empty = observed(SubscriptionStatus::default(), &[]);
    Arc::make_mut(&mut empty.subscription).status = None;
    assert!(written(&empty).is_some(), "it is reported that there are no catalogs");
}
