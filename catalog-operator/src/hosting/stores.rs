//! What is watched for catalogs that the operator serves: EndpointSlices of their Services, and the
//! operator's own Pods.

use k8s_openapi::api::core::v1::{Pod, PodSpec};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::ResourceExt;
use olm_kit::ObjectKey;
use olm_kit::queue::Queue;
use olm_kit::watch::{Config, Store, WatchSet};
use olm_lifecycle::catalog_source::Backend;
use olm_lifecycle::catalog_source::hosting::{Record, Replica, is_ours, record};
use olm_lifecycle::catalog_source::registry::service_name;
use olm_types::api::CatalogSource;
use olm_types::bundle::CatalogKey;
use olm_types::conditions::kubernetes::READY;
use olm_types::labels::{CATALOG_SOURCE, MANAGED, MANAGED_VALUE, SERVICE_NAME};

/// The label by which manifests find Pods of this operator.
const REPLICAS: (&str, &str) = ("app", "catalog-operator");

/// The stores. Clones share them.
#[derive(Clone)]
pub struct HostingStores {
    /// EndpointSlices of the Services of catalogs: those of ours, and those of Kubernetes, which have
    /// the labels of the Service.
    pub slices: Store<EndpointSlice>,
    /// Pods of this operator, reduced to where and how they are.
    pub replicas: Store<Pod>,
}

impl HostingStores {
    /// The stores that these watches will fill: slices of the whole cluster, and Pods of the operator's
    /// namespace.
    pub fn watched(watches: &mut WatchSet, namespace: &str) -> Self {
        let managed = Config::default().labels(&format!("{MANAGED}={MANAGED_VALUE}"));
        let (key, value) = REPLICAS;
        let replicas = Config::default()
            .labels(&format!("{key}={value}"))
            .fields(&format!("metadata.namespace={namespace}"));
        Self {
            slices: watches.add(managed, |slices| slices.admit(is_managed)),
            // What the interpreter writes are Pods of catalogs.
            replicas: watches.add(replicas, |pods| pods.strip(strip).admit(is_replica)),
        }
    }

    /// Adds the CatalogSources that a change concerns to `queue`, from now on: those whose Service a
    /// slice is of, and all when Pods of the operator come, go, or become ready.
    pub fn listen(&self, catalogs: &Store<CatalogSource>, queue: &Queue<ObjectKey>) {
        let (all, keys) = (catalogs.clone(), queue.clone());
        self.slices.on_change(move |change| {
            let Some(slice) = change.latest() else { return };
            let namespace = slice.namespace().unwrap_or_default();
            let service = slice.labels().get(SERVICE_NAME);
            let named = |catalog: &&std::sync::Arc<CatalogSource>| {
                service.is_some_and(|name| *name == service_name(catalog, &Backend::Image))
            };
            let found = all.list_in(&namespace);
            found.iter().filter(named).for_each(|catalog| keys.add(ObjectKey::of(&**catalog)));
        });
        let (all, keys, slices) = (catalogs.clone(), queue.clone(), self.slices.clone());
        self.replicas.on_change(move |change| {
            let shown = |pod: Option<&std::sync::Arc<Pod>>| pod.and_then(|pod| replica(pod));
            if shown(change.old.as_ref()) == shown(change.new.as_ref()) {
                return;
            }
            let ours = slices.list();
            for slice in ours.iter().filter(|slice| is_ours(slice)) {
                let namespace = slice.namespace().unwrap_or_default();
                let name = slice.labels().get(CATALOG_SOURCE).cloned().unwrap_or_default();
                if all.get(Some(&namespace), &name).is_some() {
                    keys.add(ObjectKey::namespaced(&namespace, &name));
                }
            }
        });
    }

    /// The Pods of this operator that have an address; what they serve is not known here.
    pub fn replicas(&self) -> Vec<Replica> {
        self.replicas.list().iter().filter_map(|pod| replica(pod)).collect()
    }

    /// The CatalogSources for which a leader recorded content, and what it recorded.
    pub fn recorded(&self) -> Vec<(CatalogKey, Record)> {
        let key = |slice: &std::sync::Arc<EndpointSlice>| {
            let name = slice.labels().get(CATALOG_SOURCE)?;
            let key = CatalogKey::new(&slice.namespace().unwrap_or_default(), name);
            Some((key, record(slice)?))
        };
        self.slices.list().iter().filter_map(key).collect()
    }
}

fn is_managed(slice: &EndpointSlice) -> bool {
    slice.labels().get(MANAGED).is_some_and(|value| value == MANAGED_VALUE)
}

fn is_replica(pod: &Pod) -> bool {
    let (key, value) = REPLICAS;
    pod.labels().get(key).is_some_and(|found| found == value)
}

fn strip(pod: &mut Pod) {
    pod.metadata.annotations = None;
    if let Some(spec) = pod.spec.as_mut() {
        let node_name = spec.node_name.take();
        *spec = PodSpec { node_name, ..PodSpec::default() };
    }
}

/// A Pod as an endpoint; none while it has no address, or when it has ended.
fn replica(pod: &Pod) -> Option<Replica> {
    let status = pod.status.as_ref()?;
    let ended = matches!(status.phase.as_deref(), Some("Succeeded" | "Failed"));
    let address = status.pod_ip.as_ref()?.parse().ok().filter(|_| !ended)?;
    let mut conditions = status.conditions.iter().flatten();
    Some(Replica {
        address,
        node: pod.spec.as_ref().and_then(|spec| spec.node_name.clone()),
        ready: conditions.any(|found| found.type_ == READY && found.status == "True"),
        terminating: pod.metadata.deletion_timestamp.is_some(),
        serves: false,
        namespace: pod.namespace().unwrap_or_default(),
        name: pod.name_any(),
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    #[rstest]
    #[case::starts(json!({"phase": "Pending"}), None)]
    #[case::runs(json!({"phase": "Running", "podIP": "10.0.0.7"}), Some(false))]
    #[case::ready(json!({"phase": "Running", "podIP": "10.0.0.7", "conditions": [{"type": "Ready", "status": "True"}]}), Some(true))]
    #[case::ended(json!({"phase": "Failed", "podIP": "10.0.0.7"}), None)]
    fn replicas(#[case] status: Value, #[case] ready: Option<bool>) {
        let pod = json!({"metadata": {"name": "a"}, "spec": {"containers": [], "nodeName": "n"}, "status": status});
        let found = replica(&serde_json::from_value(pod).unwrap());
        assert_eq!(found.as_ref().map(|found| found.ready), ready);
        assert!(found.is_none_or(|found| found.node.as_deref() == Some("n") && !found.terminating));
    }
}
