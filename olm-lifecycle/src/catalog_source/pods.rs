//! Which of a catalog's Pods serve it, which must go, and which look for a newer image.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{Container, ContainerStatus, Pod};
use kube_core::ResourceExt;
use olm_types::conditions::kubernetes::{DISRUPTION_TARGET, READY};
use olm_types::labels;

/// The Pods of a catalog by what is to be done with them.
#[derive(Clone, Debug, Default)]
pub(super) struct Sorted {
    /// As wanted, the newest first.
    pub(super) right: Vec<Arc<Pod>>,
    /// Of another image or spec than wanted.
    pub(super) wrong: Vec<Arc<Pod>>,
    /// On their way out with no kubelet to end them: evicted, or on a node that does not answer.
    pub(super) dead: Vec<Arc<Pod>>,
    /// Made to look for a newer image, by name.
    pub(super) updates: Vec<Arc<Pod>>,
}

/// Sorts the Pods of the catalog `name`, of which one should be as `wanted`. Pods that are being
/// deleted are in none of the lists: as far as serving goes they are not there any more.
pub(super) fn sort(name: &str, pods: &[Arc<Pod>], wanted: &Pod) -> Sorted {
    let mut sorted = Sorted::default();
    for pod in pods {
        let serves = pod.labels().get(labels::CATALOG_SOURCE).is_some_and(|found| found == name);
        let looks = has_update_label(pod, name);
        if (serves || looks) && is_dead(pod) {
            sorted.dead.push(Arc::clone(pod));
        } else if pod.metadata.deletion_timestamp.is_some() {
            continue;
        } else if looks {
            sorted.updates.push(Arc::clone(pod));
        } else if serves && is_right(pod, wanted) {
            sorted.right.push(Arc::clone(pod));
        } else if serves {
            sorted.wrong.push(Arc::clone(pod));
        }
    }
    sorted.right.sort_by_key(|pod| {
        std::cmp::Reverse((pod.metadata.creation_timestamp.clone(), pod.name_any()))
    });
    sorted
}

/// Whether a Pod has the images, the spec and the labels that are wanted. The labels that say whom
/// it serves are those by which it was found.
pub(super) fn is_right(pod: &Pod, wanted: &Pod) -> bool {
    let spec = |pod: &Pod| {
        let spec = pod.spec.as_ref();
        let first = spec.map(|spec| images(&spec.containers)).unwrap_or_default();
        let init = spec.and_then(|spec| spec.init_containers.as_deref()).map(images);
        (first, init.unwrap_or_default())
    };
    let labels = |pod: &Pod| {
        [labels::POD_SPEC_HASH, labels::CONFIG_MAP_RESOURCE_VERSION]
            .map(|key| pod.labels().get(key).cloned())
    };
    spec(pod) == spec(wanted) && labels(pod) == labels(wanted)
}

/// Whether a Pod will not serve again. Pods of registries restart their containers, so one that
/// ended was evicted or refused by its node.
pub(super) fn is_dead(pod: &Pod) -> bool {
    let phase = phase(pod);
    let ended = phase == "Succeeded" || (phase == "Failed" && !has_any_update_label(pod));
    ended || condition(pod, DISRUPTION_TARGET)
}

/// Whether a Pod that looks for a newer image will not come up.
pub(super) fn has_failed(pod: &Pod) -> bool {
    let crashes = |status: &ContainerStatus| {
        let waiting = status.state.as_ref().and_then(|state| state.waiting.as_ref());
        waiting.and_then(|waiting| waiting.reason.as_deref()) == Some("CrashLoopBackOff")
    };
    let (init, main) = statuses(pod);
    matches!(phase(pod), "Failed" | "Unknown") || init.iter().chain(main).any(crashes)
}

/// The Pods that serve the catalog `name` and stay.
pub(super) fn serving<'a>(
    name: &'a str,
    pods: &'a [Arc<Pod>],
) -> impl Iterator<Item = &'a Arc<Pod>> {
    pods.iter().filter(move |pod| {
        let labelled = pod.labels().get(labels::CATALOG_SOURCE).is_some_and(|found| found == name);
        labelled && pod.metadata.deletion_timestamp.is_none()
    })
}

/// Whether a Pod answers its readiness probe.
pub(super) fn is_ready(pod: &Pod) -> bool {
    condition(pod, READY)
}

