//! Upgrades that there are, and what holds each. v0 has no such metric.
//!
//! What is held back by a pin or a range is known by the last resolution; that it still is, by the conditions of the
//! Subscription. So a replica that does not resolve says nothing about those.

use std::collections::BTreeMap;
use std::sync::Arc;

use dashmap::DashMap;
use kube::ResourceExt;
use olm_kit::metrics::{Family, IntGaugeVec, Metrics, MetricsError};
use olm_kit::watch::{Change, Store};
use olm_lifecycle::subscription::resolution::KeptBack;
use olm_types::api::{InstallPlanPhase, Subscription, SubscriptionCondition};
use olm_types::conditions::subscription::{
    BUNDLE_UNPACK_FAILED, INSTALL_PLAN_FAILED, INSTALL_PLAN_MISSING, INSTALL_PLAN_PENDING,
    RESOLUTION_FAILED, UPGRADE_BLOCKED, UPGRADE_HELD,
};
use olm_types::reasons::subscription::{PINNED, VERSION_RANGE};

use super::bounded;

const AVAILABLE: Family = Family::ours(
    "olm_upgrade_available",
    "1 while there is a newer version for a Subscription than the installed one; held_by says what it waits for and is empty while the upgrade is under way, to is the newest that a pin or a range holds back where one does, and empty where no newer version can be installed",
    &["namespace", "name", "from", "to", "held_by"],
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

/// Follows Subscriptions and resolutions. Clones share the series.
#[derive(Clone)]
pub struct AvailableUpgrades {
    available: IntGaugeVec,
    namespaces: Arc<DashMap<String, Known>>,
}

/// What is known about the Subscriptions of a namespace, by name.
#[derive(Default)]
struct Known {
    /// The newest version that each holds back.
    newest: BTreeMap<String, String>,
    /// The labels of the series that each has.
    shown: BTreeMap<String, Labels>,
}

type Labels = [String; 5];

impl AvailableUpgrades {
    pub(super) fn register(metrics: &Metrics) -> Result<Self, MetricsError> {
        Ok(Self { available: metrics.gauge(AVAILABLE)?, namespaces: Arc::default() })
    }

    /// Takes in a change of a Subscription.
    pub fn follow_subscription(&self, change: &Change<Subscription>) {
        let Some(latest) = change.latest() else { return };
        let (namespace, name) = (latest.namespace().unwrap_or_default(), latest.name_any());
        self.with(&namespace, |known| match &change.new {
            Some(new) => known.show(&self.available, new),
            None => known.forget(&self.available, &name),
        });
    }

    /// Takes in what a resolution of the namespace found.
    pub fn follow_resolution(
        &self,
        namespace: &str,
        found: &KeptBack,
        subscriptions: &Store<Subscription>,
    ) {
        let held = found.held.iter();
        let newest = held.filter_map(|(name, held)| Some((name.clone(), held.newest.clone()?)));
        let newest = newest.collect();
        self.with(namespace, |known| {
            known.newest = newest;
            // Read while no change can be shown, so that the last one stays.
            let all = subscriptions.list_in(namespace);
            all.iter().for_each(|one| known.show(&self.available, one));
        });
    }

    fn with(&self, namespace: &str, change: impl FnOnce(&mut Known)) {
        let mut known = self.namespaces.entry(namespace.to_owned()).or_default();
        change(&mut known);
        drop(known);
        let is_empty = |known: &Known| known.newest.is_empty() && known.shown.is_empty();
        self.namespaces.remove_if(namespace, |_, known| is_empty(known));
    }
}

impl Known {
    fn show(&mut self, gauge: &IntGaugeVec, subscription: &Subscription) {
        let name = subscription.name_any();
        let now = upgrade(subscription, self.newest.get(&name).map(String::as_str));
        let before = self.shown.remove(&name);
        replace(gauge, before, now.clone());
        self.shown.extend(now.map(|labels| (name, labels)));
    }

    fn forget(&mut self, gauge: &IntGaugeVec, name: &str) {
        self.newest.remove(name);
        replace(gauge, self.shown.remove(name), None);
    }
}

/// Puts one series in the place of another. One that stays is not removed in between, as a scrape would miss it
/// and an alert begin anew.
fn replace(gauge: &IntGaugeVec, old: Option<Labels>, new: Option<Labels>) {
    if let Some(labels) = old.filter(|labels| new.as_ref() != Some(labels)) {
        // A series that was never set is not an error worth reporting.
        let _ = gauge.remove_label_values(&labels);
    }
    if let Some(labels) = new {
        gauge.with_label_values(&labels).set(1);
    }
}

/// The labels of the upgrade that a Subscription has before it; `newest` is the newest version that it holds back.
fn upgrade(subscription: &Subscription, newest: Option<&str>) -> Option<Labels> {
    let status = subscription.status.as_ref()?;
    let from = status.installed_csv.as_deref().filter(|name| !name.is_empty())?;
    let to = status.current_csv.as_deref().filter(|name| !name.is_empty() && *name != from);
    let holding = status.conditions.iter().filter(|it| is_true(it));
    let kept_back = holding.filter_map(|it| kept_back(it, newest)).max();
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

/// What is newer, where the condition says that there is something: empty where it cannot be installed.
fn kept_back<'a>(condition: &SubscriptionCondition, newest: Option<&'a str>) -> Option<&'a str> {
    let reason = condition.reason.as_deref().unwrap_or_default();
    match condition.type_.as_str() {
        UPGRADE_BLOCKED => Some(""),
        UPGRADE_HELD if [PINNED, VERSION_RANGE].contains(&reason) => newest,
        _ => None,
    }
}

