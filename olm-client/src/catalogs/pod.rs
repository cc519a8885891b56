//! The Pod of a CatalogSource, and which content it serves.

use anyhow::{Context, Result, anyhow, bail};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use kube::api::{Api, ListParams};
use olm_plan::observed::name;
use olm_plan::tree::waiting;
use olm_types::api::CatalogSource;
use olm_types::bundle::CatalogKey;
use olm_types::hash::hex;
use olm_types::labels::CATALOG_SOURCE;
use sha2::{Digest, Sha256};

use super::forward::Forward;
use super::hosted;
use crate::cluster::{Cluster, cause};

/// The annotation with which operator-sdk names the Pod that it has made for a catalog.
pub const REGISTRY_POD: &str = "operators.operatorframework.io/registry-pod-name";

/// The port of registry servers.
const PORT: u16 = 50051;

/// A Pod that serves a catalog.
pub(super) struct CatalogPod {
    pod: Pod,
    /// The port, where it is one of the operator.
    hosted_at: Option<u16>,
}

/// The Pod that serves a catalog: its own, else one of the operator.
///
/// # Errors
/// There is none that runs, or Pods cannot be read.
pub(super) async fn of(
    cluster: &Cluster,
    key: &CatalogKey,
    source: &CatalogSource,
) -> Result<CatalogPod> {
    let annotations = source.metadata.annotations.as_ref();
    let pods: Api<Pod> = cluster.api(Some(&key.namespace));
    let made = annotations.and_then(|all| all.get(REGISTRY_POD));
    let address = source.spec.address.as_deref().unwrap_or_default();
    let found = match made {
        Some(made) => cluster.answer(pods.get_opt(made)).await.map(Vec::from_iter),
        None if !address.is_empty() => {
            bail!("it is served at {address}, where only the cluster asks")
        }
        None => {
            let labels = format!("{CATALOG_SOURCE}={}", key.name);
            let listed = cluster.answer(pods.list(&ListParams::default().labels(&labels))).await;
            listed.map(|list| list.items)
        }
    };
    let found = found.map_err(|error| anyhow!("its Pods cannot be read: {}", cause(&error)))?;
    if made.is_none() && !found.iter().any(is_ready) {
        match hosted::of(cluster, key, source).await {
            Ok(Some((pod, port))) => return Ok(CatalogPod { pod, hosted_at: Some(port) }),
            Err(error) if found.is_empty() => return Err(error),
            Ok(None) | Err(_) => {}
        }
    }
    Ok(CatalogPod { pod: chosen(found)?, hosted_at: None })
}

/// Of the Pods the newest that is ready.
fn chosen(mut pods: Vec<Pod>) -> Result<Pod> {
    pods.sort_by_key(|pod| pod.metadata.creation_timestamp.as_ref().map(|time| time.0));
    let found = pods.iter().rposition(is_ready);
    match found {
        Some(place) => Ok(pods.swap_remove(place)),
        None => {
            let pod = pods.last().context("it has no Pod")?;
            let phase = pod.status.as_ref().and_then(|status| status.phase.clone());
            let state = waiting(pod).or(phase).unwrap_or_default();
            bail!("its Pod {} is not ready: {state}", name(&pod.metadata))
        }
    }
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let is_going: Option<Timestamp> = pod.metadata.deletion_timestamp.as_ref().map(|time| time.0);
    is_going.is_none()
        && conditions.into_iter().any(|one| one.type_ == "Ready" && one.status == "True")
}

impl CatalogPod {
    /// The way to its server.
    pub(super) fn forward(&self, cluster: &Cluster) -> Forward {
        let namespace = self.pod.metadata.namespace.as_deref();
        Forward::new(cluster.api(namespace), name(&self.pod.metadata), self.port())
    }

    fn port(&self) -> u16 {
        self.hosted_at.unwrap_or_else(|| self.container_port())
    }

    fn container_port(&self) -> u16 {
        let containers = self.pod.spec.iter().flat_map(|spec| &spec.containers);
        let mut ports = containers.flat_map(|container| container.ports.iter().flatten());
        let first = ports.next().and_then(|port| u16::try_from(port.container_port).ok());
        first.unwrap_or(PORT)
    }

