//! A namespace needs exactly one OperatorGroup; what is wrong is said, and heals by itself.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use kube::api::{Api, DeleteParams, ListParams};
use olm_types::api::{CsvPhase, InstallPlan, OperatorGroup};

use crate::builders::{self, Bundle, Package, csv};
use crate::e2e::scene::{Scene, same};
use crate::e2e::{Scenario, scenario};

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "operator_groups::none",
            "without an OperatorGroup a CSV fails and no plan is made",
            none,
        ),
        scenario(
            "operator_groups::two",
            "with two OperatorGroups a CSV fails, with one of them gone it goes on",
            two,
        ),
    ]
}

/// Without a group a CSV fails and no plan is made; with one both go on.
async fn none(scene: Arc<Scene>) -> Result<()> {
    let bundle =
        Bundle::new("1.0.0", &csv("wanted.v1.0.0", "1.0.0").deployment("wanted", "default"));
    scene.catalog("catalog", &[Package::single("wanted", bundle)]).await?;
    scene.subscribe("wanted", "catalog").await?;
    scene.create(&csv("lonely.v1.0.0", "1.0.0").deployment("lonely", "default").build()).await?;
    let failed = scene.csv_phase("lonely.v1.0.0", CsvPhase::Failed, "NoOperatorGroup").await?;
    let message = failed.status.and_then(|status| status.message);
    same(message.as_deref(), "csv in namespace with no operatorgroups")?;
    let plans: Api<InstallPlan> = scene.api();
    let made = plans.list(&ListParams::default()).await.context("cannot list InstallPlans")?;
    ensure!(made.items.is_empty(), "there is an InstallPlan without an OperatorGroup");
    scene.operator_group().await?;
    scene.succeeded("lonely.v1.0.0").await?;
    scene.succeeded("wanted.v1.0.0").await.map(drop)
}

/// With two groups a CSV fails; with one of them gone it goes on.
async fn two(scene: Arc<Scene>) -> Result<()> {
    scene.operator_group().await?;
    let second = builders::operator_group(&scene.namespace, "second", &[&scene.namespace]);
    scene.create(&second).await?;
    scene.create(&csv("torn.v1.0.0", "1.0.0").deployment("torn", "default").build()).await?;
    let failed = scene.csv_phase("torn.v1.0.0", CsvPhase::Failed, "TooManyOperatorGroups").await?;
    let message = failed.status.and_then(|status| status.message);
    same(
        message.as_deref(),
        "csv created in namespace with multiple operatorgroups, can't pick one automatically",
    )?;
    let groups: Api<OperatorGroup> = scene.api();
    groups.delete("second", &DeleteParams::default()).await.context("cannot delete a group")?;
    scene.succeeded("torn.v1.0.0").await.map(drop)
}
