//! `kubectl operator uninstall` and `list-operands` (operator-framework/kubectl-operator, v0 actions):
//! what they read, delete and expect to vanish, in their order.

use anyhow::{Context, Result, ensure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, ListParams};
use kube::{Resource, ResourceExt};
use olm_types::api::{ClusterServiceVersion, Operator, OperatorGroup, Subscription};
use serde_json::Value;

use super::client::{Tool, items, text, until};
use super::kubectl_operator::subscription_for;

/// What becomes of the objects of the operator's kinds (`--operand-strategy`), and of what else is
/// there (`--delete-all`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    /// As without flags: nothing is deleted while there are such objects.
    Abort,
    /// They stay.
    Ignore,
    /// They go, then all that the Operator lists, the Operator, and the groups of the namespace.
    DeleteAll,
}

/// An object, and where others of its kind are.
type Found = (Api<DynamicObject>, DynamicObject);

/// `uninstall PACKAGE`.
pub(super) async fn uninstall(tool: &Tool<'_>, package: &str, strategy: Strategy) -> Result<()> {
    let subscription = subscription_for(tool, package).await?;
    let csvs = tool.api::<ClusterServiceVersion>();
    let csv = match csv_of(&subscription) {
        "" => None,
        name => csvs.get_opt(name).await.context("cannot read the CSV")?,
    };
    let operands = operands(tool, package).await?;
    ensure!(
        operands.is_empty() || strategy != Strategy::Abort,
        "operand deletion aborted: one or more operands exist and operand strategy is abort"
    );
    tool.delete_and_wait(&tool.api::<Subscription>(), &subscription.name_any()).await?;
    if let Some(csv) = csv {
        for (api, operand) in operands.iter().filter(|_| strategy == Strategy::DeleteAll) {
            tool.delete_and_wait(api, &operand.name_any()).await?;
        }
        tool.delete_and_wait(&csvs, &csv.name_any()).await?;
    }
    if strategy == Strategy::DeleteAll {
        delete_operator(tool, package).await?;
        delete_operator_groups(tool).await?;
    }
    Ok(())
}

/// `list-operands PACKAGE`: the objects of the kinds that the CSV in the Operator's list owns, in the
/// namespaces of the only group.
pub(super) async fn operands(tool: &Tool<'_>, package: &str) -> Result<Vec<Found>> {
    let operator = tool.cluster_api::<Operator>().get(&operator_name(tool, package)).await;
    let operator = operator.with_context(|| format!("package {package:?} not found"))?;
    let mut parts = refs(&operator)?.iter();
    let csv = parts.find(|part| part["kind"] == "ClusterServiceVersion");
    let csv = csv.context("could not find underlying CSV for operator")?;
    ensure!(csv["namespace"] == tool.namespace(), "the first CSV is a copy: {csv}");
    let name = csv["name"].as_str().unwrap_or_default();
    let csv = tool.api::<ClusterServiceVersion>().get(name).await;
    let csv = csv.context("could not get the CSV")?;
    ensure!(text(&csv, "/status/phase") == "Succeeded", "the CSV is not in a succeeded state");
    let groups = tool.list::<OperatorGroup>().await?;
    ensure!(groups.len() == 1, "unexpected number ({}) of operator groups", groups.len());
    let namespaces = items(&groups[0].data, "/status/namespaces");
    let mut found = Vec::new();
    for owned in items(&csv.data, "/spec/customresourcedefinitions/owned") {
        found.extend(objects_of(tool, owned, namespaces).await?);
    }
    Ok(found)
}

/// The objects of a kind that a CSV describes, in some namespaces.
async fn objects_of(tool: &Tool<'_>, owned: &Value, namespaces: &[Value]) -> Result<Vec<Found>> {
    let field = |name: &str| owned[name].as_str().unwrap_or_default().to_owned();
    let crd = tool.cluster_api::<CustomResourceDefinition>().get(&field("name")).await?;
    let group = text(&crd, "/spec/group");
    let gvk = GroupVersionKind::gvk(group, &field("version"), text(&crd, "/spec/names/kind"));
    let resource = ApiResource::from_gvk_with_plural(&gvk, text(&crd, "/spec/names/plural"));
    let client = &tool.ctx.client;
    let all: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let is_theirs = |one: &DynamicObject| {
        let home = one.namespace().unwrap_or_default();
        namespaces.iter().filter_map(Value::as_str).any(|name| name.is_empty() || name == home)
    };
    let objects = all.list(&ListParams::default()).await?.items.into_iter().filter(is_theirs);
    let placed = objects.map(|one| {
        let home = one.namespace().unwrap_or_default();
        (Api::namespaced_with(client.clone(), &home, &resource), one)
    });
    Ok(placed.collect())
}

/// Deletes what an Operator lists, waits until each is gone and the list is empty, and deletes the
/// Operator, which must stay gone.
async fn delete_operator(tool: &Tool<'_>, package: &str) -> Result<()> {
    let (operators, name) = (tool.cluster_api::<Operator>(), operator_name(tool, package));
    let Some(operator) = operators.get_opt(&name).await? else { return Ok(()) };
    let parts = refs(&operator)?;
    for part in parts {
        let (api, name) = part_of(tool, part)?;
        tool.delete(&api, &name).await?;
    }
    for part in parts {
        let (api, name) = part_of(tool, part)?;
        until(&api, &name, "be gone", |found| found.is_none()).await?;
    }
    until(&operators, &name, "list no parts", |found| {
        found.is_none_or(|one| items(&one.data, "/status/components/refs").is_empty())
    })
    .await?;
    tool.delete_and_wait(&operators, &name).await
}

/// An object that an Operator lists.
fn part_of(tool: &Tool<'_>, part: &Value) -> Result<(Api<DynamicObject>, String)> {
    let field = |name: &str| part[name].as_str().unwrap_or_default();
    let (group, version) = field("apiVersion").split_once('/').unwrap_or(("", field("apiVersion")));
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, field("kind")));
    let client = tool.ctx.client.clone();
    ensure!(!field("name").is_empty(), "a part without a name: {part}");
    let api = match field("namespace") {
        "" => Api::all_with(client, &resource),
        namespace => Api::namespaced_with(client, namespace, &resource),
    };
    Ok((api, field("name").to_owned()))
}

/// Without a Subscription in the namespace its groups go.
async fn delete_operator_groups(tool: &Tool<'_>) -> Result<()> {
    if tool.list::<Subscription>().await?.is_empty() {
        for group in tool.list::<OperatorGroup>().await? {
            tool.delete_and_wait(&tool.api::<OperatorGroup>(), &group.name_any()).await?;
        }
    }
    Ok(())
}

/// What an Operator lists. The tool ends with a failure of its own where there is no list at all.
fn refs(operator: &DynamicObject) -> Result<&[Value]> {
    let components = operator.data.pointer("/status/components");
    components.with_context(|| format!("{} without a list", Operator::kind(&())))?;
    Ok(items(&operator.data, "/status/components/refs"))
}

fn csv_of(subscription: &DynamicObject) -> &str {
    match text(subscription, "/status/installedCSV") {
        "" => text(subscription, "/status/currentCSV"),
        installed => installed,
    }
}

fn operator_name(tool: &Tool<'_>, package: &str) -> String {
    format!("{package}.{}", tool.namespace())
}
