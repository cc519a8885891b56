//! The Pod of catalog-operator behind a catalog that the operator serves itself, without a Pod of its own.
//!
//! An EndpointSlice leads there. Whoever may write one could name any Pod, so that only one with the label of
//! the operator is connected to.

use anyhow::{Context, Result, anyhow, bail};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::discovery::v1::{Endpoint, EndpointSlice};
use kube::api::Api;
use olm_lifecycle::catalog_source::Backend;
use olm_lifecycle::catalog_source::hosting::{record, slice_name};
use olm_lifecycle::catalog_source::registry::service_name;
use olm_types::api::CatalogSource;
use olm_types::bundle::CatalogKey;

use crate::cluster::{Cluster, cause};

/// The label of the operator's Pods.
const OPERATOR: (&str, &str) = ("app", "catalog-operator");

/// Where a catalog is served.
#[derive(Debug, PartialEq, Eq)]
struct Served {
    namespace: String,
    pod: String,
    port: u16,
}

/// The Pod and its port; none when the operator does not serve the catalog.
///
/// # Errors
/// EndpointSlice or Pod cannot be read, or no Pod is ready.
pub(super) async fn of(
    cluster: &Cluster,
    key: &CatalogKey,
    source: &CatalogSource,
) -> Result<Option<(Pod, u16)>> {
    let slices: Api<EndpointSlice> = cluster.api(Some(&key.namespace));
    let name = slice_name(&service_name(source, &Backend::Image));
    let slice = cluster.answer(slices.get_opt(&name)).await.map_err(|error| {
        anyhow!("it has no Pod, and its EndpointSlice cannot be read: {}", cause(&error))
    })?;
    let Some(Served { namespace, pod, port }) = slice.as_ref().map(served).transpose()? else {
        return Ok(None);
    };
    let pods: Api<Pod> = cluster.api(Some(&namespace));
    let found = cluster.answer(pods.get_opt(&pod)).await.map_err(|error| {
        anyhow!("Pod {namespace}/{pod}, which serves it, cannot be read: {}", cause(&error))
    })?;
    match found {
        Some(found) if is_of_operator(&found) => Ok(Some((found, port))),
        _ => bail!(
            "Pod {namespace}/{pod}, which its EndpointSlice names, is none of catalog-operator"
        ),
    }
}

/// The first endpoint that is ready.
fn served(slice: &EndpointSlice) -> Result<Served> {
    let recorded = record(slice).context("its EndpointSlice is none of catalog-operator")?;
    let port = recorded.port.context("its EndpointSlice has no port")?;
    let mut ready = slice.endpoints.iter().flatten().filter(|endpoint| is_ready(endpoint));
    let (namespace, pod) =
        ready.find_map(pod_of).context("no Pod of catalog-operator that serves it is ready")?;
    Ok(Served { namespace, pod, port })
}

fn is_ready(endpoint: &Endpoint) -> bool {
    endpoint.conditions.as_ref().is_some_and(|conditions| conditions.ready == Some(true))
}

fn pod_of(endpoint: &Endpoint) -> Option<(String, String)> {
    let target = endpoint.target_ref.as_ref()?;
    let is_pod = target.kind.as_deref() == Some("Pod");
    target.namespace.clone().zip(target.name.clone()).filter(|_| is_pod)
}

fn is_of_operator(pod: &Pod) -> bool {
    let (key, value) = OPERATOR;
    let labels = pod.metadata.labels.as_ref();
    labels.and_then(|labels| labels.get(key)).is_some_and(|found| found == value)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, from_value, json};

    use super::*;

    fn slice(manager: &str, endpoints: &[Value]) -> EndpointSlice {
        from_value(json!({
            "metadata": {
                "labels": {"endpointslice.kubernetes.io/managed-by": manager},
                "annotations": {"olm-rs.dev/catalog-image": "i", "olm-rs.dev/catalog-digest": "d"},
            },
            "addressType": "IPv4", "endpoints": endpoints, "ports": [{"name": "grpc", "port": 50107}],
        }))
        .unwrap()
    }

    fn endpoint(pod: &str, ready: bool) -> Value {
        let target = json!({"kind": "Pod", "namespace": "olm", "name": pod});
        json!({"addresses": ["10.0.0.7"], "conditions": {"ready": ready}, "targetRef": target})
    }

    const OURS: &str = "catalog-operator.olm-rs.dev";

    #[rstest]
    #[case::first_that_is_ready(OURS, &[endpoint("a", false), endpoint("b", true)], "olm/b:50107")]
    #[case::none_is_ready(OURS, &[endpoint("a", false)], "no Pod of catalog-operator")]
    #[case::no_endpoint(OURS, &[], "no Pod of catalog-operator")]
    #[case::no_pod(OURS, &[json!({"addresses": ["10.0.0.7"], "conditions": {"ready": true}})],
        "no Pod of catalog-operator")]
    #[case::of_another_manager("endpointslice-controller.k8s.io", &[endpoint("b", true)], "none of")]
    fn pods_of_endpoints(
        #[case] manager: &str,
        #[case] endpoints: &[Value],
        #[case] expected: &str,
    ) {
        let found = match served(&slice(manager, endpoints)) {
            Ok(found) => format!("{}/{}:{}", found.namespace, found.pod, found.port),
            Err(error) => error.to_string(),
        };
        assert!(found.contains(expected), "{found}");
    }

    #[rstest]
    #[case(json!({"app": "catalog-operator"}), true)]
    #[case(json!({"app": "other"}), false)]
    #[case(json!({}), false)]
    fn pods_of_the_operator(#[case] labels: Value, #[case] expected: bool) {
        let pod = from_value(json!({"metadata": {"labels": labels}})).unwrap();
        assert_eq!(is_of_operator(&pod), expected);
    }
}