/// The phase of a Pod; empty before it has one.
pub(super) fn phase(pod: &Pod) -> &str {
    pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default()
}

/// The image that a Pod really runs, or that its catalog was taken out of; nothing while the node
/// has not said, or when the Pod has other containers than ours.
pub(super) fn image_id(pod: &Pod) -> Option<&str> {
    content(pod).map(|status| status.image_id.as_str()).filter(|id| !id.is_empty())
}

/// Whether the node will still say which image a Pod runs.
pub(super) fn awaits_image_id(pod: &Pod) -> bool {
    content(pod).is_some_and(|status| status.image_id.is_empty())
}

/// Labels of a Pod that looks for a newer image, made from those of one that serves: the Service
/// does not find it.
pub(super) fn update_labels(name: &str, labels: &mut BTreeMap<String, String>) {
    labels.insert(labels::CATALOG_SOURCE.to_owned(), String::new());
    labels.insert(labels::CATALOG_SOURCE_UPDATE.to_owned(), name.to_owned());
}

fn has_update_label(pod: &Pod, name: &str) -> bool {
    pod.labels().get(labels::CATALOG_SOURCE_UPDATE).is_some_and(|found| found == name)
}

fn has_any_update_label(pod: &Pod) -> bool {
    pod.labels().get(labels::CATALOG_SOURCE_UPDATE).is_some_and(|found| !found.is_empty())
}

fn images(containers: &[Container]) -> Vec<Option<String>> {
    containers.iter().map(|container| container.image.clone()).collect()
}

/// The container whose image holds the catalog.
fn content(pod: &Pod) -> Option<&ContainerStatus> {
    match statuses(pod) {
        ([_, content], [_]) => Some(content),
        ([], [server]) => Some(server),
        _ => None,
    }
}

fn statuses(pod: &Pod) -> (&[ContainerStatus], &[ContainerStatus]) {
    let status = pod.status.as_ref();
    let init = status.and_then(|status| status.init_container_statuses.as_deref());
    let main = status.and_then(|status| status.container_statuses.as_deref());
    (init.unwrap_or_default(), main.unwrap_or_default())
}

fn condition(pod: &Pod, kind: &str) -> bool {
    let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_ref());
    conditions.into_iter().flatten().any(|found| found.type_ == kind && found.status == "True")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn pod(value: Value) -> Pod {
        serde_json::from_value(value).unwrap()
    }

    #[rstest]
    #[case::server(json!({"containerStatuses": [{"imageID": "xyz123"}]}), Some("xyz123"))]
    #[case::taken_out(json!({
        "initContainerStatuses": [{"imageID": "a"}, {"imageID": "abc456"}],
        "containerStatuses": [{"imageID": "b"}],
    }), Some("abc456"))]
    #[case::unexpected(json!({"initContainerStatuses": [{"imageID": "a"}], "containerStatuses": [{"imageID": "b"}]}), None)]
    #[case::not_pulled(json!({"containerStatuses": [{"imageID": ""}]}), None)]
    #[case::none(json!({}), None)]
    fn image_ids(#[case] status: Value, #[case] expected: Option<&str>) {
        assert_eq!(image_id(&pod(json!({"status": status}))), expected);
    }

    #[rstest]
    #[case::runs(json!({"phase": "Running"}), false, false)]
    #[case::unknown(json!({"phase": "Unknown"}), true, false)]
    #[case::evicted(json!({"phase": "Failed"}), true, true)]
    #[case::ended(json!({"phase": "Succeeded"}), false, true)]
    #[case::node_gone(json!({"phase": "Running", "conditions": [{"type": "DisruptionTarget", "status": "True"}]}), false, true)]
    #[case::no_disruption(json!({"conditions": [{"type": "DisruptionTarget", "status": "False"}]}), false, false)]
    #[case::crashes(json!({"containerStatuses": [{"state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}), true, false)]
    #[case::crashes_before(json!({"initContainerStatuses": [{"state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}), true, false)]
    #[case::waits(json!({"containerStatuses": [{"state": {"waiting": {"reason": "ErrImagePull"}}}]}), false, false)]
    fn ends(#[case] status: Value, #[case] failed: bool, #[case] dead: bool) {
        let pod = pod(json!({"status": status}));
        assert_eq!((has_failed(&pod), is_dead(&pod)), (failed, dead));
    }
}
