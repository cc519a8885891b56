//! Looking for a newer image under the same name (spec catalog-operator 1.6).
//!
//! A second Pod of the same spec, which the Service does not find, shows what image the name means
//! now. When that is another image than the one that serves, the Pods change places; when it is the
//! same, the second one goes. Where the registry can be asked for the digest, a Pod is made only
//! when it is another one.

use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube_core::ResourceExt;
use olm_types::api::CatalogSource;

use super::interval;
use super::pods::{Sorted, awaits_image_id, has_failed, image_id, is_ready, is_right, phase};

/// What follows from a catalog's Pods for its polling.
#[derive(Clone, Debug, Default)]
pub(super) struct Poll {
    pub(super) step: PollStep,
    /// Pods that looked and are of no use any more.
    pub(super) discard: Vec<Arc<Pod>>,
}

/// Where polling stands.
#[derive(Clone, Debug, Default)]
pub(super) enum PollStep {
    /// Nothing is to be done.
    #[default]
    Rest,
    /// It is time to make a Pod that looks.
    Look,
    /// It is time, and the registry says that the image is the one that serves.
    Unchanged,
    /// The Pod that looks does not serve yet.
    Pending,
    /// The Pod that looked did not come up; the text says so.
    Failed(String),
    /// The image is the one that serves.
    Same,
    /// The first Pod serves from now on, the others no more.
    Promote(Arc<Pod>, Vec<Arc<Pod>>),
}

/// Decides on the next step.
pub(super) fn poll(
    catalog: &CatalogSource,
    sorted: &Sorted,
    wanted: &Pod,
    digest: Option<&Result<String, String>>,
    now: Timestamp,
) -> Poll {
    if interval::polling(catalog).is_none() {
        return Poll { step: PollStep::Rest, discard: sorted.updates.clone() };
    }
    let (current, stale): (Vec<_>, Vec<_>) =
        sorted.updates.iter().cloned().partition(|pod| is_right(pod, wanted));
    let mut current = current.into_iter();
    let Some(pod) = current.next() else {
        let due = interval::is_poll_due(catalog, now);
        let step = if due { look(sorted, digest) } else { PollStep::Rest };
        return Poll { step, discard: stale };
    };
    let step = judge(&pod, &sorted.right);
    let mut discard: Vec<_> = stale.into_iter().chain(current).collect();
    if matches!(step, PollStep::Failed(_) | PollStep::Same) {
        discard.push(pod);
    }
    Poll { step, discard }
}

fn look(sorted: &Sorted, digest: Option<&Result<String, String>>) -> PollStep {
    let serving = sorted.right.first().and_then(|pod| image_id(pod)).and_then(digest_of);
    match digest {
        Some(Ok(digest)) if Some(digest.as_str()) == serving => PollStep::Unchanged,
        // No digest, or one that cannot be compared, is no answer: then a Pod is.
        _ => PollStep::Look,
    }
}

fn judge(pod: &Arc<Pod>, serving: &[Arc<Pod>]) -> PollStep {
    if has_failed(pod) {
        let (name, phase) = (pod.name_any(), phase(pod));
        return PollStep::Failed(format!(
            "update pod {name} in a {phase} state: deleted update pod"
        ));
    }
    if !is_ready(pod) || awaits_image_id(pod) {
        return PollStep::Pending;
    }
    if differs(pod, serving) {
        return PollStep::Promote(Arc::clone(pod), serving.to_vec());
    }
    PollStep::Same
}

/// Whether a Pod runs another image than one of those that serve. An image that is not known is
/// the same.
fn differs(pod: &Pod, serving: &[Arc<Pod>]) -> bool {
    let Some(found) = image_id(pod) else { return false };
    let ids: Option<Vec<_>> = serving.iter().map(|pod| image_id(pod)).collect();
    ids.is_some_and(|ids| ids.iter().any(|id| *id != found))
}

