//! OLM's own Pods would be let into a namespace with the pod security standard `restricted`.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::{Pod, PodSpec, Volume};
use kube::ResourceExt;
use kube::api::PostParams;

use super::killed;
use crate::e2e::TestContext;

/// How the API server names the volume with the token that it adds to a Pod by itself.
const TOKEN: &str = "kube-api-access-";

/// Asks the API server what it would say to each of them in the namespace of the scenario.
pub(super) async fn check_olm(ctx: &TestContext) -> Result<()> {
    let (pods, both) = killed::pods(ctx).await?;
    let running = pods.list(&both).await.context("cannot list the Pods of OLM")?;
    ensure!(!running.items.is_empty(), "there are no Pods of OLM");
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    for pod in running {
        let name = pod.name_any();
        let answer = ctx.api::<Pod>().create(&dry, &anew(pod)).await;
        answer.with_context(|| format!("{name} needs more than a restricted Pod may have"))?;
    }
    Ok(())
}

/// The Pod as a user would create it, run as an account that every namespace has.
fn anew(pod: Pod) -> Pod {
    let mut made = Pod::default();
    made.metadata.name = Some("like-olm".to_owned());
    let mut spec: PodSpec = pod.spec.unwrap_or_default();
    spec.node_name = None;
    spec.service_account_name = None;
    spec.service_account = None;
    let added = |volume: &Volume| volume.name.starts_with(TOKEN);
    spec.volumes.iter_mut().for_each(|volumes| volumes.retain(|volume| !added(volume)));
    for container in &mut spec.containers {
        let mounts = container.volume_mounts.iter_mut();
        mounts.for_each(|mounts| mounts.retain(|mount| !mount.name.starts_with(TOKEN)));
    }
    made.spec = Some(spec);
    made
}
