//! What keeps a Deployment from being available, in one line per fact.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ContainerState, ContainerStatus, Event, Pod};
use kube::ResourceExt;

/// Everything that is not as it should be.
pub(super) fn describe(deployment: Option<&Deployment>, pods: &[Pod], events: &[Event]) -> String {
    let Some(deployment) = deployment else {
        return "  there is no such Deployment".to_owned();
    };
    let mut lines = conditions(deployment);
    if pods.is_empty() {
        lines.push("there is no Pod".to_owned());
    }
    lines.extend(pods.iter().flat_map(pod));
    lines.extend(once_each(events).map(event));
    lines.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

fn conditions(deployment: &Deployment) -> Vec<String> {
    let status = deployment.status.as_ref();
    let conditions = status.and_then(|status| status.conditions.as_ref()).into_iter().flatten();
    let bad = conditions.filter(|c| (c.status == "True") == (c.type_ == "ReplicaFailure"));
    bad.map(|c| {
        let (reason, message) = (c.reason.as_deref(), c.message.as_deref());
        format!("{}={}{}", c.type_, c.status, because(reason, message))
    })
    .collect()
}

fn pod(pod: &Pod) -> Vec<String> {
    let name = pod.name_any();
    let Some(status) = &pod.status else { return vec![format!("Pod {name} has no status")] };
    let phase = status.phase.as_deref().unwrap_or("in no phase");
    let mut lines = vec![format!(
        "Pod {name} is {phase}{}",
        because(status.reason.as_deref(), status.message.as_deref())
    )];
    let unmet = status.conditions.iter().flatten().filter(|c| c.status != "True");
    lines.extend(unmet.map(|c| {
        let (reason, message) = (c.reason.as_deref(), c.message.as_deref());
        format!("Pod {name}: {}={}{}", c.type_, c.status, because(reason, message))
    }));
    let containers = status.container_statuses.iter().flatten();
    lines.extend(containers.flat_map(container).map(|line| format!("Pod {name}: {line}")));
    lines
}

fn container(status: &ContainerStatus) -> Vec<String> {
    let name = &status.name;
    let now = status.state.as_ref().and_then(state).map(|state| format!("{name} {state}"));
    let before = status.last_state.as_ref().and_then(state);
    let before = before
        .map(|state| format!("{name}, started {} times again, {state}", status.restart_count));
    now.into_iter().chain(before).collect()
}

/// What a container waits for or how it ended; nothing when it runs.
fn state(state: &ContainerState) -> Option<String> {
    if let Some(waiting) = &state.waiting {
        let because = because(waiting.reason.as_deref(), waiting.message.as_deref());
        return Some(format!("waits{because}"));
    }
    let ended = state.terminated.as_ref()?;
    let because = because(ended.reason.as_deref(), ended.message.as_deref());
    Some(format!("ended with code {}{because}", ended.exit_code))
}

/// One event of those that say the same of the same object: each Pod that is refused has its own.
fn once_each(events: &[Event]) -> impl Iterator<Item = &Event> {
    let about = |event: &Event| (event.involved_object.name.clone(), event.reason.clone());
    let kinds: BTreeMap<_, _> = events.iter().map(|event| (about(event), event)).collect();
    kinds.into_values()
}

fn event(event: &Event) -> String {
    let object = &event.involved_object;
    let (kind, name) = (object.kind.as_deref(), object.name.as_deref());
    format!(
        "event about {} {}{}",
        kind.unwrap_or_default(),
        name.unwrap_or_default(),
        because(event.reason.as_deref(), event.message.as_deref())
    )
}

/// `: reason: message`, as far as there is any.
fn because(reason: Option<&str>, message: Option<&str>) -> String {
    let parts = [reason, message].into_iter().flatten().map(str::trim);
    parts.filter(|part| !part.is_empty()).map(|part| format!(": {part}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::{Value, json};

    fn of<T: serde::de::DeserializeOwned>(value: Value) -> T {
        serde_json::from_value(value).unwrap()
    }

    fn waiting(reason: &str, message: &str) -> Value {
        let state = json!({"waiting": {"reason": reason, "message": message}});
        json!({"phase": "Pending", "containerStatuses": [{
            "name": "olm-operator", "image": "i", "imageID": "", "ready": false,
            "restartCount": 0, "state": state,
        }]})
    }

    fn crashing() -> Value {
        let ended = json!({"terminated": {"exitCode": 1, "reason": "Error",
            "message": "error: unknown flag\n"}});
        json!({"phase": "Running", "containerStatuses": [{
            "name": "olm-operator", "image": "i", "imageID": "", "ready": false,
            "restartCount": 3, "state": {"waiting": {"reason": "CrashLoopBackOff"}},
            "lastState": ended,
        }]})
    }

    fn unscheduled() -> Value {
        json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
            "reason": "Unschedulable", "message": "0/1 nodes are available"}]})
    }

    #[rstest]
    #[case::image(
        waiting("ImagePullBackOff", "no such image"),
        "  Pod p is Pending\n  Pod p: olm-operator waits: ImagePullBackOff: no such image"
    )]
    #[case::crash(
        crashing(),
        "  Pod p is Running\n  Pod p: olm-operator waits: CrashLoopBackOff\n  \
         Pod p: olm-operator, started 3 times again, ended with code 1: Error: error: unknown flag"
    )]
    #[case::nowhere_to_run(
        unscheduled(),
        "  Pod p is Pending\n  \
         Pod p: PodScheduled=False: Unschedulable: 0/1 nodes are available"
    )]
    fn pods(#[case] status: Value, #[case] expected: &str) {
        let pod: Pod = of(json!({"metadata": {"name": "p"}, "status": status}));
        assert_eq!(describe(Some(&Deployment::default()), &[pod], &[]), expected);
    }

    #[test]
    fn a_refused_pod() {
        let deployment = of(json!({"status": {"conditions": [
            {"type": "Progressing", "status": "True", "reason": "NewReplicaSetCreated"},
            {"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable"},
            {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate",
             "message": "violates PodSecurity"},
        ]}}));
        let event: Event = of(json!({"metadata": {},
            "involvedObject": {"kind": "ReplicaSet", "name": "olm-operator-1"},
            "reason": "FailedCreate", "message": "violates PodSecurity"}));
        let expected = "  Available=False: MinimumReplicasUnavailable\n  \
            ReplicaFailure=True: FailedCreate: violates PodSecurity\n  there is no Pod\n  \
            event about ReplicaSet olm-operator-1: FailedCreate: violates PodSecurity";
        assert_eq!(describe(Some(&deployment), &[], &[event.clone(), event]), expected);
    }

    #[test]
    fn no_deployment() {
        assert_eq!(describe(None, &[], &[]), "  there is no such Deployment");
    }
}
