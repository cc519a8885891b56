//! Pods that are on their way back, as when a node is drained (spec olm-operator 3.7 point 5).
//!
//! An API of such a Pod is away for a moment, which is no failure of its operator. v0 has this rule
//! and never gets to see a Pod.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use olm_types::api::{ClusterServiceVersion, StrategyDeploymentSpec};
use olm_types::conditions::kubernetes::POD_SCHEDULED;
use serde_json::Value;

/// How long a Pod may take to come or go; v0's value.
const TIMEOUT: SignedDuration = SignedDuration::from_mins(5);

/// Containers wait for these on the way up.
const ON_THE_WAY: [&str; 2] = ["ContainerCreating", "PodInitializing"];

/// Containers that wait for these do not start by waiting.
const FAILURES: [&str; 5] = [
    "ImagePullBackOff",
    "ErrImagePull",
    "CrashLoopBackOff",
    "CreateContainerConfigError",
    "InvalidImageName",
];

/// The labels that select Pods of a Deployment.
pub type PodLabels = BTreeMap<String, String>;

/// The labels of the Pods of those Deployments of the CSV that lack replicas or are rolled out.
pub(crate) fn incomplete(
    csv: &ClusterServiceVersion,
    deployments: &BTreeMap<String, Arc<Deployment>>,
) -> Vec<PodLabels> {
    let entries = csv.spec.install.spec.iter().flat_map(|strategy| &strategy.deployments);
    let incomplete = entries.filter(|entry| {
        deployments.get(&entry.name).is_some_and(|deployment| lacks_replicas(deployment))
    });
    incomplete.map(pod_labels).filter(|labels| !labels.is_empty()).collect()
}

fn lacks_replicas(deployment: &Deployment) -> bool {
    let Some(status) = &deployment.status else { return false };
    let count = |number: Option<i32>| number.unwrap_or_default();
    count(status.unavailable_replicas) > 0
        || count(status.updated_replicas) < count(status.replicas)
}

