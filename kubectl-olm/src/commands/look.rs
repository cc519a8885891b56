//! What the commands that look have in common: a progress line for what takes long.

use anyhow::Result;
use olm_client::Cluster;
use olm_plan::Observed;

/// Subscriptions and what comes of them, in a namespace or in all.
///
/// # Errors
/// Subscriptions cannot be read, or time runs out.
pub async fn observe(cluster: &Cluster, home: Option<&str>, workloads: bool) -> Result<Observed> {
    let reading = match home {
        Some(home) => format!("reading what is installed in namespace {home}"),
        None => "reading what is installed in all namespaces".to_owned(),
    };
    cluster.notices.slow(&reading, cluster.observe(home, workloads)).await
}
