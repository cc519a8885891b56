//! Why the Pod of a registry does not serve: an image that cannot be pulled, a program that ends.
//!
//! The words do not change from one try to the next, so that a Pod that never comes up is reported
//! once.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ContainerState, ContainerStatus, Pod};
use kube_core::ResourceExt;

use super::pods::{is_ready, serving};

/// Reasons of a container that waits for its image.
const NO_IMAGE: [&str; 5] = [
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "ImageInspectError",
];
/// Longest part of a program's last words that is passed on, in bytes.
const LAST_WORDS: usize = 1_024;

/// What stands in the way of the Pods that should serve a catalog; nothing while one is ready.
pub(super) fn of_pods(name: &str, pods: &[Arc<Pod>]) -> Option<String> {
    let serving: Vec<_> = serving(name, pods).collect();
    if serving.iter().any(|pod| is_ready(pod)) {
        return None;
    }
    serving.into_iter().find_map(|pod| of_pod(pod))
}

fn of_pod(pod: &Pod) -> Option<String> {
    let status = pod.status.as_ref()?;
    let containers = status.init_container_statuses.iter().chain(&status.container_statuses);
    let (container, problem) = containers
        .flatten()
        .find_map(|container| of_container(container).map(|problem| (container, problem)))?;
    Some(format!("container {} of Pod {} {problem}", container.name, pod.name_any()))
}

fn of_container(container: &ContainerStatus) -> Option<String> {
    let waiting = container.state.as_ref().and_then(|state| state.waiting.as_ref());
    let reason = waiting.and_then(|waiting| waiting.reason.as_deref()).unwrap_or_default();
    if NO_IMAGE.contains(&reason) {
        let image = &container.image;
        return Some(format!(
            "cannot pull its image {image}: see whether it exists, and spec.secrets"
        ));
    }
    let ended = [&container.state, &container.last_state].into_iter().find_map(ended)?;
    Some(ended)
}

fn ended(state: &Option<ContainerState>) -> Option<String> {
    let ended = state.as_ref()?.terminated.as_ref().filter(|ended| ended.exit_code != 0)?;
    let words = ended.message.as_deref().unwrap_or_default().trim();
    let why = if words.is_empty() { ended.reason.as_deref().unwrap_or_default() } else { words };
    Some(format!("ends with exit code {}: {}", ended.exit_code, end_of(why)))
}

/// What a program says last is at the end.
fn end_of(text: &str) -> &str {
    let mut start = text.len().saturating_sub(LAST_WORDS);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn pod(status: Value) -> Arc<Pod> {
        let labels = json!({"olm.catalogSource": "c"});
        let pod = json!({"metadata": {"name": "c-1", "labels": labels}, "status": status});
        Arc::new(serde_json::from_value(pod).unwrap())
    }

    fn container(state: Value, last: Value) -> Value {
        json!({"containerStatuses": [{"name": "registry-server", "image": "i:1", "imageID": "",
            "ready": false, "restartCount": 0, "state": state, "lastState": last}]})
    }

    const ENDED: &str = "container registry-server of Pod c-1 ends with exit code 1: no catalog";

    #[rstest]
    #[case::starts(container(json!({"waiting": {"reason": "ContainerCreating"}}), json!({})), None)]
    #[case::no_image(container(json!({"waiting": {"reason": "ImagePullBackOff", "message": "Back-off 1"}}), json!({})),
        Some("container registry-server of Pod c-1 cannot pull its image i:1: see whether it exists, and spec.secrets"))]
    #[case::ended(container(json!({"terminated": {"exitCode": 1, "message": "no catalog\n"}}), json!({})), Some(ENDED))]
    #[case::starts_again(container(json!({"running": {}}), json!({"terminated": {"exitCode": 1, "message": "no catalog"}})), Some(ENDED))]
    #[case::waits_to_start_again(container(json!({"waiting": {"reason": "CrashLoopBackOff"}}), json!({"terminated": {"exitCode": 1, "message": "no catalog"}})), Some(ENDED))]
    #[case::restarted_in_order(container(json!({"running": {}}), json!({"terminated": {"exitCode": 0}})), None)]
    fn problems(#[case] status: Value, #[case] reported: Option<&str>) {
        assert_eq!(of_pods("c", &[pod(status)]).as_deref(), reported);
    }

    #[test]
    fn a_ready_pod_is_no_problem() {
        let mut status = container(json!({}), json!({"terminated": {"exitCode": 1}}));
        status["conditions"] = json!([{"type": "Ready", "status": "True"}]);
        assert_eq!(of_pods("c", &[pod(status)]), None);
        assert_eq!(
            of_pods("other", &[pod(container(json!({"terminated": {"exitCode": 1}}), json!({})))]),
            None
        );
    }

    #[test]
    fn only_the_last_words_are_passed_on() {
        let long = "ä".repeat(2_000);
        let status = container(json!({"terminated": {"exitCode": 1, "message": long}}), json!({}));
        assert!(of_pods("c", &[pod(status)]).unwrap().len() < 1_200);
    }
}
