//! A group that names its targets: the operator is seen and may work there, and nowhere else.

use std::sync::Arc;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use olm_testkit::builders::{self, csv};
use olm_testkit::e2e::TestContext;
use olm_testkit::e2e::context::same;
use olm_testkit::wait;
use olm_types::api::{ClusterServiceVersion, OperatorGroup};
use serde_json::{Value, json};

use super::review::Request;

const CSV: &str = "farm.v1.0.0";

/// Copy and rights come with the target, and go with it.
pub async fn targets(ctx: Arc<TestContext>) -> Result<()> {
    let home = ctx.namespace.as_str();
    let target = format!("{home}-target");
    let namespaces: Api<Namespace> = Api::all(ctx.client.clone());
    namespaces.create(&PostParams::default(), &builders::namespace(&target)).await?;
    ctx.create(&builders::operator_group(home, "group", &[home, &target])).await?;
    ctx.create(&builders::service_account(home, "farmer")).await?;
    let operator = csv(CSV, "1.0.0").deployment("farm", "farmer").permission("farmer", rules());
    let made = ctx.create(&operator.build()).await?;
    grant(&ctx, made.metadata.uid.as_deref().unwrap_or_default()).await?;
    ctx.succeeded(CSV).await?;
    let account = format!("system:serviceaccount:{home}:farmer");
    let work =
        Request { user: &account, verb: "get", resource: ("", "configmaps"), namespace: &target };
    let copies: Api<ClusterServiceVersion> = Api::namespaced(ctx.client.clone(), &target);
    let copied = |csv: &ClusterServiceVersion| {
        let status = csv.status.as_ref();
        status.is_some_and(|status| status.reason.as_deref() == Some("Copied"))
    };
    let copy = wait::until(&copies, CSV, "be a copy in step", copied).await?;
    let expected = format!("The operator is running in {home} but is managing this namespace");
    same(copy.status.and_then(|status| status.message).as_deref(), &expected)?;
    work.expect(&ctx.client, true).await?;
    Request { namespace: "default", ..work }.expect(&ctx.client, false).await?;
    a_deleted_copy_returns(&copies).await?;
    work.expect(&ctx.client, true).await?;
    retarget(&ctx, &[home]).await?;
    wait::until_gone(&copies, CSV).await?;
    work.expect(&ctx.client, false).await?;
    namespaces.delete(&target, &DeleteParams::default()).await?;
    wait::until_gone(&namespaces, &target).await
}

async fn a_deleted_copy_returns(copies: &Api<ClusterServiceVersion>) -> Result<()> {
    let before = copies.get(CSV).await?.metadata.uid;
    copies.delete(CSV, &DeleteParams::default()).await.context("cannot delete the copy")?;
    let other = |csv: &ClusterServiceVersion| csv.metadata.uid != before;
    wait::until(copies, CSV, "be made anew", other).await.map(drop)
}

async fn retarget(ctx: &TestContext, targets: &[&str]) -> Result<()> {
    let groups: Api<OperatorGroup> = ctx.api();
    let patch = Patch::Merge(json!({"spec": {"targetNamespaces": targets}}));
    let changed = groups.patch("group", &PatchParams::default(), &patch).await;
    changed.map(drop).context("cannot change the group")
}

fn rules() -> Value {
    json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}])
}

/// Role and RoleBinding as an InstallPlan would make them.
async fn grant(ctx: &TestContext, uid: &str) -> Result<()> {
    let home = &ctx.namespace;
    let metadata = json!({
        "name": "farm-rights", "namespace": home,
        "labels": {
            "olm.owner": CSV, "olm.owner.namespace": home,
            "olm.owner.kind": "ClusterServiceVersion", "olm.managed": "true",
        },
        "ownerReferences": [{
            "apiVersion": ClusterServiceVersion::API_VERSION, "kind": ClusterServiceVersion::KIND,
            "name": CSV, "uid": uid,
        }],
    });
    let role: Role = serde_json::from_value(json!({"metadata": metadata, "rules": rules()}))?;
    ctx.create(&role).await?;
    let binding: RoleBinding = serde_json::from_value(json!({
        "metadata": metadata,
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "farm-rights",
        },
        "subjects": [{"kind": "ServiceAccount", "name": "farmer", "namespace": home}],
    }))?;
    ctx.create(&binding).await.map(drop)
}