    /// What stands for the content that it serves: the digests of its images. None where they do not say
    /// everything, or where it is one of the operator. Whoever may write a CatalogSource makes its Pods serve what
    /// he likes, so it stands for the content of this one only.
    pub(super) fn digest(
        &self,
        server: &str,
        key: &CatalogKey,
        source: &CatalogSource,
    ) -> Option<String> {
        let spec = &source.spec;
        let is_set = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
        if !is_set(&spec.image) || is_set(&spec.address) || self.hosted_at.is_some() {
            return None;
        }
        let status = self.pod.status.as_ref()?;
        let all = [&status.init_container_statuses, &status.container_statuses];
        let all: Vec<&ContainerStatus> = all.into_iter().flatten().flatten().collect();
        let mut digest = Sha256::new();
        let uid = source.metadata.uid.clone().unwrap_or_default();
        for part in [server, &key.to_string(), &uid] {
            digest.update(part);
            digest.update([0]);
        }
        for status in all {
            let (_, image) = status.image_id.split_once("sha256:")?;
            digest.update(&status.name);
            digest.update([0]);
            digest.update(image);
            digest.update([0]);
        }
        Some(hex(&digest.finalize()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json};

    use super::*;

    fn pod(name: &str, created: &str, ready: &str, image: &str) -> Pod {
        from_value(json!({"metadata": {"name": name, "creationTimestamp": created},
            "spec": {"containers": [{"name": "c", "ports": [{"containerPort": 5}]}]},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}],
                "containerStatuses": [{"name": "c", "image": "i", "imageID": image,
                    "ready": true, "restartCount": 0}]}}))
        .unwrap()
    }

    fn source(spec: Value) -> CatalogSource {
        from_value(json!({"metadata": {"name": "c", "uid": "u"}, "spec": spec})).unwrap()
    }

    #[test]
    fn the_newest_that_is_ready_is_chosen() {
        let [old, new] = ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"];
        let all = vec![pod("b", new, "True", ""), pod("a", old, "True", "")];
        assert_eq!(chosen(all).unwrap().metadata.name.as_deref(), Some("b"));
        let all = vec![pod("b", new, "False", ""), pod("a", old, "True", "")];
        assert_eq!(chosen(all).unwrap().metadata.name.as_deref(), Some("a"));
        let none = chosen(vec![pod("a", old, "False", "")]).unwrap_err().to_string();
        assert_eq!(none, "its Pod a is not ready: Running");
        assert_eq!(chosen(Vec::new()).unwrap_err().to_string(), "it has no Pod");
    }

    #[test]
    fn a_digest_stands_for_images_of_one_catalog_source() {
        let key = CatalogKey::new("ns", "c");
        let digest = |image: &str, spec: Value, server: &str| {
            let pod = pod("a", "2026-01-01T00:00:00Z", "True", image);
            CatalogPod { pod, hosted_at: None }.digest(server, &key, &source(spec))
        };
        let image = || json!({"image": "i"});
        let first = digest("i@sha256:0", image(), "s");
        assert_eq!(first, digest("j@sha256:0", image(), "s"), "the same content elsewhere");
        assert_ne!(first, digest("i@sha256:1", image(), "s"));
        assert_ne!(first, digest("i@sha256:0", image(), "t"), "another cluster");
        assert_eq!(digest("i", image(), "s"), None, "an image without a digest");
        assert_eq!(digest("i@sha256:0", json!({"address": "a:1"}), "s"), None);
        assert_eq!(digest("i@sha256:0", json!({}), "s"), None);
    }

    #[test]
    fn the_port_is_that_of_the_container_or_of_the_operator() {
        let found = |hosted_at: Option<u16>| CatalogPod {
            pod: pod("a", "2026-01-01T00:00:00Z", "True", "i@sha256:0"),
            hosted_at,
        };
        assert_eq!((found(None).port(), found(Some(7)).port()), (5, 7));
        assert_eq!(CatalogPod { pod: Pod::default(), hosted_at: None }.port(), PORT);
        let key = CatalogKey::new("ns", "c");
        let digest = found(Some(7)).digest("s", &key, &source(json!({"image": "i"})));
        assert_eq!(digest, None, "what it runs says nothing about the catalog");
    }
}
