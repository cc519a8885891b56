//! Users of a namespace get rights on the APIs of an operator by the roles that they have.

use std::sync::Arc;

use anyhow::{Context, Result};
use k8s_openapi::api::rbac::v1::{ClusterRole, RoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use olm_testkit::builders::csv;
use olm_testkit::e2e::TestContext;
use olm_testkit::wait;
use olm_types::api::OperatorGroup;
use serde_json::json;

use super::review::Request;

/// A viewer may read the kinds of an operator once it runs, and no more than that, and nowhere
/// else; roles of the group go when the group goes.
pub async fn users(ctx: Arc<TestContext>) -> Result<()> {
    let kind = ctx.kind("Gadget");
    let crds: Api<CustomResourceDefinition> = Api::all(ctx.client.clone());
    let crd = serde_json::from_value(kind.manifest()).context("a malformed CRD")?;
    crds.create(&PostParams::default(), &crd).await.context("cannot create the CRD")?;
    ctx.create(&viewer(&ctx.namespace)?).await?;
    let name = kind.name();
    let (plural, group) = name.split_once('.').context("a CRD name without a group")?;
    let read = Request {
        user: "reader",
        verb: "list",
        resource: (group, plural),
        namespace: &ctx.namespace,
    };
    read.expect(&ctx.client, false).await?;
    ctx.operator_group().await?;
    let operator = csv("gadget.v1.0.0", "1.0.0").owns(&kind).deployment("gadget", "default");
    ctx.create(&operator.build()).await?;
    ctx.succeeded("gadget.v1.0.0").await?;
    read.expect(&ctx.client, true).await?;
    Request { verb: "delete", ..read }.expect(&ctx.client, false).await?;
    Request { namespace: "default", ..read }.expect(&ctx.client, false).await?;
    roles_of_the_group(&ctx).await
}

/// The group's roles hold the rights on the kind, and go with the group.
async fn roles_of_the_group(ctx: &TestContext) -> Result<()> {
    let roles: Api<ClusterRole> = Api::all(ctx.client.clone());
    let labels = format!("olm.owner.namespace={},olm.owner.kind=OperatorGroup", ctx.namespace);
    let found = roles.list(&ListParams::default().labels(&labels)).await?;
    let names: Vec<String> =
        found.items.into_iter().filter_map(|role| role.metadata.name).collect();
    anyhow::ensure!(names.len() == 3, "the group has other roles than three: {names:?}");
    for name in &names {
        let filled = |role: &ClusterRole| role.rules.iter().flatten().next().is_some();
        wait::until(&roles, name, "hold rights", filled).await?;
    }
    let groups: Api<OperatorGroup> = ctx.api();
    groups.delete("group", &DeleteParams::default()).await.context("cannot delete the group")?;
    for name in &names {
        wait::until_gone(&roles, name).await?;
    }
    Ok(())
}

fn viewer(namespace: &str) -> Result<RoleBinding> {
    let binding = json!({
        "metadata": {"name": "reader", "namespace": namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "reader"}],
    });
    serde_json::from_value(binding).context("a malformed RoleBinding")
}