fn pod_labels(entry: &StrategyDeploymentSpec) -> PodLabels {
    let labels = entry.spec.at("/selector/matchLabels");
    let labels = labels.as_ref().and_then(Value::as_object).into_iter().flatten();
    labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

/// Whether a Pod goes or comes, and nothing is wrong with it.
pub(crate) fn is_disrupted(pod: &Pod, now: Timestamp) -> bool {
    let (metadata, status) = (&pod.metadata, pod.status.as_ref());
    let is_recent = |since: &Timestamp| now.duration_since(*since) <= TIMEOUT;
    if let Some(since) = &metadata.deletion_timestamp {
        return is_recent(&since.0);
    }
    let is_young = metadata.creation_timestamp.as_ref().is_some_and(|since| is_recent(&since.0));
    let is_pending = status.and_then(|status| status.phase.as_deref()) == Some("Pending");
    is_young && is_pending && !is_unschedulable(pod) && is_on_the_way(pod)
}

fn is_unschedulable(pod: &Pod) -> bool {
    let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.into_iter().any(|condition| {
        condition.type_ == POD_SCHEDULED
            && condition.status == "False"
            && condition.reason.as_deref() == Some("Unschedulable")
    })
}

/// A Pod without states of containers is about to be taken by a node.
fn is_on_the_way(pod: &Pod) -> bool {
    let status = pod.status.iter();
    let containers: Vec<&ContainerStatus> = status
        .flat_map(|status| [&status.container_statuses, &status.init_container_statuses])
        .flatten()
        .flatten()
        .collect();
    let waits_for = |reasons: &[&str]| {
        containers
            .iter()
            .any(|container| waiting_for(container).is_some_and(|why| reasons.contains(&why)))
    };
    !waits_for(&FAILURES) && (containers.is_empty() || waits_for(&ON_THE_WAY))
}

fn waiting_for(container: &ContainerStatus) -> Option<&str> {
    container.state.as_ref()?.waiting.as_ref()?.reason.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    /// A Pod that was created this long ago, in minutes.
    fn mk_pod(age: i64, status: Value) -> Value {
        let created = now() - SignedDuration::from_mins(age);
        json!({"metadata": {"creationTimestamp": created.to_string()}, "status": status})
    }

    fn now() -> Timestamp {
        "2026-01-01T12:00:00Z".parse().unwrap()
    }

    fn waiting(list: &str, reason: &str) -> Value {
        let container = json!({
            "name": "c", "image": "i", "imageID": "", "ready": false, "restartCount": 0,
            "state": {"waiting": {"reason": reason}},
        });
        json!({"phase": "Pending", list: [container]})
    }

    fn unschedulable() -> Value {
        json!({"phase": "Pending", "conditions": [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"},
        ]})
    }

    const CONTAINERS: &str = "containerStatuses";
    const INIT: &str = "initContainerStatuses";

    /// The rows of spec olm-operator 8.21.
    #[rstest]
    #[case::pending(mk_pod(1, json!({"phase": "Pending"})), true)]
    #[case::creating(mk_pod(1, waiting(CONTAINERS, "ContainerCreating")), true)]
    #[case::initializing(mk_pod(1, waiting(CONTAINERS, "PodInitializing")), true)]
    #[case::running(mk_pod(1, json!({"phase": "Running"})), false)]
    #[case::no_image(mk_pod(1, waiting(CONTAINERS, "ImagePullBackOff")), false)]
    #[case::no_image_for_the_start(mk_pod(1, waiting(INIT, "ImagePullBackOff")), false)]
    #[case::crashing(mk_pod(1, waiting(CONTAINERS, "CrashLoopBackOff")), false)]
    #[case::unschedulable(mk_pod(1, unschedulable()), false)]
    #[case::pending_for_long(mk_pod(10, json!({"phase": "Pending"})), false)]
    fn pods(#[case] pod: Value, #[case] disrupted: bool) {
        assert_eq!(is_disrupted(&serde_json::from_value(pod).unwrap(), now()), disrupted);
    }

    /// v0 counts from the creation, so that a Pod that has run for a while never goes.
    #[rstest]
    #[case::just_now(0, true)]
    #[case::for_long(10, false)]
    fn a_pod_that_goes(#[case] since: i64, #[case] disrupted: bool) {
        let mut pod = mk_pod(10_000, json!({"phase": "Running"}));
        let deleted = now() - SignedDuration::from_mins(since);
        pod["metadata"]["deletionTimestamp"] = json!(deleted.to_string());
        assert_eq!(is_disrupted(&serde_json::from_value(pod).unwrap(), now()), disrupted);
    }

    #[rstest]
    #[case::complete(json!({"replicas": 2, "updatedReplicas": 2}), 0)]
    #[case::unavailable(json!({"replicas": 2, "updatedReplicas": 2, "unavailableReplicas": 1}), 1)]
    #[case::rolled_out(json!({"replicas": 2, "updatedReplicas": 1}), 1)]
    fn deployments(#[case] status: Value, #[case] incomplete_ones: usize) {
        let csv = json!({"metadata": {"name": "a"}, "spec": {"install": {
            "strategy": "deployment",
            "spec": {"deployments": [
                {"name": "d", "spec": {"selector": {"matchLabels": {"app": "d"}}}},
                {"name": "missing", "spec": {"selector": {"matchLabels": {"app": "m"}}}},
            ]},
        }}});
        let deployment = json!({"metadata": {"name": "d"}, "status": status});
        let deployment: Deployment = serde_json::from_value(deployment).unwrap();
        let deployments = BTreeMap::from([("d".to_owned(), Arc::new(deployment))]);
        let found = incomplete(&serde_json::from_value(csv).unwrap(), &deployments);
        assert_eq!(found.len(), incomplete_ones);
        assert!(found.iter().all(|labels| labels["app"] == "d"));
    }
}
