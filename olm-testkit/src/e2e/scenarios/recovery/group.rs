//! The OperatorGroup of a running operator goes, or gets a second one beside it.

use std::sync::Arc;

use anyhow::{Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use olm_types::api::{CsvPhase, OperatorGroup};

use super::words::{State, untouched};
use crate::builders;
use crate::e2e::scene::Scene;
use crate::e2e::{Scenario, scenario};
use crate::wait;

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "recovery::group::deleted",
            "without its group a CSV says so and its Deployment runs on",
            deleted,
        ),
        scenario(
            "recovery::group::a_second_one",
            "two groups are one too many, and both say so",
            a_second_one,
        ),
    ]
}

/// How a CSV goes on once its namespace has one group.
const GOES_ON: State<'static> =
    (CsvPhase::Pending, "RequirementsUnknown", "InstallModes now support target namespaces");

/// Without a group the CSV says so and its Deployment runs on; with a new one all is as before.
async fn deleted(scene: Arc<Scene>) -> Result<()> {
    let before = scene.install("key", &scene.kind("Key")).await?;
    let deployment: Deployment = scene.api().get("key").await?;
    scene.delete::<OperatorGroup>("group").await?;
    let failed = (CsvPhase::Failed, "NoOperatorGroup", "csv in namespace with no operatorgroups");
    scene.is("key.v1.0.0", failed).await?;
    scene.announced("key.v1.0.0", "NoOperatorGroup", failed.2).await?;
    untouched(&deployment, &scene.api().get("key").await?)?;
    scene.operator_group().await?;
    scene.recovered(&before, &[failed, GOES_ON]).await?;
    scene.at_latest("key", "key.v1.0.0").await?;
    scene.at_rest().await
}

/// Two groups are one too many, and both say so.
async fn a_second_one(scene: Arc<Scene>) -> Result<()> {
    let before = scene.install("nut", &scene.kind("Nut")).await?;
    let deployment: Deployment = scene.api().get("nut").await?;
    let second = builders::operator_group(&scene.namespace, "second", &[&scene.namespace]);
    scene.create(&second).await?;
    let failed = (
        CsvPhase::Failed,
        "TooManyOperatorGroups",
        "csv created in namespace with multiple operatorgroups, can't pick one automatically",
    );
    scene.is("nut.v1.0.0", failed).await?;
    scene.announced("nut.v1.0.0", "TooManyOperatorGroups", failed.2).await?;
    says_that_there_are_several(&scene, "group", true).await?;
    says_that_there_are_several(&scene, "second", true).await?;
    untouched(&deployment, &scene.api().get("nut").await?)?;
    scene.delete::<OperatorGroup>("second").await?;
    says_that_there_are_several(&scene, "group", false).await?;
    scene.recovered(&before, &[failed, GOES_ON]).await?;
    scene.at_latest("nut", "nut.v1.0.0").await?;
    scene.at_rest().await
}

async fn says_that_there_are_several(scene: &Scene, group: &str, several: bool) -> Result<()> {
    let what = format!("say that there are several groups: {several}");
    let group = wait::until(&scene.api(), group, &what, |group: &OperatorGroup| {
        let mut conditions = group.status.iter().flat_map(|status| &status.conditions);
        conditions.any(|c| c.type_ == "MultipleOperatorGroup" && c.status == "True") == several
    })
    .await?;
    ensure!(group.status.is_some_and(|status| !status.namespaces.is_empty()));
    Ok(())
}
