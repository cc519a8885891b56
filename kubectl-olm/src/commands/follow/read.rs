//! What is read of the cluster while something is followed.

use anyhow::Result;
use olm_client::Cluster;
use olm_plan::preview::Preview;
use olm_types::api::{ClusterServiceVersion, InstallPlan, Subscription};

use super::progress::State;

/// The InstallPlan that the Subscription of a preview points at.
///
/// # Errors
/// The Subscription or the plan cannot be read.
pub async fn current(cluster: &Cluster, preview: &Preview) -> Result<Option<String>> {
    let Some(found) = subscription(cluster, preview).await? else { return Ok(None) };
    let plan = plan_of(cluster, &preview.namespace, &found).await?;
    Ok(plan.and_then(|plan| plan.metadata.name))
}

/// The Subscription of a preview, if it is there.
pub(super) async fn subscription(
    cluster: &Cluster,
    preview: &Preview,
) -> Result<Option<Subscription>> {
    let api = cluster.api::<Subscription>(Some(&preview.namespace));
    cluster.answer(api.get_opt(&preview.subscription)).await
}

/// The InstallPlan that a Subscription points at, if it is there.
pub(super) async fn plan_of(
    cluster: &Cluster,
    home: &str,
    subscription: &Subscription,
) -> Result<Option<InstallPlan>> {
    let status = subscription.status.as_ref();
    let reference = status.and_then(|status| status.install_plan_ref.as_ref()?.name.clone());
    match reference {
        Some(name) => {
            let api = cluster.api::<InstallPlan>(Some(home));
            cluster.answer(api.get_opt(&name)).await
        }
        None => Ok(None),
    }
}

/// How far a CSV is.
pub(super) async fn state(cluster: &Cluster, home: &str, csv: &str) -> Result<State> {
    let api = cluster.api::<ClusterServiceVersion>(Some(home));
    let found = cluster.answer(api.get_opt(csv)).await?;
    Ok(State::of(csv, found.as_ref()))
}

/// Those of some CSVs that have failed.
pub(super) async fn failed(cluster: &Cluster, home: &str, csvs: &[&str]) -> Result<Vec<State>> {
    let mut failed = Vec::new();
    for csv in csvs {
        let state = state(cluster, home, csv).await?;
        failed.extend(state.has_failed().then_some(state));
    }
    Ok(failed)
}
