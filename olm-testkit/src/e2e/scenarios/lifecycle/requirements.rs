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

use super::steps::{message, operator, went_through};
use crate::builders::{self, Crd};
use crate::e2e::TestContext;
use crate::e2e::context::same;
use crate::wait;

const UNMET: &str = "one or more requirements couldn't be found";

/// Of two missing kinds one appears, then the other; when one goes, the CSV fails and waits again.
pub(super) async fn missing_kinds(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let (cup, tea) = (ctx.kind("Cup"), ctx.kind("Tea"));
    ctx.create(&operator("kettle").requires(&cup).requires(&tea).build()).await?;
    let text = message(&ctx, "kettle", CsvPhase::Pending, "RequirementsNotMet").await?;
    same(Some(&text), UNMET)?;
    until_status(&ctx, &[(&cup, "NotPresent"), (&tea, "NotPresent")]).await?;
    create(&ctx, &cup).await?;
    until_status(&ctx, &[(&cup, "Present"), (&tea, "NotPresent")]).await?;
    create(&ctx, &tea).await?;
    ctx.succeeded("kettle").await?;
    let crds: Api<CustomResourceDefinition> = Api::all(ctx.client.clone());
    crds.delete(&tea.name(), &DeleteParams::background()).await?;
    let past = went_through(&ctx, "kettle", CsvPhase::Failed, "RequirementsNotMet").await?;
    same(past.message.as_deref(), "requirements no longer met")?;
    until_status(&ctx, &[(&cup, "Present"), (&tea, "NotPresent")]).await?;
    wait::until_gone(&crds, &tea.name()).await?;
    create(&ctx, &tea).await?;
    ctx.succeeded("kettle").await.map(drop)
}

async fn create(ctx: &TestContext, kind: &Crd) -> Result<()> {
    let crds: Api<CustomResourceDefinition> = Api::all(ctx.client.clone());
    let crd = serde_json::from_value(kind.manifest()).context("a malformed CRD")?;
    crds.create(&PostParams::default(), &crd).await.map(drop).context("cannot create the CRD")
}

/// A second owner of a kind, and a CSV whose webhook cannot be served: both fail, and both show the
/// kind as present.
pub(super) async fn a_second_owner(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let cup = ctx.kind("Cup");
    create(&ctx, &cup).await?;
    ctx.create(&operator("kettle").owns(&cup).build()).await?;
    ctx.succeeded("kettle").await?;
    ctx.create(&operator("pot").owns(&cup).build()).await?;
    let hooked = operator("hooked").requires(&cup).build();
    let mut hooked = serde_json::to_value(hooked)?;
    hooked["spec"]["webhookdefinitions"] = json!([{
        "generateName": "w.example.com", "type": "ValidatingAdmissionWebhook", "sideEffects": "None",
        "admissionReviewVersions": ["v1"], "deploymentName": "absent",
    }]);
    ctx.create(&serde_json::from_value::<ClusterServiceVersion>(hooked)?).await?;
    for (name, reason) in [("pot", "OwnerConflict"), ("hooked", "InvalidWebhookDescription")] {
        let csv = ctx.csv_phase(name, CsvPhase::Failed, reason).await?;
        let listed = csv.status.map(|status| status.requirement_status).unwrap_or_default();
        let found = listed.iter().find(|entry| entry.name == cup.name());
        same(found.map(|entry| entry.status.as_str()), "Present").context(name)?;
    }
    Ok(())
}

/// Waits until the list of requirements shows kinds with these states.
async fn until_status(ctx: &TestContext, wanted: &[(&Crd, &str)]) -> Result<()> {
    let what = "show which kinds are there";
    wait::until(&ctx.api(), "kettle", what, |csv: &ClusterServiceVersion| {
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
pub(super) async fn missing_rights(ctx: Arc<TestContext>) -> Result<()> {
    let namespace = ctx.namespace.as_str();
    ctx.operator_group().await?;
    let csv = operator("kettle").permission("kettle", rules());
    ctx.create(&csv.build()).await?;
    let missing = "Service account does not exist";
    until_account(&ctx, "kettle", "NotPresent", missing).await?;
    ctx.create(&builders::service_account(namespace, "kettle")).await?;
    until_account(&ctx, "kettle", "PresentNotSatisfied", UNSATISFIED).await?;
    let metadata = json!({"name": "pods", "namespace": namespace});
    ctx.create(&role(&metadata)?).await?;
    ctx.create(&binding(&metadata)?).await?;
    ctx.succeeded("kettle").await.map(drop)
}

/// The InstallPlan of an upgrade brings the new version first, and its rights later. Those of the
/// old version, which are deleted with it, are as good as none.
pub(super) async fn rights_of_the_old_version(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    ctx.create(&builders::service_account(&ctx.namespace, "kettle")).await?;
    let old = operator("old").permission("kettle", rules()).build();
    let old = ctx.create(&old).await?;
    give_rights(&ctx, &old).await?;
    ctx.succeeded("old").await?;
    let new = operator("new").permission("kettle", rules()).replaces("old").build();
    let new = ctx.create(&new).await?;
    until_account(&ctx, "new", "PresentNotSatisfied", UNSATISFIED).await?;
    ctx.until_idle().await?;
    ctx.csv_phase("old", CsvPhase::Replacing, "BeingReplaced").await?;
    give_rights(&ctx, &new).await?;
    ctx.succeeded("new").await?;
    wait::until_gone(&ctx.api::<ClusterServiceVersion>(), "old").await?;
    wait::until_gone(&ctx.api::<RoleBinding>(), "old-rights").await?;
    ctx.until_idle().await?;
    let end = ctx.succeeded("new").await?;
    let status = end.status.unwrap_or_default();
    let failed = status.conditions.iter().find(|past| past.phase == CsvPhase::Failed);
    ensure!(failed.is_none(), "it failed on its way: {failed:?}");
    Ok(())
}

/// A Role and its binding that belong to the CSV, as an InstallPlan makes them.
async fn give_rights(ctx: &TestContext, csv: &ClusterServiceVersion) -> Result<()> {
    let (name, uid) = (csv.name_any(), csv.uid().context("a CSV without UID")?);
    let owner = non_blocking_owner(
        ClusterServiceVersion::API_VERSION,
        ClusterServiceVersion::KIND,
        &name,
        &uid,
    );
    let metadata = json!({
        "name": format!("{name}-rights"), "namespace": ctx.namespace, "ownerReferences": [owner],
    });
    ctx.create(&role(&metadata)?).await?;
    ctx.create(&binding(&metadata)?).await.map(drop)
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

async fn until_account(ctx: &TestContext, csv: &str, status: &str, text: &str) -> Result<()> {
    let what = "say what its account lacks";
    wait::until(&ctx.api(), csv, what, |csv: &ClusterServiceVersion| {
        csv.status.iter().flat_map(|all| &all.requirement_status).any(|entry| {
            entry.kind == "ServiceAccount" && entry.status == status && entry.message == text
        })
    })
    .await
    .map(drop)
}
