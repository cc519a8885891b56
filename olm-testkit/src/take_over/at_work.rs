//! OLM v0 at work.

use std::path::Path;

use anyhow::Result;
use kube::api::Api;
use olm_types::api::{ClusterServiceVersion, CsvPhase};

use super::{PACKAGE_SERVER, ServiceProxy, TakeOverCluster, package_server};
use crate::operators::OLM_NAMESPACE;
use crate::peer::{OlmV0, start_olm_v0};
use crate::process::Running;
use crate::stand_in::StandIn;
use crate::wait;

/// v0's operators at work, and its package server, which here is a process in the place of Pods. Their
/// logs have this end in their names.
///
/// # Errors
/// One of them does not start, or the package server does not succeed.
pub async fn start_v0(
    v0: &OlmV0,
    cluster: &TakeOverCluster,
    logs: &Path,
    (end, proxy): (&str, &ServiceProxy),
) -> Result<(Vec<Running>, StandIn)> {
    let operators = start_olm_v0(v0, &cluster.kubeconfig, logs, end, &proxy.url())?;
    let stand_in = package_server(cluster).await?;
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(cluster.client.clone(), OLM_NAMESPACE);
    wait::until(&csvs, PACKAGE_SERVER, "succeed", |csv: &ClusterServiceVersion| {
        csv.status.as_ref().is_some_and(|status| status.phase == CsvPhase::Succeeded)
    })
    .await?;
    Ok((operators, stand_in))
}
