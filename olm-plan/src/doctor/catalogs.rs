//! CatalogSources and their Pods.

use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use olm_lifecycle::catalog_source::hosting::PULLS;
use olm_types::api::CatalogSource;
use olm_types::conditions::catalog_source::{
    CONTENT_CURRENT, IMAGE_POLLED, POD_SETTINGS_USED, SERVED_IN_PROCESS,
};
use olm_types::conditions::readiness::READY;
use olm_types::labels::CATALOG_SOURCE;
use olm_types::reasons::catalog_source as reasons;
use serde_json::json;

use super::{Fix, Found, View, fix};
use crate::observed::{name, namespace};

/// What the kubelet says of a container that took too much.
const OOM_KILLED: &str = "OOMKilled";

/// What admission says of a Pod that a namespace does not let in.
const REFUSED: &str = "violates PodSecurity";

/// Phases of Pods that serve, or are about to.
const AT_WORK: [&str; 2] = ["Running", "Pending"];

/// Reasons of conditions about an image that the operator pulls itself.
const PULLED: [&str; 8] = [
    reasons::DIGEST_MISMATCH,
    reasons::REGISTRY_UNAVAILABLE,
    reasons::STORAGE_FAILED,
    reasons::INTERNAL_ERROR,
    "ImageUnauthorized",
    "ImageNotFound",
    "ImageInvalid",
    "CatalogInvalid",
];

/// A catalog with a server that OLM does not reach.
pub(super) fn unreachable(view: &View<'_>) -> Vec<Found> {
    let away = away(view).filter(|source| {
        let is_explained = is_refused(source)
            || is_without_pod(view, source)
            || pods(view, source).any(was_killed);
        !is_explained
    });
    let found = away.map(|source| match is_in_process(source) {
        true => not_pulled(source),
        false => not_connected(source),
    });
    found.collect()
}

fn not_connected(source: &CatalogSource) -> Found {
    let status = source.status.clone().unwrap_or_default();
    let state = status.connection_state.map(|state| state.last_observed_state);
    let state = state.unwrap_or_else(|| "not there yet".to_owned());
    let address = source.spec.address.as_deref().map(|address| format!(" to {address}"));
    let evidence = format!(
        "the connection{} is {state}; {}",
        address.unwrap_or_default(),
        status.message.unwrap_or_default()
    );
    let evidence = evidence.trim_end_matches("; ").to_owned();
    Found::of(CatalogSource::KIND, &source.metadata, evidence, look(source))
}

/// A catalog that the operator serves itself as soon as it has its image.
fn not_pulled(source: &CatalogSource) -> Found {
    let problem = conditions(source).iter().find(|one| one.type_ == CONTENT_CURRENT);
    let problem = problem.map(|one| format!(" ({}): {}", one.reason, one.message));
    let evidence = format!(
        "the operator serves it itself, without a Pod, and has not pulled its image{}",
        problem.unwrap_or_default()
    );
    let (home, own) = (namespace(&source.metadata), name(&source.metadata));
    let see = fix::line(home, &["describe", "catalogsource", own]);
    let wait = format!("the operator tries again by itself; see {see}");
    Found::of(CatalogSource::KIND, &source.metadata, evidence, Fix::Wait(wait))
}

/// A catalog whose Pod was killed for its memory.
pub(super) fn out_of_memory(view: &View<'_>) -> Vec<Found> {
    let found = relevant(view).filter_map(|source| {
        let pod = pods(view, source).find(|pod| was_killed(pod))?;
        let evidence = format!("a container of Pod {} was {OOM_KILLED}", name(&pod.metadata));
        let config = json!({"grpcPodConfig": {"memoryTarget": "512Mi"}});
        Some(Found::of(CatalogSource::KIND, &source.metadata, evidence, change(source, &config)))
    });
    found.collect()
}

/// A catalog without a Pod that runs or could run: it was drained, and finds no other node.
pub(super) fn without_pod(view: &View<'_>) -> Vec<Found> {
    let without = away(view).filter(|source| !is_refused(source) && is_without_pod(view, source));
    let found = without.map(|source| {
        let state = pods(view, source).find_map(|pod| {
            let (reason, message) = unschedulable(pod)?;
            Some(format!("Pod {} is {reason}: {message}", name(&pod.metadata)))
        });
        let status = source.status.clone().unwrap_or_default();
        let absent = [Some("no Pod of it runs".to_owned()), status.reason, status.message];
        let absent = absent.into_iter().flatten().collect::<Vec<_>>().join(": ");
        let evidence = state.unwrap_or(absent);
        let home = namespace(&source.metadata);
        let label = format!("{CATALOG_SOURCE}={}", name(&source.metadata));
        let see = fix::line(home, &["describe", "pods", "-l", &label]);
        let wait = format!("OLM makes a new Pod, which waits for a node that takes it; see {see}");
        Found::of(CatalogSource::KIND, &source.metadata, evidence, Fix::Wait(wait))
    });
    found.collect()
}

