//! What CSVs wait for.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, PostParams};
use olm_types::api::{ClusterServiceVersion, CsvPhase};
use olm_types::owner::non_blocking_owner;
use serde_json::{Value, json};

use super::words::{message, operator, went_through};
use crate::builders::{self, Crd};
use crate::e2e::Scene;
use crate::e2e::scene::same;
use crate::wait;

const UNMET: &str = "one or more requirements couldn't be found";

/// Of two missing kinds one appears, then the other; when one goes, the CSV fails and waits again.
pub(super) async fn missing_kinds(scene: Arc<Scene>) -> Result<()> {
    scene.operator_group().await?;
    let (cup, tea) = (scene.kind("Cup"), scene.kind("Tea"));
    scene.create(&operator("kettle").requires(&cup).requires(&tea).build()).await?;
    let text = message(&scene, "kettle", CsvPhase::Pending, "RequirementsNotMet").await?;
    same(Some(&text), UNMET)?;
    until_status(&scene, &[(&cup, "NotPresent"), (&tea, "NotPresent")]).await?;
    create(&scene, &cup).await?;
    until_status(&scene, &[(&cup, "Present"), (&tea, "NotPresent")]).await?;
    create(&scene, &tea).await?;
    scene.succeeded("kettle").await?;
    let crds: Api<CustomResourceDefinition> = Api::all(scene.client.clone());
    crds.delete(&tea.name(), &DeleteParams::background()).await?;
    let past = went_through(&scene, "kettle", CsvPhase::Failed, "RequirementsNotMet").await?;
    same(past.message.as_deref(), "requirements no longer met")?;
    until_status(&scene, &[(&cup, "Present"), (&tea, "NotPresent")]).await?;
    wait::until_gone(&crds, &tea.name()).await?;
    create(&scene, &tea).await?;
    scene.succeeded("kettle").await.map(drop)
}

async fn create(scene: &Scene, kind: &Crd) -> Result<()> {
    let crds: Api<CustomResourceDefinition> = Api::all(scene.client.clone());
    let crd = serde_json::from_value(kind.manifest()).context("a malformed CRD")?;
    crds.create(&PostParams::default(), &crd).await.map(drop).context("cannot create the CRD")
}

/// A second owner of a kind, and a CSV whose webhook cannot be served: both fail, and both show the
/// kind as present.
pub(super) async fn a_second_owner(scene: Arc<Scene>) -> Result<()> {
    scene.operator_group().await?;
    let cup = scene.kind("Cup");
    create(&scene, &cup).await?;
    scene.create(&operator("kettle").owns(&cup).build()).await?;
    scene.succeeded("kettle").await?;
    scene.create(&operator("pot").owns(&cup).build()).await?;
    let hooked = operator("hooked").requires(&cup).build();
    let mut hooked = serde_json::to_value(hooked)?;
    hooked["spec"]["webhookdefinitions"] = json!([{
        "generateName": "w.example.com", "type": "ValidatingAdmissionWebhook", "sideEffects": "None",
        "admissionReviewVersions": ["v1"], "deploymentName": "absent",
    }]);
    scene.create(&serde_json::from_value::<ClusterServiceVersion>(hooked)?).await?;
    for (name, reason) in [("pot", "OwnerConflict"), ("hooked", "InvalidWebhookDescription")] {
        let csv = scene.csv_phase(name, CsvPhase::Failed, reason).await?;
        let listed = csv.status.map(|status| status.requirement_status).unwrap_or_default();
        let found = listed.iter().find(|entry| entry.name == cup.name());
        same(found.map(|entry| entry.status.as_str()), "Present").context(name)?;
    }
    Ok(())
}

/// Waits until the list of requirements shows kinds with these states.
async fn until_status(scene: &Scene, wanted: &[(&Crd, &str)]) -> Result<()> {
    let what = "show which kinds are there";
    wait::until(&scene.api(), "kettle", what, |csv: &ClusterServiceVersion| {
        let listed = csv.status.as_ref().map(|status| status.requirement_status.as_slice());
        let listed = listed.unwrap_or_default();
        wanted.iter().all(|(kind, status)| {
            listed.iter().any(|entry| entry.name == kind.name() && entry.status == *status)
        })
    })
    .await
    .map(drop)
}