fn is_true(condition: &SubscriptionCondition) -> bool {
    condition.status == "True"
}

#[cfg(test)]
mod tests {
    use olm_lifecycle::subscription::resolution::Held;
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    const FAMILY: &str = "olm_upgrade_available";

    fn subscription(current: &str, conditions: Value) -> Subscription {
        let object = json!({
            "metadata": {"namespace": "ns", "name": "k"}, "spec": {"name": "lamp"},
            "status": {"installedCSV": "lamp.v1", "currentCSV": current, "conditions": conditions},
        });
        serde_json::from_value(object).unwrap()
    }

    fn condition(kind: &str, status: &str, reason: &str) -> Value {
        json!({"type": kind, "status": status, "reason": reason})
    }

    fn held(reason: &str) -> Value {
        condition(UPGRADE_HELD, "True", reason)
    }

    /// What the Subscription `k` holds back.
    fn found(newest: Option<&str>) -> KeptBack {
        let newest = newest.map(str::to_owned);
        let held = Held { by_pin: false, newest, message: "m".to_owned() };
        KeptBack { held: [("k".to_owned(), held)].into(), ..KeptBack::default() }
    }

    fn series(metrics: &Metrics) -> Vec<String> {
        let text = metrics.encode().unwrap();
        let begin = format!("{FAMILY}{{");
        text.lines().filter(|line| line.starts_with(&begin)).map(str::to_owned).collect()
    }

    fn line(held_by: &str, to: &str) -> String {
        format!(
            r#"{FAMILY}{{from="lamp.v1",held_by="{held_by}",name="k",namespace="ns",to="{to}"}} 1"#
        )
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
    #[case::pinned("lamp.v1", json!([held("Pinned")]), Some(("lamp.v3", "Pinned")))]
    #[case::outside_of_the_range("lamp.v1", json!([held("VersionRange")]), Some(("lamp.v3", "VersionRange")))]
    #[case::held_and_blocked(
        "lamp.v1",
        json!([condition(UPGRADE_BLOCKED, "True", "ConstraintsNotSatisfiable"), held("VersionRange")]),
        Some(("lamp.v3", "VersionRange"))
    )]
    #[case::paused_at_the_newest("lamp.v1", json!([condition(UPGRADE_HELD, "True", "Paused")]), None)]
    #[case::at_the_newest("lamp.v1", json!([]), None)]
    fn an_upgrade_says_what_holds_it(
        #[case] current: &str,
        #[case] conditions: Value,
        #[case] expected: Option<(&str, &str)>,
    ) {
        let found = upgrade(&subscription(current, conditions), Some("lamp.v3"));
        let found = found.as_ref().map(|[_, _, from, to, held_by]| {
            assert_eq!(from, "lamp.v1");
            (to.as_str(), held_by.as_str())
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn an_upgrade_has_a_series_until_it_is_done() {
        let metrics = Metrics::new().unwrap();
        let upgrades = AvailableUpgrades::register(&metrics).unwrap();
        let before = Arc::new(subscription("lamp.v2", json!([])));
        upgrades.follow_subscription(&Change { old: None, new: Some(before.clone()) });
        assert_eq!(series(&metrics), [line("", "lamp.v2")]);
        let after = Arc::new(subscription("lamp.v1", json!([])));
        upgrades.follow_subscription(&Change { old: Some(before), new: Some(after) });
        assert!(series(&metrics).is_empty() && upgrades.namespaces.is_empty());
    }

    /// The resolution may end before or after its condition is seen, and finds other versions later.
    #[test]
    fn what_is_held_back_is_as_the_last_resolution_found() {
        let metrics = Metrics::new().unwrap();
        let upgrades = AvailableUpgrades::register(&metrics).unwrap();
        let one = subscription("lamp.v1", json!([held("VersionRange")]));
        let store = Store::with_objects([one.clone()]);
        let one = Arc::new(one);
        upgrades.follow_subscription(&Change { old: None, new: Some(one.clone()) });
        assert!(series(&metrics).is_empty(), "it is not known yet");
        upgrades.follow_resolution("ns", &found(Some("lamp.v2")), &store);
        assert_eq!(series(&metrics), [line("VersionRange", "lamp.v2")]);
        upgrades.follow_resolution("ns", &found(Some("lamp.v3")), &store);
        upgrades.follow_subscription(&Change { old: Some(one.clone()), new: Some(one.clone()) });
        assert_eq!(series(&metrics), [line("VersionRange", "lamp.v3")]);
        upgrades.follow_resolution("ns", &found(None), &store);
        assert!(series(&metrics).is_empty(), "nothing newer is held back");
        upgrades.follow_resolution("ns", &found(Some("lamp.v3")), &store);
        upgrades.follow_subscription(&Change { old: Some(one), new: None });
        assert!(series(&metrics).is_empty() && upgrades.namespaces.is_empty());
    }

    #[test]
    fn a_label_is_no_longer_than_a_name() {
        let long = format!("{}ö", "x".repeat(252));
        let [_, _, _, to, _] = upgrade(&subscription(&long, json!([])), None).unwrap();
        assert_eq!(to, "x".repeat(252));
    }
}
