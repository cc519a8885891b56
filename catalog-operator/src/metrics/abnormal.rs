//! `olm_subscription_abnormal`: what stands in the way of Subscriptions, as `csv_abnormal` reports
//! it of CSVs.

use kube::ResourceExt;
use olm_kit::metrics::{Family, IntGaugeVec, Metrics, MetricsError};
use olm_kit::watch::Change;
use olm_types::api::{Subscription, SubscriptionCondition};
use olm_types::conditions::subscription::{
    BUNDLE_UNPACK_FAILED, CATALOG_SOURCES_UNHEALTHY, INSTALL_PLAN_FAILED, INSTALL_PLAN_MISSING,
    RESOLUTION_FAILED, UPGRADE_BLOCKED,
};

const ABNORMAL: Family = Family::ours(
    "olm_subscription_abnormal",
    "1 while a condition of a Subscription says that something stands in its way",
    &["namespace", "name", "package", "condition", "reason"],
);

/// Conditions that do so while they are true. One that waits for approval is not among them.
const PROBLEMS: [&str; 6] = [
    BUNDLE_UNPACK_FAILED,
    CATALOG_SOURCES_UNHEALTHY,
    INSTALL_PLAN_FAILED,
    INSTALL_PLAN_MISSING,
    RESOLUTION_FAILED,
    UPGRADE_BLOCKED,
];

/// Follows Subscriptions. Clones share the series.
#[derive(Clone)]
pub struct AbnormalSubscriptions(IntGaugeVec);

impl AbnormalSubscriptions {
    pub(super) fn register(metrics: &Metrics) -> Result<Self, MetricsError> {
        Ok(Self(metrics.gauge(ABNORMAL)?))
    }

    /// Takes in a change.
    pub fn follow(&self, change: &Change<Subscription>) {
        let new: Vec<_> = change.new.iter().flat_map(|one| problems(one)).collect();
        // A scrape would miss one that stays, and an alert begin anew.
        let gone = change.old.iter().flat_map(|one| problems(one));
        gone.filter(|labels| !new.contains(labels)).for_each(|labels| {
            // A series that was never set is not an error worth reporting.
            let _ = self.0.remove_label_values(&labels);
        });
        new.iter().for_each(|labels| self.0.with_label_values(labels).set(1));
    }
}

fn problems(subscription: &Subscription) -> impl Iterator<Item = [String; 5]> {
    let conditions = subscription.status.iter().flat_map(|status| &status.conditions);
    conditions.filter(|condition| is_problem(condition)).map(|condition| {
        [
            subscription.namespace().unwrap_or_default(),
            subscription.name_any(),
            subscription.spec.name.clone(),
            condition.type_.clone(),
            condition.reason.clone().unwrap_or_default(),
        ]
    })
}

fn is_problem(condition: &SubscriptionCondition) -> bool {
    condition.status == "True" && PROBLEMS.contains(&condition.type_.as_str())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn mk_subscription(condition: &str, status: &str) -> Arc<Subscription> {
        let condition = json!({"type": condition, "status": status, "reason": "Why"});
        let object = json!({
            "metadata": {"namespace": "ns", "name": "k"}, "spec": {"name": "keda"},
            "status": {"conditions": [condition]},
        });
        Arc::new(serde_json::from_value(object).unwrap())
    }

    #[test]
    fn a_problem_has_a_series_while_it_lasts() {
        let metrics = Metrics::new().unwrap();
        let abnormal = AbnormalSubscriptions::register(&metrics).unwrap();
        let series = || {
            let text = metrics.encode().unwrap();
            let lines = text.lines().filter(|line| line.starts_with("olm_subscription_abnormal{"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let refused = mk_subscription(RESOLUTION_FAILED, "True");
        abnormal.follow(&Change { old: None, new: Some(refused.clone()) });
        let line = r#"olm_subscription_abnormal{condition="ResolutionFailed",name="k",namespace="ns",package="keda",reason="Why"} 1"#;
        assert_eq!(series(), [line]);
        let well = mk_subscription(RESOLUTION_FAILED, "False");
        abnormal.follow(&Change { old: Some(refused.clone()), new: Some(well) });
        assert!(series().is_empty());
        let waiting = mk_subscription("InstallPlanPending", "True");
        abnormal.follow(&Change { old: None, new: Some(waiting) });
        assert!(series().is_empty());
        abnormal.follow(&Change { old: None, new: Some(refused.clone()) });
        abnormal.follow(&Change { old: Some(refused), new: None });
        assert!(series().is_empty());
    }
}
