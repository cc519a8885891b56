//! Reads Pods when a decision asks for them. They are not watched: there are many, and they matter
//! only while an API is away.

use k8s_openapi::api::core::v1::Pod;
use kube::Client;
use kube::api::ListParams;
use olm_kit::controller::ReconcileError;
use olm_kit::live;
use olm_lifecycle::install::PodLabels;

/// Most Pods that are read for one set of labels. The rule needs one that is on its way.
const MOST_PODS: u32 = 100;

/// The Pods of a namespace that carry all of one of these sets of labels.
///
/// # Errors
/// When the API server cannot be asked.
pub async fn list(
    client: &Client,
    namespace: &str,
    wanted: &[PodLabels],
) -> Result<Vec<Pod>, ReconcileError> {
    let mut found = Vec::new();
    for labels in wanted {
        let selector: Vec<String> =
            labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let query = ListParams::default().labels(&selector.join(",")).limit(MOST_PODS);
        let pods = live::list::<Pod>(client, Some(namespace), &query).await;
        found.extend(pods.map_err(ReconcileError::other)?);
    }
    Ok(found)
}