/// A CSV waits for its account, then for a Role, then for the binding; each wakes it.
pub(super) async fn missing_rights(scene: Arc<Scene>) -> Result<()> {
    let namespace = scene.namespace.as_str();
    scene.operator_group().await?;
    let csv = operator("kettle").permission("kettle", rules());
    scene.create(&csv.build()).await?;
    let missing = "Service account does not exist";
    until_account(&scene, "kettle", "NotPresent", missing).await?;
    scene.create(&builders::service_account(namespace, "kettle")).await?;
    until_account(&scene, "kettle", "PresentNotSatisfied", UNSATISFIED).await?;
    let metadata = json!({"name": "pods", "namespace": namespace});
    scene.create(&role(&metadata)?).await?;
    scene.create(&binding(&metadata)?).await?;
    scene.succeeded("kettle").await.map(drop)
}

/// The InstallPlan of an upgrade brings the new version first, and its rights later. Those of the
/// old version, which are deleted with it, are as good as none.
pub(super) async fn rights_of_the_old_version(scene: Arc<Scene>) -> Result<()> {
    scene.operator_group().await?;
    scene.create(&builders::service_account(&scene.namespace, "kettle")).await?;
    let old = operator("old").permission("kettle", rules()).build();
    let old = scene.create(&old).await?;
    give_rights(&scene, &old).await?;
    scene.succeeded("old").await?;
    let new = operator("new").permission("kettle", rules()).replaces("old").build();
    let new = scene.create(&new).await?;
    until_account(&scene, "new", "PresentNotSatisfied", UNSATISFIED).await?;
    scene.at_rest().await?;
    scene.csv_phase("old", CsvPhase::Replacing, "BeingReplaced").await?;
    give_rights(&scene, &new).await?;
    scene.succeeded("new").await?;
    wait::until_gone(&scene.api::<ClusterServiceVersion>(), "old").await?;
    wait::until_gone(&scene.api::<RoleBinding>(), "old-rights").await?;
    scene.at_rest().await?;
    let end = scene.succeeded("new").await?;
    let status = end.status.unwrap_or_default();
    let failed = status.conditions.iter().find(|past| past.phase == CsvPhase::Failed);
    ensure!(failed.is_none(), "it failed on its way: {failed:?}");
    Ok(())
}

/// A Role and its binding that belong to the CSV, as an InstallPlan makes them.
async fn give_rights(scene: &Scene, csv: &ClusterServiceVersion) -> Result<()> {
    let (name, uid) = (csv.name_any(), csv.uid().context("a CSV without UID")?);
    let owner = non_blocking_owner(
        ClusterServiceVersion::API_VERSION,
        ClusterServiceVersion::KIND,
        &name,
        &uid,
    );
    let metadata = json!({
        "name": format!("{name}-rights"), "namespace": scene.namespace, "ownerReferences": [owner],
    });
    scene.create(&role(&metadata)?).await?;
    scene.create(&binding(&metadata)?).await.map(drop)
}

const UNSATISFIED: &str = "Policy rule not satisfied for service account";

/// What the account may do.
fn rules() -> Value {
    json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}])
}

fn role(metadata: &Value) -> Result<Role> {
    Ok(serde_json::from_value(json!({"metadata": metadata, "rules": rules()}))?)
}

/// Gives the Role of the same name to the account.
fn binding(metadata: &Value) -> Result<RoleBinding> {
    Ok(serde_json::from_value(json!({
        "metadata": metadata,
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": metadata["name"],
        },
        "subjects": [{
            "kind": "ServiceAccount", "name": "kettle", "namespace": metadata["namespace"],
        }],
    }))?)
}

async fn until_account(scene: &Scene, csv: &str, status: &str, text: &str) -> Result<()> {
    let what = "say what its account lacks";
    wait::until(&scene.api(), csv, what, |csv: &ClusterServiceVersion| {
        csv.status.iter().flat_map(|all| &all.requirement_status).any(|entry| {
            entry.kind == "ServiceAccount" && entry.status == status && entry.message == text
        })
    })
    .await
    .map(drop)
}
