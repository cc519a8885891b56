//! Subscription, InstallPlan, CSV, Deployment and Pod as one tree, each with its health.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use olm_types::api::{ClusterServiceVersion, InstallPlan, InstallPlanPhase, Subscription};
use olm_types::conditions::readiness;
use serde::Serialize;

use crate::approval::is_pending;
use crate::health::{self, Health};
use crate::observed::{Observed, created, is, name, namespace};

/// An object and those that came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// Kind of the object.
    pub kind: &'static str,
    /// Namespace of the object.
    pub namespace: String,
    /// Name of the object.
    pub name: String,
    /// In one word.
    pub health: Health,
    /// Phase, reason or count, and a message where something is wrong.
    pub state: String,
    /// When the object was created, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// What came of it.
    pub children: Vec<Node>,
}

/// The tree of a Subscription.
#[must_use]
pub fn tree(observed: &Observed, subscription: &Subscription) -> Node {
    let home = namespace(&subscription.metadata);
    let status = subscription.status.clone().unwrap_or_default();
    let (health, reason) = health::of_subscription(observed, subscription);
    let mut children: Vec<Node> =
        observed.plan_of(subscription).map(|plan| of_plan(home, plan)).into_iter().collect();
    let mut csvs: Vec<&String> = status.installed_csv.iter().collect();
    csvs.extend(status.current_csv.iter().filter(|csv| status.installed_csv.as_ref() != Some(csv)));
    children.extend(csvs.into_iter().filter_map(|csv| of_csv(observed, home, csv)));
    Node {
        kind: Subscription::KIND,
        namespace: home.to_owned(),
        name: name(&subscription.metadata).to_owned(),
        health,
        state: joined(&[status.state.as_str(), &reason, &complaint(subscription)]),
        created: created(&subscription.metadata),
        children,
    }
}

/// What a Subscription's true conditions say, besides how ready it is, which follows from them.
fn complaint(subscription: &Subscription) -> String {
    let conditions = subscription.status.iter().flat_map(|status| &status.conditions);
    let true_ones = conditions.filter(|condition| {
        condition.status == "True" && !readiness::ALL.contains(&condition.type_.as_str())
    });
    true_ones.filter_map(|condition| condition.message.clone()).collect::<Vec<_>>().join("; ")
}

fn of_plan(home: &str, plan: &InstallPlan) -> Node {
    let status = plan.status.clone().unwrap_or_default();
    let health = match status.phase {
        _ if is_pending(plan) => Health::NeedsApproval,
        InstallPlanPhase::Complete => Health::Healthy,
        InstallPlanPhase::Failed => Health::Unhealthy,
        _ => Health::Progressing,
    };
    let failed = status.conditions.iter().find(|one| one.status.as_deref() == Some("False"));
    let message = failed.and_then(|one| one.message.clone()).or(status.message);
    Node {
        kind: InstallPlan::KIND,
        namespace: home.to_owned(),
        name: name(&plan.metadata).to_owned(),
        health,
        state: joined(&[
            status.phase.as_str(),
            &plan.spec.cluster_service_version_names.join(","),
            &message.unwrap_or_default(),
        ]),
        created: created(&plan.metadata),
        children: Vec::new(),
    }
}

fn of_csv(observed: &Observed, home: &str, csv: &str) -> Option<Node> {
    let object = observed.csv(home, csv)?;
    let status = object.status.clone().unwrap_or_default();
    let (health, reason) = health::of_csv(observed, home, csv);
    let message = if health == Health::Healthy { None } else { status.message };
    let deployments = deployments(observed, object);
    Some(Node {
        kind: ClusterServiceVersion::KIND,
        namespace: home.to_owned(),
        name: csv.to_owned(),
        health,
        state: joined(&[status.phase.as_str(), &reason, &message.unwrap_or_default()]),
        created: created(&object.metadata),
        children: deployments.map(|one| of_deployment(observed, one)).collect(),
    })
}

/// The Deployments that a CSV's install strategy names, in its order, as far as they exist.
pub fn deployments<'a>(
    observed: &'a Observed,
    csv: &'a ClusterServiceVersion,
) -> impl Iterator<Item = &'a Deployment> {
    let home = namespace(&csv.metadata);
    let strategy = csv.spec.install.spec.iter().flat_map(|strategy| &strategy.deployments);
    strategy.filter_map(move |named| {
        observed.deployments.iter().find(|one| is(&one.metadata, home, &named.name))
    })
}

fn of_deployment(observed: &Observed, deployment: &Deployment) -> Node {
    let wanted = deployment.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
    let status = deployment.status.as_ref();
    let ready = status.and_then(|status| status.available_replicas).unwrap_or_default();
    let refused = refused_pods(deployment);
    let health = match refused {
        Some(_) => Health::Unhealthy,
        None if ready >= wanted => Health::Healthy,
        None => Health::Progressing,
    };
    let why = refused.map(|why| format!(": {why}")).unwrap_or_default();
    Node {
        kind: "Deployment",
        namespace: namespace(&deployment.metadata).to_owned(),
        name: name(&deployment.metadata).to_owned(),
        health,
        state: format!("{ready}/{wanted} available{why}"),
        created: created(&deployment.metadata),
        children: pods(observed, deployment).map(of_pod).collect(),
    }
}

/// Why no Pod of a Deployment can be made, in the words of the API server.
pub fn refused_pods(deployment: &Deployment) -> Option<&str> {
    let conditions = deployment.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let mut failing =
        conditions.filter(|one| one.type_ == "ReplicaFailure" && one.status == "True");
    failing.find_map(|one| one.message.as_deref())
}

