//! CSVs that cannot be installed as they are.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::{Patch, PatchParams};
use olm_types::api::{ClusterServiceVersion, CsvPhase, OperatorGroup};
use serde_json::{Value, json};

use super::steps::{message, operator, respec, went_through};
use crate::builders;
use crate::e2e::TestContext;
use crate::wait;

/// What the API server refuses is said at the CSV, with its reason. Its neighbour installs, and it
/// does, too, once it is repaired.
pub(super) async fn a_refused_template(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let mislabelled = |spec: &mut Value| {
        spec["template"]["metadata"]["labels"] = json!({"app": "spaces are no label"});
    };
    ctx.create(&operator("mislabelled").deployments(mislabelled).build()).await?;
    let misnamed = builders::csv("misnamed", "1.0.0").deployment("No_Name", "default");
    ctx.create(&misnamed.build()).await?;
    let unknown = |spec: &mut Value| spec["template"]["spec"]["containers"] = json!([]);
    ctx.create(&operator("empty").deployments(unknown).build()).await?;
    ctx.create(&operator("neighbour").build()).await?;
    ctx.succeeded("neighbour").await?;
    for (name, why) in [
        ("mislabelled", "spaces are no label"),
        ("misnamed", "No_Name"),
        ("empty", "spec.template.spec.containers: Required value"),
    ] {
        // Between two tries the CSV is on its way through other phases.
        let reason = "InstallComponentFailed";
        let failed = went_through(&ctx, name, CsvPhase::Failed, reason).await?;
        let text = failed.message.unwrap_or_default();
        ensure!(text.starts_with("install strategy failed: ") && text.contains(why), "{text}");
        let sound = builders::csv(name, "1.0.0").deployment(name, "default");
        respec(&ctx, &sound).await?;
        ctx.succeeded(name).await?;
    }
    Ok(())
}

/// Deployments of one operator: a bundle that holds more of them would hardly fit into an object.
const DEPLOYMENTS: usize = 200;

/// An operator with hundreds of Deployments is installed like any other; its neighbour is there
/// long before.
pub(super) async fn hundreds_of_deployments(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let large = (0..DEPLOYMENTS).fold(builders::csv("large", "1.0.0"), |csv, number| {
        csv.deployment(&format!("large-{number}"), "default")
    });
    let large = large.deployments(|spec| spec["replicas"] = json!(0));
    ctx.create(&large.build()).await?;
    ctx.create(&operator("neighbour").build()).await?;
    ctx.succeeded("neighbour").await?;
    ctx.succeeded("large").await.map(drop)
}

/// With an account in the OperatorGroup, installs are made by that account. What it may not do
/// stops the install, until it may.
pub(super) async fn a_scoped_account(ctx: Arc<TestContext>) -> Result<()> {
    let namespace = ctx.namespace.as_str();
    let account = ctx.create(&builders::service_account(namespace, "scoped")).await?;
    let mut group = builders::operator_group(namespace, "group", &[namespace]);
    group.spec.service_account_name = Some("scoped".to_owned());
    ctx.create(&group).await?;
    wait::until(&ctx.api(), "group", "list its namespaces", |group: &OperatorGroup| {
        group.status.as_ref().is_some_and(|status| !status.namespaces.is_empty())
    })
    .await?;
    refer_to(&ctx, &json!({"metadata": account.metadata})).await?;
    ctx.create(&operator("kettle").build()).await?;
    let reason = "InstallComponentFailedNoRetry";
    let text = message(&ctx, "kettle", CsvPhase::Failed, reason).await?;
    let expected = format!(
        "install strategy failed: install strategy failed: deployments.apps is forbidden: User \
         \"system:serviceaccount:{namespace}:scoped\" cannot create resource"
    );
    ensure!(text.starts_with(&expected), "{text}");
    let (role, binding) = rights(namespace)?;
    ctx.create(&role).await?;
    ctx.create(&binding).await?;
    let csv = ctx.succeeded("kettle").await?;
    let history = csv.status.context("no status")?.conditions;
    let revived = history.iter().any(|past| {
        past.reason.as_deref() == Some("DetectedClusterChange")
            && past.message.as_deref() == Some("Cluster resources changed state")
    });
    ensure!(revived, "{history:?}");
    Ok(())
}

/// Names the account in the group's status, unless it is named already.
async fn refer_to(ctx: &TestContext, account: &Value) -> Result<()> {
    let metadata = &account["metadata"];
    let reference = json!({
        "apiVersion": "v1", "kind": "ServiceAccount", "namespace": metadata["namespace"],
        "name": metadata["name"], "uid": metadata["uid"],
    });
    let patch = Patch::Merge(json!({"status": {"serviceAccountRef": reference}}));
    let groups = ctx.api::<OperatorGroup>();
    let patched = groups.patch_status("group", &PatchParams::default(), &patch).await;
    patched.map(drop).context("cannot name the account in the status of the group")
}

fn rights(namespace: &str) -> Result<(Role, RoleBinding)> {
    let metadata = json!({"name": "scoped", "namespace": namespace});
    let role = json!({
        "metadata": metadata,
        "rules": [{"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["*"]}],
    });
    let binding = json!({
        "metadata": metadata,
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "scoped",
        },
        "subjects": [{"kind": "ServiceAccount", "name": "scoped", "namespace": namespace}],
    });
    Ok((serde_json::from_value(role)?, serde_json::from_value(binding)?))
}

/// Operators that can never be installed: name, and the reason and message of the CSV.
const IMPOSSIBLE: [(&str, &str, &str); 4] = [
    ("helm", "InvalidInstallStrategy", "install strategy invalid: unrecognized install strategy"),
    (
        "verbless",
        "InvalidInstallStrategy",
        "install strategy invalid: rule invalid: policy rule must have at least one verb",
    ),
    (
        "modeless",
        "UnsupportedOperatorGroup",
        "OwnNamespace InstallModeType not supported, cannot configure to watch own namespace",
    ),
    (
        "twice",
        "InvalidInstallModes",
        "InstallMode list contains duplicates, cannot make set: [{OwnNamespace true} \
         {SingleNamespace true} {MultiNamespace true} {AllNamespaces true} {OwnNamespace true}]",
    ),
];

/// A strategy that is unknown, a rule without verbs, install modes that do not fit or stand
/// there twice: the CSV says so, stays so, and nothing is written any more.
pub(super) async fn invalid_csvs(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    ctx.create(&builders::service_account(&ctx.namespace, "sa")).await?;
    let helm = operator("helm").with(|csv| csv.spec.install.strategy = "helm".to_owned());
    let verbless =
        operator("verbless").permission("sa", json!([{"verbs": [], "resources": ["a"]}]));
    let modeless = operator("modeless").install_modes(&[]);
    let twice = operator("twice").with(|csv| {
        let first = csv.spec.install_modes.first().cloned();
        csv.spec.install_modes.extend(first);
    });
    for csv in [helm, verbless, modeless, twice] {
        ctx.create(&csv.build()).await?;
    }
    for (name, reason, expected) in IMPOSSIBLE {
        let text = message(&ctx, name, CsvPhase::Failed, reason).await?;
        ensure!(text == expected, "{name}: {text}");
    }
    ctx.until_idle().await?;
    let none = ctx.api::<ClusterServiceVersion>().get("helm").await?;
    ensure!(none.status.is_some_and(|status| status.phase == CsvPhase::Failed), "helm moved on");
    Ok(())
}
