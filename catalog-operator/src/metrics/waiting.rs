//! Since when InstallPlans wait for approval. v0 has no such metric.

use std::collections::BTreeMap;
use std::sync::Arc;

use dashmap::DashMap;
use kube::ResourceExt;
use olm_kit::metrics::{Family, IntGaugeVec, Metrics, MetricsError};
use olm_kit::watch::Store;
use olm_lifecycle::install_plan::waiting::waits_for_user;
use olm_types::api::{InstallPlan, Subscription};

use super::bounded;

const WAITING: Family = Family::ours(
    "olm_approval_waiting_since_timestamp_seconds",
    "When an InstallPlan was created that waits for approval, in seconds since 1970; csv is the first that it brings",
    &["namespace", "name", "csv"],
);

/// Follows Subscriptions and InstallPlans. Clones share the series.
#[derive(Clone)]
pub struct WaitingApprovals {
    since: IntGaugeVec,
    /// What waits for approval, by namespace.
    waiting: Arc<DashMap<String, Waiting>>,
}

/// When InstallPlans were created that wait for approval, by their labels.
type Waiting = BTreeMap<[String; 3], i64>;

impl WaitingApprovals {
    pub(super) fn register(metrics: &Metrics) -> Result<Self, MetricsError> {
        Ok(Self { since: metrics.gauge(WAITING)?, waiting: Arc::default() })
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

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn plan(phase: &str, approved: bool) -> Arc<InstallPlan> {
        let object = json!({
            "metadata": {"namespace": "ns", "name": "install-x", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"approval": "Manual", "approved": approved, "clusterServiceVersionNames": ["lamp.v2", "shade.v1"]},
            "status": {"phase": phase, "catalogSources": []},
        });
        Arc::new(serde_json::from_value(object).unwrap())
    }

    fn series(metrics: &Metrics, family: &str) -> Vec<String> {
        let text = metrics.encode().unwrap();
        let begin = format!("{family}{{");
        text.lines().filter(|line| line.starts_with(&begin)).map(str::to_owned).collect()
    }

    #[rstest]
    #[case::approved(Some(plan("RequiresApproval", true)))]
    #[case::installing(Some(plan("Installing", true)))]
    #[case::deleted(None)]
    fn a_plan_has_a_series_until_it_is_approved(#[case] after: Option<Arc<InstallPlan>>) {
        let metrics = Metrics::new().unwrap();
        let shown = WaitingApprovals::register(&metrics).unwrap();
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
        let shown = WaitingApprovals::register(&metrics).unwrap();
        let (subscriptions, plans) = (Store::with_objects([one]), Store::with_objects([plan]));
        shown.follow_plans("ns", &subscriptions, &plans);
        let family = "olm_approval_waiting_since_timestamp_seconds";
        assert_eq!(series(&metrics, family).len(), expected);
    }
}
