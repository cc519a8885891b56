//! What is kept beside a CSV: the Operator that lists its parts, and its OperatorCondition.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use olm_types::api::{Operator, OperatorCondition, RichReference};
use olm_types::owner::is_owned_by_uid;
use serde_json::json;

use crate::builders::{Bundle, Package, csv};
use crate::e2e::context::TestContext;
use crate::e2e::{Scenario, scenario};
use crate::wait;

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![
        scenario(
            "related_objects::an_operator_lists_its_parts",
            "an Operator lists what belongs to it, comes back while it has parts, and its parts \
             keep their label",
            an_operator_lists_its_parts,
        ),
        scenario(
            "related_objects::a_condition_and_its_rights",
            "each CSV has an OperatorCondition that its accounts may write, and what they write is \
             acknowledged",
            a_condition_and_its_rights,
        ),
    ]
}

const LANTERN: &str = "lantern.v1.0.0";

/// Installs `lantern` from a catalog.
async fn install(ctx: &TestContext) -> Result<()> {
    let kind = ctx.kind("Wick");
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
    let lantern = csv(LANTERN, "1.0.0")
        .owns(&kind)
        .deployment("lantern", "lantern")
        .permission("lantern", rules.clone())
        .cluster_permission("lantern", rules);
    let bundle = Bundle::new("1.0.0", &lantern).provides(&kind);
    ctx.operator_group().await?;
    ctx.catalog("shelf", &[Package::single("lantern", bundle)]).await?;
    ctx.subscribe("lantern", "shelf").await?;
    ctx.succeeded(LANTERN).await.map(drop)
}

async fn an_operator_lists_its_parts(ctx: Arc<TestContext>) -> Result<()> {
    install(&ctx).await?;
    let operators: Api<Operator> = Api::all(ctx.client.clone());
    let name = format!("lantern.{}", ctx.namespace);
    let complete = wait::until(&operators, &name, "list every part", is_complete).await?;
    // A person deletes it too early.
    operators.delete(&name, &DeleteParams::default()).await?;
    let other = |operator: &Operator| operator.uid() != complete.uid() && is_complete(operator);
    wait::until(&operators, &name, "be made anew", other).await?;
    // A person takes a label away.
    let crds: Api<CustomResourceDefinition> = Api::all(ctx.client.clone());
    let (crd, label) = (ctx.kind("Wick").name(), format!("operators.coreos.com/{name}"));
    let patch = Patch::Merge(json!({"metadata": {"labels": {label.clone(): null}}}));
    crds.patch(&crd, &PatchParams::default(), &patch).await?;
    let labelled = |crd: &CustomResourceDefinition| crd.labels().contains_key(&label);
    wait::until(&crds, &crd, "be labelled again", labelled).await?;
    wait::until(&operators, &name, "list every part again", is_complete).await?;
    Ok(())
}

/// Kinds of which a part of `lantern` is listed, at least.
const PARTS: [&str; 11] = [
    "ClusterRole",
    "ClusterRoleBinding",
    "ClusterServiceVersion",
    "CustomResourceDefinition",
    "Deployment",
    "InstallPlan",
    "OperatorCondition",
    "Role",
    "RoleBinding",
    "ServiceAccount",
    "Subscription",
];

/// Whether every part is listed, in the order of their kinds, and the CSV reports its phase.
fn is_complete(operator: &Operator) -> bool {
    let status = operator.status.clone().unwrap_or_default();
    let refs = status.components.unwrap_or_default().refs;
    let kinds: Vec<&str> = refs.iter().filter_map(|one| one.kind.as_deref()).collect();
    let runs = |one: &RichReference| {
        one.kind.as_deref() == Some("ClusterServiceVersion")
            && one.conditions.iter().any(|condition| condition.type_ == "Succeeded")
    };
    PARTS.iter().all(|kind| kinds.contains(kind)) && kinds.is_sorted() && refs.iter().any(runs)
}

async fn a_condition_and_its_rights(ctx: Arc<TestContext>) -> Result<()> {
    install(&ctx).await?;
    let conditions: Api<OperatorCondition> = ctx.api();
    let has_parts = |condition: &OperatorCondition| {
        condition.spec.deployments == ["lantern"]
            && condition.spec.service_accounts == ["lantern", "lantern"]
    };
    let made = wait::until(&conditions, LANTERN, "name its parts", has_parts).await?;
    rights_return(&ctx, &made).await?;
    let busy = json!({"spec": {"conditions": [{
        "type": "Upgradeable", "status": "False", "reason": "Busy", "message": "in use",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }]}});
    conditions.patch(LANTERN, &PatchParams::default(), &Patch::Merge(busy)).await?;
    let acknowledged = |condition: &OperatorCondition| {
        let status = condition.status.clone().unwrap_or_default();
        status.conditions.iter().any(|one| {
            one.message == "in use" && one.observed_generation == condition.metadata.generation
        })
    };
    wait::until(&conditions, LANTERN, "acknowledge what the operator said", acknowledged).await?;
    conditions.delete(LANTERN, &DeleteParams::default()).await?;
    let other = |condition: &OperatorCondition| condition.uid() != made.uid();
    let anew = wait::until(&conditions, LANTERN, "be made anew", other).await?;
    rights_return(&ctx, &anew).await
}

/// Role and RoleBinding come back when they are deleted, and are set right when they are changed.
/// Those that a deleted OperatorCondition owned may be collected at any time: not these.
async fn rights_return(ctx: &TestContext, condition: &OperatorCondition) -> Result<()> {
    let (roles, bindings): (Api<Role>, Api<RoleBinding>) = (ctx.api(), ctx.api());
    let uid = condition.uid().unwrap_or_default();
    let allows = |role: &Role| {
        let rule = role.rules.iter().flatten().next();
        rule.is_some_and(|rule| rule.verbs == ["get", "update", "patch"])
            && is_owned_by_uid(&role.metadata, &uid)
    };
    wait::until(&roles, LANTERN, "allow to write the OperatorCondition", allows).await?;
    let changed = Patch::Merge(json!({"rules": []}));
    roles.patch(LANTERN, &PatchParams::default(), &changed).await?;
    wait::until(&roles, LANTERN, "be set right", allows).await?;
    let named = |binding: &RoleBinding| {
        let accounts = binding.subjects.iter().flatten().count();
        accounts == 2 && is_owned_by_uid(&binding.metadata, &uid)
    };
    let before = wait::until(&bindings, LANTERN, "name the accounts", named).await?;
    bindings.delete(LANTERN, &DeleteParams::default()).await.context("cannot delete")?;
    let other = |binding: &RoleBinding| binding.uid() != before.uid() && named(binding);
    let binding = wait::until(&bindings, LANTERN, "be made anew", other).await?;
    ensure!(binding.role_ref.name == LANTERN, "another role is bound: {:?}", binding.role_ref);
    Ok(())
}