/// The Pods that a Deployment's selector takes. One that selects by expressions has none here.
pub fn pods<'a>(
    observed: &'a Observed,
    deployment: &'a Deployment,
) -> impl Iterator<Item = &'a Pod> {
    let home = namespace(&deployment.metadata);
    let selector = deployment.spec.as_ref().and_then(|spec| spec.selector.match_labels.as_ref());
    observed.pods.iter().filter(move |pod| {
        let labels = pod.metadata.labels.as_ref();
        let has =
            |(key, value): (&String, &String)| labels.and_then(|all| all.get(key)) == Some(value);
        namespace(&pod.metadata) == home
            && selector.is_some_and(|wanted| !wanted.is_empty() && wanted.iter().all(has))
    })
}

fn of_pod(pod: &Pod) -> Node {
    let status = pod.status.clone().unwrap_or_default();
    let conditions = status.conditions.unwrap_or_default();
    let is_ready = conditions.iter().any(|one| one.type_ == "Ready" && one.status == "True");
    let waiting = waiting(pod);
    let health = match (is_ready, &waiting) {
        (true, _) => Health::Healthy,
        (false, Some(reason)) if reason.contains("Back") || reason.contains("Err") => {
            Health::Unhealthy
        }
        _ => Health::Progressing,
    };
    Node {
        kind: "Pod",
        namespace: namespace(&pod.metadata).to_owned(),
        name: name(&pod.metadata).to_owned(),
        health,
        state: joined(&[&status.phase.unwrap_or_default(), &waiting.unwrap_or_default()]),
        created: created(&pod.metadata),
        children: Vec::new(),
    }
}

/// Why the first container that waits does so, such as `ImagePullBackOff`.
#[must_use]
pub fn waiting(pod: &Pod) -> Option<String> {
    let status = pod.status.as_ref()?;
    let of = |list: &Option<Vec<_>>| list.clone().unwrap_or_default();
    let all = of(&status.init_container_statuses).into_iter().chain(of(&status.container_statuses));
    let mut waiting = all.filter_map(|container| container.state?.waiting?.reason);
    waiting.next()
}

fn joined(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn a_tree_reaches_from_the_subscription_to_its_pods() {
        let made = "2026-01-02T03:04:05Z";
        let subscription = from_value(json!({"metadata": {"name": "s", "namespace": "ns",
            "creationTimestamp": made},
            "status": {"state": "AtLatestKnown", "installedCSV": "a.v1", "currentCSV": "a.v1",
                "installPlanRef": {"name": "p"}}}))
        .unwrap();
        let observed = Observed {
            install_plans: vec![from_value(json!({"metadata": {"name": "p", "namespace": "ns"},
                "spec": {"clusterServiceVersionNames": ["a.v1"]}, "status": {"phase": "Complete"}}))
            .unwrap()],
            csvs: vec![from_value(json!({"metadata": {"name": "a.v1", "namespace": "ns"},
                "spec": {"install": {"strategy": "deployment", "spec": {"deployments": [{"name": "a"}]}}},
                "status": {"phase": "Succeeded", "reason": "InstallSucceeded"}}))
            .unwrap()],
            deployments: vec![from_value(json!({"metadata": {"name": "a", "namespace": "ns"},
                "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "a"}}, "template": {}},
                "status": {"availableReplicas": 1}}))
            .unwrap()],
            pods: ["a", "b"]
                .map(|app| {
                    let waiting = json!({"waiting": {"reason": "ImagePullBackOff"}});
                    from_value(json!({"metadata": {"name": format!("{app}-0"), "namespace": "ns",
                        "labels": {"app": app}}, "status": {"phase": "Pending",
                        "containerStatuses": [{"name": "c", "image": "i", "imageID": "",
                            "ready": false, "restartCount": 0, "state": waiting}]}}))
                    .unwrap()
                })
                .into(),
            ..Observed::default()
        };
        let mut lines = Vec::new();
        let root = tree(&observed, &subscription);
        assert_eq!((root.created.as_deref(), &root.children[0].created), (Some(made), &None));
        flatten(&root, 0, &mut lines);
        assert_eq!(
            lines,
            [
                "0 Subscription s Healthy AtLatestKnown InstallSucceeded",
                "1 InstallPlan p Healthy Complete a.v1",
                "1 ClusterServiceVersion a.v1 Healthy Succeeded InstallSucceeded",
                "2 Deployment a Progressing 1/2 available",
                "3 Pod a-0 Unhealthy Pending ImagePullBackOff",
            ]
        );
    }

    #[test]
    fn a_deployment_says_why_it_makes_no_pods() {
        let why = "pods \"a-\" is forbidden: serviceaccount \"tool\" not found";
        let deployment = from_value(json!({"metadata": {"name": "a", "namespace": "ns"},
            "spec": {"selector": {}, "template": {}}, "status": {"conditions": [
                {"type": "Progressing", "status": "True", "message": "it is"},
                {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": why}]}}))
        .unwrap();
        let node = of_deployment(&Observed::default(), &deployment);
        let expected = (Health::Unhealthy, format!("0/1 available: {why}"));
        assert_eq!((node.health, node.state), expected);
    }

    fn flatten(node: &Node, depth: usize, lines: &mut Vec<String>) {
        let health = node.health.as_str();
        lines.push(format!("{depth} {} {} {health} {}", node.kind, node.name, node.state));
        node.children.iter().for_each(|child| flatten(child, depth + 1, lines));
    }
}