/// The digest in an image ID such as `registry/name@sha256:…`.
fn digest_of(image_id: &str) -> Option<&str> {
    image_id.rsplit_once('@').map(|(_, digest)| digest)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use crate::catalog_source::pods::sort;

    const NOW: &str = "2026-01-01T12:00:00Z";

    fn catalog(polled: &str) -> CatalogSource {
        serde_json::from_value(json!({
            "metadata": {"name": "img-catalog", "namespace": "ns", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"sourceType": "grpc", "image": "i", "updateStrategy": {"registryPoll": {"interval": "10m"}}},
            "status": {"latestImageRegistryPoll": polled},
        }))
        .unwrap()
    }

    fn pod(name: &str, labels: Value, status: Value) -> Arc<Pod> {
        let mut all = json!({"olm.managed": "true", "olm.pod-spec-hash": "h"});
        all.as_object_mut().unwrap().extend(labels.as_object().unwrap().clone());
        let spec = json!({"containers": [{"name": "registry-server", "image": "i"}]});
        let value =
            json!({"metadata": {"name": name, "labels": all}, "spec": spec, "status": status});
        Arc::new(serde_json::from_value(value).unwrap())
    }

    fn live() -> Arc<Pod> {
        let status = json!({"containerStatuses": [{"imageID": "r/i@sha256:old"}]});
        pod("live", json!({"olm.catalogSource": "img-catalog"}), status)
    }

    fn update(status: Value) -> Arc<Pod> {
        let labels = json!({"olm.catalogSource": "", "catalogsource.operators.coreos.com/update": "img-catalog"});
        pod("update-pod", labels, status)
    }

    fn ready(image: &str) -> Value {
        json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
               "containerStatuses": [{"imageID": image}]})
    }

    fn outcome(
        catalog: &CatalogSource,
        pods: &[Arc<Pod>],
        digest: Option<Result<String, String>>,
    ) -> String {
        let wanted = live();
        let sorted = sort("img-catalog", pods, &wanted);
        let poll = poll(catalog, &sorted, &wanted, digest.as_ref(), NOW.parse().unwrap());
        let step = match poll.step {
            PollStep::Promote(pod, old) => format!("Promote({}, {})", pod.name_any(), old.len()),
            other => format!("{other:?}"),
        };
        let gone: Vec<_> = poll.discard.iter().map(|pod| pod.name_any()).collect();
        format!("{step} {gone:?}")
    }

    #[rstest]
    #[case::not_due("2026-01-01T11:55:00Z", vec![live()], "Rest []")]
    #[case::due("2026-01-01T11:45:00Z", vec![live()], "Look []")]
    #[case::not_ready("2026-01-01T11:45:00Z", vec![live(), update(json!({"phase": "Pending"}))], "Pending []")]
    #[case::failed("2026-01-01T11:45:00Z", vec![live(), update(json!({"phase": "Failed"}))],
        r#"Failed("update pod update-pod in a Failed state: deleted update pod") ["update-pod"]"#)]
    #[case::same("2026-01-01T11:55:00Z", vec![live(), update(ready("r/i@sha256:old"))], r#"Same ["update-pod"]"#)]
    #[case::another("2026-01-01T11:55:00Z", vec![live(), update(ready("r/i@sha256:new"))], "Promote(update-pod, 1) []")]
    #[case::no_pod_serves("2026-01-01T11:55:00Z", vec![update(ready("r/i@sha256:new"))], r#"Same ["update-pod"]"#)]
    #[case::image_not_known("2026-01-01T11:55:00Z", vec![live(), update(ready(""))], "Pending []")]
    fn by_pods(#[case] polled: &str, #[case] pods: Vec<Arc<Pod>>, #[case] expected: &str) {
        assert_eq!(outcome(&catalog(polled), &pods, None), expected);
    }

    #[rstest]
    #[case::same(Ok("sha256:old"), "Unchanged []")]
    #[case::another(Ok("sha256:new"), "Look []")]
    #[case::no_answer(Err("the registry is away"), "Look []")]
    fn by_digest(#[case] digest: Result<&str, &str>, #[case] expected: &str) {
        let digest = digest.map(str::to_owned).map_err(str::to_owned);
        let catalog = catalog("2026-01-01T11:45:00Z");
        assert_eq!(outcome(&catalog, &[live()], Some(digest)), expected);
    }

    #[test]
    fn a_pod_of_an_older_spec_goes() {
        let mut old = (*update(ready("r/i@sha256:new"))).clone();
        old.labels_mut().insert("olm.pod-spec-hash".to_owned(), "older".to_owned());
        let pods = [live(), Arc::new(old)];
        let catalog = catalog("2026-01-01T11:45:00Z");
        assert_eq!(outcome(&catalog, &pods, None), r#"Look ["update-pod"]"#);
    }

    #[test]
    fn who_is_not_polled_any_more_keeps_no_pod_that_looks() {
        let mut catalog = catalog("2026-01-01T11:45:00Z");
        catalog.spec.update_strategy = None;
        let pods = [live(), update(ready("r/i@sha256:new"))];
        assert_eq!(outcome(&catalog, &pods, None), r#"Rest ["update-pod"]"#);
    }
}