/// A catalog whose Pod the Pod security of its namespace does not let in.
pub(super) fn refused(view: &View<'_>) -> Vec<Found> {
    let found = away(view).filter(|source| is_refused(source)).map(|source| {
        let message = source.status.as_ref().and_then(|status| status.message.clone());
        let config = json!({"grpcPodConfig": {"securityContextConfig": "restricted"}});
        let (metadata, message) = (&source.metadata, message.unwrap_or_default());
        Found::of(CatalogSource::KIND, metadata, message, change(source, &config))
    });
    found.collect()
}

/// Whether OLM is connected to a catalog.
pub(super) fn is_ready(source: &CatalogSource) -> bool {
    let state = source.status.as_ref().and_then(|status| status.connection_state.as_ref());
    state.is_some_and(|state| state.last_observed_state == "READY")
}

/// Catalogs that are not connected.
fn away<'a>(view: &View<'a>) -> impl Iterator<Item = &'a CatalogSource> {
    relevant(view).filter(|source| !is_ready(source))
}

/// Catalogs that concern what was looked at: those of the namespaces, and those that Subscriptions
/// name.
fn relevant<'a>(view: &View<'a>) -> impl Iterator<Item = &'a CatalogSource> {
    let named: std::collections::BTreeSet<(&str, &str)> = view
        .observed
        .subscriptions
        .iter()
        .map(|one| (one.spec.source_namespace.as_str(), one.spec.source.as_str()))
        .collect();
    let home = view.observed.home.as_deref();
    view.observed.catalog_sources.iter().filter(move |source| {
        let place = (namespace(&source.metadata), name(&source.metadata));
        home.is_none_or(|looked_at| looked_at == place.0) || named.contains(&place)
    })
}

/// Whether the operator serves a catalog itself, or is about to, so that it has no Pod. A condition is
/// there while a Pod serves it in the operator's place.
fn is_in_process(source: &CatalogSource) -> bool {
    let conditions = conditions(source);
    let is_about_pulls = |one: &Condition| match one.type_.as_str() {
        CONTENT_CURRENT | IMAGE_POLLED => PULLED.contains(&one.reason.as_str()),
        READY => one.message == PULLS,
        POD_SETTINGS_USED => true,
        _ => false,
    };
    let is_in_a_pod = conditions.iter().any(|one| one.type_ == SERVED_IN_PROCESS);
    !is_in_a_pod && conditions.iter().any(is_about_pulls)
}

fn conditions(source: &CatalogSource) -> &[Condition] {
    source.status.as_ref().map_or(&[], |status| status.conditions.as_slice())
}

/// Whether OLM serves a catalog by Pods, and none of them runs or could run.
fn is_without_pod(view: &View<'_>, source: &CatalogSource) -> bool {
    let is_at_work = |pod: &Pod| {
        let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
        let is_going = pod.metadata.deletion_timestamp.is_some();
        phase.is_none_or(|phase| AT_WORK.contains(&phase))
            && !is_going
            && unschedulable(pod).is_none()
    };
    let has_pods = source.spec.address.is_none() && !is_in_process(source);
    has_pods && !pods(view, source).any(is_at_work)
}

fn is_refused(source: &CatalogSource) -> bool {
    let message = source.status.as_ref().and_then(|status| status.message.as_deref());
    !is_ready(source) && message.is_some_and(|message| message.contains(REFUSED))
}

fn pods<'a>(view: &View<'a>, source: &'a CatalogSource) -> impl Iterator<Item = &'a Pod> + use<'a> {
    view.observed.pods.iter().filter(|pod| {
        let label = pod.metadata.labels.as_ref().and_then(|labels| labels.get(CATALOG_SOURCE));
        label.is_some_and(|label| label == name(&source.metadata))
            && namespace(&pod.metadata) == namespace(&source.metadata)
    })
}

/// Why no node takes a Pod.
fn unschedulable(pod: &Pod) -> Option<(&str, &str)> {
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    let scheduled = conditions.iter().find(|one| one.type_ == "PodScheduled")?;
    let reason = scheduled.reason.as_deref().filter(|_| scheduled.status == "False")?;
    Some((reason, scheduled.message.as_deref().unwrap_or_default()))
}

fn was_killed(pod: &Pod) -> bool {
    let statuses = pod.status.as_ref().and_then(|status| status.container_statuses.as_ref());
    let killed = |container: &ContainerStatus| {
        let states = [container.state.as_ref(), container.last_state.as_ref()];
        let mut ended = states.into_iter().flatten().filter_map(|state| state.terminated.as_ref());
        ended.any(|ended| ended.reason.as_deref() == Some(OOM_KILLED))
    };
    statuses.is_some_and(|statuses| statuses.iter().any(killed))
}

fn change(source: &CatalogSource, spec: &serde_json::Value) -> Fix {
    let (home, own) = (namespace(&source.metadata), name(&source.metadata));
    fix::patch(home, "catalogsource", own, &json!({ "spec": spec }))
}

fn look(source: &CatalogSource) -> Fix {
    let (home, own) = (namespace(&source.metadata), name(&source.metadata));
    Fix::Wait(match &source.spec.address {
        Some(address) => format!("OLM connects again by itself; see whether {address} answers"),
        None => {
            let label = format!("{CATALOG_SOURCE}={own}");
            let see = fix::line(home, &["describe", "pods", "-l", &label]);
            format!("OLM connects again by itself; see {see}")
        }
    })
}
