//! Why the Pod of an unpack Job gets nowhere.
//!
//! Two texts come of it: v0's, which changes whenever the kubelet tries again, and the cause behind
//! it, which stays the same as long as the cause does.

use std::sync::Arc;

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use kube_core::ResourceExt;
use olm_types::conditions::kubernetes::POD_SCHEDULED;
use olm_types::labels::JOB_NAME;

/// What v0 advises when an image cannot be pulled, after a full stop.
pub(crate) const PULL_ADVICE: &str = "Common causes: Missing ICSP (ppc64le/s390x/arm64), auth failure, \
    invalid image. Job will retry until timeout (~10 min), then auto-cleanup and retry in ~5 min. \
    Manual retry: in the CatalogSource namespace, run \
    `kubectl get jobs -l operatorframework.io/bundle-unpack-ref` and delete the specific failing \
    job.";

/// Words by which v0 knows that an image cannot be pulled.
const PULL_PROBLEMS: [&str; 4] =
    ["ImagePullBackOff", "ErrImagePull", "manifest unknown", "unauthorized"];

/// Reasons of waiting that end by themselves.
const PASSING: [&str; 2] = ["PodInitializing", "ContainerCreating"];

/// Longest text of a container that is repeated, in characters.
const LONGEST: usize = 700;

/// What the Pods of the Job wait for, in v0's words; empty when they do not.
pub fn waiting(job: &Job, pods: &[Arc<Pod>]) -> String {
    let pending = pods_of(job, pods).into_iter().filter(|pod| phase(pod) == "Pending");
    let texts = pending.flat_map(|pod| {
        let containers = pod.status.iter().flat_map(|status| status.init_container_statuses.iter());
        let unready = containers.flatten().filter(|container| !container.ready);
        unready.map(|container| waiting_for(pod, container)).collect::<Vec<_>>()
    });
    texts.collect::<Vec<_>>().join(" | ")
}

/// v0's text with its advice, where the text says that an image cannot be pulled.
pub(crate) fn advised(text: &str) -> String {
    if PULL_PROBLEMS.iter().any(|problem| text.contains(problem)) {
        format!("{text}. {PULL_ADVICE}")
    } else {
        text.to_owned()
    }
}

/// What stands in the way of the Job: an image that cannot be pulled, a container that fails, a
/// Pod that no node takes. Nothing when nothing does.
pub fn cause(job: &Job, pods: &[Arc<Pod>]) -> Option<String> {
    pods_of(job, pods).into_iter().rev().find_map(|pod| {
        let status = pod.status.as_ref()?;
        let init = status.init_container_statuses.iter().flatten();
        let mut containers = init.chain(status.container_statuses.iter().flatten());
        containers.find_map(problem).or_else(|| unscheduled(pod))
    })
}

fn pods_of<'a>(job: &Job, pods: &'a [Arc<Pod>]) -> Vec<&'a Pod> {
    let belongs = |pod: &&Arc<Pod>| {
        pod.namespace() == job.namespace() && pod.labels().get(JOB_NAME) == Some(&job.name_any())
    };
    let mut found: Vec<&Pod> = pods.iter().filter(belongs).map(AsRef::as_ref).collect();
    let age = |pod: &Pod| pod.metadata.creation_timestamp.as_ref().map(|time| time.0);
    found.sort_by_key(|pod| (age(pod), pod.name_any()));
    found
}

fn phase(pod: &Pod) -> &str {
    pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default()
}

fn waiting_for(pod: &Pod, container: &ContainerStatus) -> String {
    let (namespace, pod) = (pod.namespace().unwrap_or_default(), pod.name_any());
    let start = format!("Unpack pod({namespace}/{pod}) container({}) is pending", container.name);
    let waiting = container.state.as_ref().and_then(|state| state.waiting.as_ref());
    match waiting {
        Some(waiting) => {
            let reason = waiting.reason.as_deref().unwrap_or_default();
            let message = waiting.message.as_deref().unwrap_or_default();
            format!("{start}. Reason: {reason}, Message: {message}")
        }
        None => start,
    }
}

fn problem(container: &ContainerStatus) -> Option<String> {
    let state = container.state.as_ref()?;
    let name = &container.name;
    if let Some(waiting) = &state.waiting {
        let reason = waiting.reason.as_deref().filter(|reason| !PASSING.contains(reason))?;
        let message = waiting.message.as_deref().unwrap_or_default();
        return Some(match reason {
            "ImagePullBackOff" | "ErrImagePull" => {
                let image = &container.image;
                format!("the image {image} of container {name} cannot be pulled: {}", pull(message))
            }
            _ => format!("container {name} waits: {reason}: {}", shortened(message)),
        });
    }
    let terminated = state.terminated.as_ref().filter(|ended| ended.exit_code != 0)?;
    let message = terminated.message.as_deref().or(terminated.reason.as_deref());
    let message = shortened(message.unwrap_or_default());
    Some(format!("container {name} failed with code {}: {message}", terminated.exit_code))
}

/// What the runtime said, without how the kubelet reports a pause before the next try.
fn pull(message: &str) -> String {
    let said = message.split_once("ErrImagePull: ").map_or(message, |(_, said)| said);
    shortened(said)
}

fn unscheduled(pod: &Pod) -> Option<String> {
    let mut conditions = pod.status.as_ref()?.conditions.iter().flatten();
    let scheduled = conditions.find(|condition| condition.type_ == POD_SCHEDULED)?;
    let message = scheduled.message.as_deref().unwrap_or_default();
    (scheduled.status == "False")
        .then(|| format!("no node takes the Pod {}: {}", pod.name_any(), shortened(message)))
}

fn shortened(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
