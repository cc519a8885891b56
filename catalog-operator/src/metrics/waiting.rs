//! Upgrades that wait: which ones there are, what holds each, and since when InstallPlans wait for
//! approval. v0 has no such metrics.

use std::collections::BTreeMap;
use std::sync::Arc;

use dashmap::DashMap;
use kube::ResourceExt;
use olm_kit::metrics::{Family, IntGaugeVec, Metrics, MetricsError};
use olm_kit::watch::{Change, Store};
use olm_lifecycle::install_plan::waiting::waits_for_user;
use olm_types::api::{InstallPlan, InstallPlanPhase, Subscription, SubscriptionCondition};
use olm_types::conditions::subscription::{
    BUNDLE_UNPACK_FAILED, INSTALL_PLAN_FAILED, INSTALL_PLAN_MISSING, INSTALL_PLAN_PENDING,
    RESOLUTION_FAILED, UPGRADE_BLOCKED, UPGRADE_HELD,
};
use olm_types::reasons::subscription::{PINNED, VERSION_RANGE};

use crate::controllers::resolution::newest_held_back;

const AVAILABLE: Family = Family::ours(
    "olm_upgrade_available",
    "1 while there is a newer version for a Subscription than the installed one; held_by says what it waits for and is empty while the upgrade is under way, to is the newest that a pin or a range holds back where one does, and empty where no newer version can be installed",
    &["namespace", "name", "from", "to", "held_by"],
);
const WAITING: Family = Family::ours(
    "olm_approval_waiting_since_timestamp_seconds",
    "When an InstallPlan was created that waits for approval, in seconds since 1970; csv is the first that it brings",
    &["namespace", "name", "csv"],
);

/// Conditions that hold an upgrade while they are true, the one that names the cause best first.
const HOLDING: [&str; 6] = [
    UPGRADE_HELD,
    UPGRADE_BLOCKED,
    INSTALL_PLAN_FAILED,
    BUNDLE_UNPACK_FAILED,
    INSTALL_PLAN_MISSING,
    RESOLUTION_FAILED,
];

/// Most bytes of a label's value: names of objects have no more. Statuses may hold anything.
const LONGEST: usize = 253;

/// Follows Subscriptions and InstallPlans. Clones share the series.
#[derive(Clone)]
pub struct WaitingUpgrades {
    available: IntGaugeVec,
    since: IntGaugeVec,
    /// What waits for approval, by namespace.
    waiting: Arc<DashMap<String, Waiting>>,
}

/// When InstallPlans were created that wait for approval, by their labels.
type Waiting = BTreeMap<[String; 3], i64>;

impl WaitingUpgrades {
    pub(super) fn register(metrics: &Metrics) -> Result<Self, MetricsError> {
        let (available, since) = (metrics.gauge(AVAILABLE)?, metrics.gauge(WAITING)?);
        Ok(Self { available, since, waiting: Arc::default() })
    }

    /// Takes in a change of a Subscription.
    pub fn follow_subscription(&self, change: &Change<Subscription>) {
        let (old, new) = (change.old.as_deref(), change.new.as_deref());
        replace(&self.available, old.and_then(upgrade), new.and_then(upgrade));
    }

    /// Takes in what waits for approval in a namespace, of whose objects one has changed.
    pub fn follow_plans(
        &self,
        namespace: &str,
        subscriptions: &Store<Subscription>,
        plans: &Store<InstallPlan>,
    ) {
        self.show(namespace, || {
            let mut open = plans.list_in(namespace);
            open.retain(|plan| plan.waits_for_approval());
            if open.is_empty() {
                return Waiting::new();
            }
            waiting(&open, &subscriptions.list_in(namespace))
        });
    }

    /// Puts what waits in the place of what did. It is looked at while no other look is shown, so that the last one
    /// stays.
    fn show(&self, namespace: &str, look: impl FnOnce() -> Waiting) {
        let mut known = self.waiting.entry(namespace.to_owned()).or_default();
        let now = look();
        for labels in known.keys().filter(|labels| !now.contains_key(*labels)) {
            // A series that was never set is not an error worth reporting.
            let _ = self.since.remove_label_values(labels);
        }
        now.iter().for_each(|(labels, since)| self.since.with_label_values(labels).set(*since));
        *known = now;
        drop(known);
        self.waiting.remove_if(namespace, |_, known| known.is_empty());
    }
}

/// Puts one series in the place of another. One that stays is not removed in between, as a scrape would miss it
/// and an alert begin anew.
fn replace(gauge: &IntGaugeVec, old: Option<[String; 5]>, new: Option<[String; 5]>) {
    if let Some(labels) = old.filter(|labels| new.as_ref() != Some(labels)) {
        // A series that was never set is not an error worth reporting.
        let _ = gauge.remove_label_values(&labels);
    }
    if let Some(labels) = new {
        gauge.with_label_values(&labels).set(1);
    }
}

