//! CatalogSources and their Pods.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use olm_types::api::{CatalogSource, Subscription};
use olm_types::labels::CATALOG_SOURCE;

use super::Found;
use crate::observed::{Observed, name, namespace};

/// What the kubelet says of a container that took too much.
const OOM_KILLED: &str = "OOMKilled";

/// A catalog with a server that OLM does not reach.
pub fn unreachable(observed: &Observed, _: Timestamp) -> Vec<Found> {
    let away = away(observed).filter(|source| {
        !is_without_pod(observed, source) && !pods(observed, source).any(was_killed)
    });
    let found = away.map(|source| {
        let status = source.status.clone().unwrap_or_default();
        let state = status.connection_state.map(|state| state.last_observed_state);
        let state = state.unwrap_or_else(|| "not connected yet".to_owned());
        let address = source.spec.address.as_deref().map(|address| format!(", {address}"));
        let evidence = format!(
            "the connection is {state}{} {}",
            address.unwrap_or_default(),
            status.message.unwrap_or_default()
        );
        Found::of(
            CatalogSource::KIND,
            &source.metadata,
            evidence.trim_end().to_owned(),
            look(source),
        )
    });
    found.collect()
}

/// A catalog whose Pod was killed for its memory.
pub fn out_of_memory(observed: &Observed, _: Timestamp) -> Vec<Found> {
    let found = relevant(observed).filter_map(|source| {
        let pod = pods(observed, source).find(|pod| was_killed(pod))?;
        let evidence = format!("a container of Pod {} was {OOM_KILLED}", name(&pod.metadata));
        let fix = format!(
            "kubectl -n {} patch catalogsource {} --type merge -p \
             '{{\"spec\":{{\"grpcPodConfig\":{{\"memoryTarget\":\"512Mi\"}}}}}}'",
            namespace(&source.metadata),
            name(&source.metadata)
        );
        Some(Found::of(CatalogSource::KIND, &source.metadata, evidence, fix))
    });
    found.collect()
}

/// A catalog with an image and without a Pod.
pub fn without_pod(observed: &Observed, _: Timestamp) -> Vec<Found> {
    let without = away(observed).filter(|source| is_without_pod(observed, source));
    let found = without.map(|source| {
        let status = source.status.clone().unwrap_or_default();
        let parts = [Some("it has no Pod".to_owned()), status.reason, status.message];
        let evidence = parts.into_iter().flatten().collect::<Vec<_>>().join(": ");
        Found::of(CatalogSource::KIND, &source.metadata, evidence, look(source))
    });
    found.collect()
}

/// Whether OLM is connected to a catalog.
pub(super) fn is_ready(source: &CatalogSource) -> bool {
    let state = source.status.as_ref().and_then(|status| status.connection_state.as_ref());
    state.is_some_and(|state| state.last_observed_state == "READY")
}

/// Catalogs with a server that are not connected.
fn away(observed: &Observed) -> impl Iterator<Item = &CatalogSource> {
    relevant(observed).filter(|source| !is_ready(source))
}

/// Catalogs that concern what was looked at: those of the namespaces, and those that Subscriptions
/// name.
fn relevant(observed: &Observed) -> impl Iterator<Item = &CatalogSource> {
    observed.catalog_sources.iter().filter(|source| {
        let (home, own_name) = (namespace(&source.metadata), name(&source.metadata));
        let named =
            |one: &Subscription| one.spec.source == own_name && one.spec.source_namespace == home;
        let is_home = observed.home.as_deref().is_none_or(|looked_at| looked_at == home);
        is_home || observed.subscriptions.iter().any(named)
    })
}

fn is_without_pod(observed: &Observed, source: &CatalogSource) -> bool {
    source.spec.image.is_some() && pods(observed, source).next().is_none()
}

fn pods<'a>(observed: &'a Observed, source: &'a CatalogSource) -> impl Iterator<Item = &'a Pod> {
    observed.pods.iter().filter(|pod| {
        let label = pod.metadata.labels.as_ref().and_then(|labels| labels.get(CATALOG_SOURCE));
        label.is_some_and(|label| label == name(&source.metadata))
            && namespace(&pod.metadata) == namespace(&source.metadata)
    })
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

fn look(source: &CatalogSource) -> String {
    let (home, name) = (namespace(&source.metadata), name(&source.metadata));
    match source.spec.address {
        Some(_) => format!("see whether spec.address of {home}/{name} answers"),
        None => format!("kubectl -n {home} describe pods -l {CATALOG_SOURCE}={name}"),
    }
}
