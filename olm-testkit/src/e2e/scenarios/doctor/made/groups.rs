//! OperatorGroups.

use std::sync::Arc;

use anyhow::Result;
use kube::api::{Api, PostParams};
use olm_types::api::{ClusterServiceVersion, CsvPhase, InstallModeType, OperatorGroup};

use super::super::catalog::{kind, operator};
use super::subscribe;
use crate::builders;
use crate::e2e::TestContext;

pub(in super::super) async fn none(ctx: Arc<TestContext>) -> Result<()> {
    subscribe(&ctx, "plain").await
}

pub(in super::super) async fn two(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let second = builders::operator_group(&ctx.namespace, "second", &[&ctx.namespace]);
    ctx.create(&second).await?;
    subscribe(&ctx, "plain").await
}

/// All namespaces, for an operator that watches its own one only.
pub(in super::super) async fn unfitting(ctx: Arc<TestContext>) -> Result<()> {
    ctx.create(&builders::operator_group(&ctx.namespace, "group", &[])).await?;
    let csv = operator("home", "1.0.0").install_modes(&[InstallModeType::OwnNamespace]).build();
    ctx.create(&csv).await?;
    ctx.csv_phase("home.v1.0.0", CsvPhase::Failed, "UnsupportedOperatorGroup").await.map(drop)
}

/// The groups of two namespaces select both, and each has an operator of the same kind.
pub(in super::super) async fn shared_api(ctx: Arc<TestContext>) -> Result<()> {
    let (home, client) = (ctx.namespace.as_str(), &ctx.client);
    let guest = format!("{home}-other");
    let namespace = builders::namespace(&guest);
    Api::all(client.clone()).create(&PostParams::default(), &namespace).await?;
    let both = [home, guest.as_str()];
    let groups: Api<OperatorGroup> = Api::namespaced(client.clone(), &guest);
    let group = builders::operator_group(&guest, "group", &both);
    groups.create(&PostParams::default(), &group).await?;
    let fork = kind("shared-api", "Spoon");
    super::define(client, &fork, serde_json::Value::Null, serde_json::Value::Null).await?;
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), &guest);
    let first = operator("first", "1.0.0").owns(&fork).build();
    csvs.create(&PostParams::default(), &first).await?;
    crate::wait::until(&csvs, "first.v1.0.0", "succeed", |csv: &ClusterServiceVersion| {
        csv.phase() == CsvPhase::Succeeded
    })
    .await?;
    ctx.create(&builders::operator_group(home, "group", &both)).await?;
    ctx.create(&operator("second", "1.0.0").owns(&fork).build()).await?;
    let reason = "InterOperatorGroupOwnerConflict";
    ctx.csv_phase("second.v1.0.0", CsvPhase::Failed, reason).await.map(drop)
}