/// The labels of the upgrade that a Subscription has before it.
fn upgrade(subscription: &Subscription) -> Option<[String; 5]> {
    let status = subscription.status.as_ref()?;
    let from = status.installed_csv.as_deref().filter(|name| !name.is_empty())?;
    let to = status.current_csv.as_deref().filter(|name| !name.is_empty() && *name != from);
    let kept_back = status.conditions.iter().filter(|it| is_true(it)).filter_map(kept_back).max();
    let to = to.or(kept_back)?;
    let namespace = subscription.namespace().unwrap_or_default();
    let held_by = held_by(&status.conditions);
    Some([namespace, subscription.name_any(), bounded(from), bounded(to), bounded(held_by)])
}

/// What an upgrade waits for: the reason of UpgradeHeld, the type of another condition, or
/// `RequiresApproval`.
fn held_by(conditions: &[SubscriptionCondition]) -> &str {
    let holds = |kind: &&str| conditions.iter().find(|it| is_true(it) && it.type_ == **kind);
    if let Some(condition) = HOLDING.iter().find_map(holds) {
        let reason = condition.reason.as_deref().filter(|_| condition.type_ == UPGRADE_HELD);
        return reason.unwrap_or(&condition.type_);
    }
    let pending = holds(&INSTALL_PLAN_PENDING).and_then(|condition| condition.reason.as_deref());
    let waits = InstallPlanPhase::RequiresApproval.as_str();
    pending.filter(|reason| *reason == waits).unwrap_or_default()
}

/// What is newer, where the condition says that there is something: empty where it is not known as a name alone.
fn kept_back(condition: &SubscriptionCondition) -> Option<&str> {
    let reason = condition.reason.as_deref().unwrap_or_default();
    match condition.type_.as_str() {
        UPGRADE_BLOCKED => Some(""),
        UPGRADE_HELD if [PINNED, VERSION_RANGE].contains(&reason) => {
            newest_held_back(condition.message.as_deref()?)
        }
        _ => None,
    }
}

fn is_true(condition: &SubscriptionCondition) -> bool {
    condition.status == "True"
}

/// The labels of the plans of a namespace that wait for a user, and since when.
fn waiting(plans: &[Arc<InstallPlan>], subscriptions: &[Arc<Subscription>]) -> Waiting {
    let waiting = plans.iter().filter(|plan| waits_for_user(plan, subscriptions));
    waiting.filter_map(|plan| approval(plan)).collect()
}

fn approval(plan: &InstallPlan) -> Option<([String; 3], i64)> {
    let created = plan.metadata.creation_timestamp.as_ref()?;
    let csv = plan.spec.cluster_service_version_names.first().map_or("", String::as_str);
    let labels = [plan.namespace().unwrap_or_default(), plan.name_any(), bounded(csv)];
    Some((labels, created.0.as_second()))
}

