//! The end of CSVs.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::api::{Api, DeleteParams};
use kube::{Resource, ResourceExt};
use olm_types::api::ClusterServiceVersion;

use super::steps::operator;
use crate::e2e::TestContext;
use crate::wait;

/// What two CSVs own stays while one of them is there, though the other is deleted in the
/// foreground, and goes with the second one.
pub(super) async fn several_owners(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let first = ctx.create(&operator("first").build()).await?;
    let second = ctx.create(&operator("second").build()).await?;
    ctx.succeeded("first").await?;
    ctx.succeeded("second").await?;
    let metadata = ObjectMeta {
        name: Some("shared".to_owned()),
        owner_references: Some(vec![owner(&first)?, owner(&second)?]),
        ..ObjectMeta::default()
    };
    ctx.create(&ConfigMap { metadata, ..ConfigMap::default() }).await?;
    let (csvs, shared): (Api<ClusterServiceVersion>, Api<ConfigMap>) = (ctx.api(), ctx.api());
    csvs.delete("first", &DeleteParams::foreground()).await?;
    wait::until_gone(&csvs, "first").await?;
    let left = shared.get("shared").await.context("it went with its first owner")?;
    let owners: Vec<&str> =
        left.owner_references().iter().map(|owner| owner.name.as_str()).collect();
    ensure!(left.metadata.deletion_timestamp.is_none(), "it is being deleted");
    ensure!(owners.contains(&"second"), "the owners are {owners:?}");
    ctx.succeeded("second").await?;
    csvs.delete("second", &DeleteParams::foreground()).await?;
    wait::until_gone(&csvs, "second").await?;
    wait::until_gone(&shared, "shared").await
}

/// A reference that holds back a deletion in the foreground.
fn owner(csv: &ClusterServiceVersion) -> Result<OwnerReference> {
    let mut owner = csv.owner_ref(&()).context("no owner reference")?;
    owner.block_owner_deletion = Some(true);
    Ok(owner)
}