fn bounded(value: &str) -> String {
    value.get(..value.floor_char_boundary(LONGEST)).unwrap_or(value).to_owned()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn subscription(current: &str, conditions: Value) -> Arc<Subscription> {
        let object = json!({
            "metadata": {"namespace": "ns", "name": "k"}, "spec": {"name": "lamp"},
            "status": {"installedCSV": "lamp.v1", "currentCSV": current, "conditions": conditions},
        });
        Arc::new(serde_json::from_value(object).unwrap())
    }

    fn plan(phase: &str, approved: bool) -> Arc<InstallPlan> {
        let object = json!({
            "metadata": {"namespace": "ns", "name": "install-x", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"approval": "Manual", "approved": approved, "clusterServiceVersionNames": ["lamp.v2", "shade.v1"]},
            "status": {"phase": phase, "catalogSources": []},
        });
        Arc::new(serde_json::from_value(object).unwrap())
    }

    fn condition(kind: &str, status: &str, reason: &str) -> Value {
        json!({"type": kind, "status": status, "reason": reason})
    }

    fn held(reason: &str, names: &str) -> Value {
        let message = format!("annotation olm-rs.dev/x accepts only \"<2\"; held back: {names}");
        json!({"type": UPGRADE_HELD, "status": "True", "reason": reason, "message": message})
    }

    fn series(metrics: &Metrics, family: &str) -> Vec<String> {
        let text = metrics.encode().unwrap();
        let begin = format!("{family}{{");
        text.lines().filter(|line| line.starts_with(&begin)).map(str::to_owned).collect()
    }

    #[rstest]
    #[case::under_way("lamp.v2", json!([condition(INSTALL_PLAN_PENDING, "True", "Installing")]), Some(("lamp.v2", "")))]
    #[case::waits("lamp.v2", json!([condition(INSTALL_PLAN_PENDING, "True", "RequiresApproval")]), Some(("lamp.v2", "RequiresApproval")))]
    #[case::paused(
        "lamp.v2",
        json!([condition(INSTALL_PLAN_PENDING, "True", "RequiresApproval"), condition(UPGRADE_HELD, "True", "Paused")]),
        Some(("lamp.v2", "Paused"))
    )]
    #[case::failed("lamp.v2", json!([condition(INSTALL_PLAN_FAILED, "True", "InstallComponentFailed")]), Some(("lamp.v2", "InstallPlanFailed")))]
    #[case::failed_before("lamp.v2", json!([condition(INSTALL_PLAN_FAILED, "False", "")]), Some(("lamp.v2", "")))]
    #[case::blocked("lamp.v1", json!([condition(UPGRADE_BLOCKED, "True", "ConstraintsNotSatisfiable")]), Some(("", "UpgradeBlocked")))]
    #[case::pinned("lamp.v1", json!([held("Pinned", "lamp.v3, lamp.v2")]), Some(("lamp.v3", "Pinned")))]
    #[case::outside_of_the_range("lamp.v1", json!([held("VersionRange", "lamp.v2 and 3 more")]), Some(("lamp.v2", "VersionRange")))]
    #[case::held_and_blocked(
        "lamp.v1",
        json!([condition(UPGRADE_BLOCKED, "True", "ConstraintsNotSatisfiable"), held("VersionRange", "lamp.v2")]),
        Some(("lamp.v2", "VersionRange"))
    )]
    #[case::nothing_newer_is_held("lamp.v1", json!([condition(UPGRADE_HELD, "True", "VersionRange")]), None)]
    #[case::paused_at_the_newest("lamp.v1", json!([condition(UPGRADE_HELD, "True", "Paused")]), None)]
    #[case::at_the_newest("lamp.v1", json!([]), None)]
    fn an_upgrade_says_what_holds_it(
        #[case] current: &str,
        #[case] conditions: Value,
        #[case] expected: Option<(&str, &str)>,
    ) {
        let found = upgrade(&subscription(current, conditions));
        let found = found.as_ref().map(|[_, _, from, to, held_by]| {
            assert_eq!(from, "lamp.v1");
            (to.as_str(), held_by.as_str())
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn an_upgrade_has_a_series_until_it_is_done() {
        let metrics = Metrics::new().unwrap();
        let waiting = WaitingUpgrades::register(&metrics).unwrap();
        let before = subscription("lamp.v2", json!([]));
        waiting.follow_subscription(&Change { old: None, new: Some(before.clone()) });
        let line = r#"olm_upgrade_available{from="lamp.v1",held_by="",name="k",namespace="ns",to="lamp.v2"} 1"#;
        assert_eq!(series(&metrics, "olm_upgrade_available"), [line]);
        let after = subscription("lamp.v1", json!([]));
        waiting.follow_subscription(&Change { old: Some(before), new: Some(after) });
        assert!(series(&metrics, "olm_upgrade_available").is_empty());
    }

    #[rstest]
    #[case::approved(Some(plan("RequiresApproval", true)))]
    #[case::installing(Some(plan("Installing", true)))]
    #[case::deleted(None)]
    fn a_plan_has_a_series_until_it_is_approved(#[case] after: Option<Arc<InstallPlan>>) {
        let metrics = Metrics::new().unwrap();
        let shown = WaitingUpgrades::register(&metrics).unwrap();
        shown.show("ns", || waiting(&[plan("RequiresApproval", false)], &[]));
        let family = "olm_approval_waiting_since_timestamp_seconds";
        let line = format!(
            r#"{family}{{csv="lamp.v2",name="install-x",namespace="ns"}} {}"#,
            "2026-01-01T00:00:00Z".parse::<jiff::Timestamp>().unwrap().as_second()
        );
        assert_eq!(series(&metrics, family), [line]);
        shown.show("ns", || waiting(after.as_slice(), &[]));
        assert!(series(&metrics, family).is_empty());
        assert!(shown.waiting.is_empty());
    }

    /// A plan that was left for another one waits as long as it is there, but for no user; so does one that is held.
    #[rstest]
    #[case::followed("install-x", json!({}), 1)]
    #[case::left("install-y", json!({}), 0)]
    #[case::paused("install-x", json!({"olm-rs.dev/pause": "true"}), 0)]
    fn a_plan_has_a_series_while_a_subscription_waits_for_it(
        #[case] follows: &str,
        #[case] annotations: Value,
        #[case] expected: usize,
    ) {
        let owner = json!({"apiVersion": "v1", "kind": "Subscription", "name": "k", "uid": "k"});
        let mut plan = InstallPlan::clone(&plan("RequiresApproval", false));
        plan.metadata.owner_references = serde_json::from_value(json!([owner])).unwrap();
        let one: Subscription = serde_json::from_value(json!({
            "metadata": {"namespace": "ns", "name": "k", "uid": "k", "annotations": annotations},
            "spec": {"name": "lamp"}, "status": {"installPlanRef": {"name": follows}},
        }))
        .unwrap();
        let metrics = Metrics::new().unwrap();
        let shown = WaitingUpgrades::register(&metrics).unwrap();
        let (subscriptions, plans) = (Store::with_objects([one]), Store::with_objects([plan]));
        shown.follow_plans("ns", &subscriptions, &plans);
        let family = "olm_approval_waiting_since_timestamp_seconds";
        assert_eq!(series(&metrics, family).len(), expected);
    }

    #[test]
    fn a_label_is_no_longer_than_a_name() {
        let long = format!("{}ö", "x".repeat(252));
        let [_, _, _, to, _] = upgrade(&subscription(&long, json!([]))).unwrap();
        assert_eq!(to, "x".repeat(252));
    }
}
