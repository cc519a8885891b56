//! The commands of `kubectl operator` (operator-framework/kubectl-operator, v0 actions): what each
//! writes and awaits, in its order.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use kube::ResourceExt;
use kube::api::DynamicObject;
use olm_types::api::{
    CatalogSource, ClusterServiceVersion, InstallPlan, OperatorGroup, Subscription,
};
use serde_json::{Value, json};

use super::client::{Tool, items, text, until};
use super::packages::{Package, modes_of};

/// What a user says to `install`; the approval is Manual unless they say otherwise.
pub(super) struct Install<'a> {
    pub(super) package: &'a str,
    /// `--channel`; the default one when empty.
    pub(super) channel: &'a str,
    /// `--version`.
    pub(super) version: Option<&'a str>,
    /// `--approval`.
    pub(super) approval: &'a str,
    /// `--watch`.
    pub(super) watch: &'a [&'a str],
}

/// `catalog add NAME IMAGE`: a CatalogSource, awaited until it is READY. `more` is what the tool does
/// not write.
pub(super) async fn add_catalog(
    tool: &Tool<'_>,
    name: &str,
    image: &str,
    more: &Value,
) -> Result<()> {
    let mut spec = json!({
        "sourceType": "grpc",
        "image": image,
        "displayName": "Kitchen",
        "publisher": "the cook",
        "icon": {"base64data": "", "mediatype": ""},
    });
    if let (Some(spec), Some(more)) = (spec.as_object_mut(), more.as_object()) {
        spec.extend(more.clone());
    }
    let catalog = tool.object::<CatalogSource>(name, json!({"spec": spec, "status": {}}));
    tool.create::<CatalogSource>(&catalog).await?;
    until(&tool.api::<CatalogSource>(), name, "be READY", |found| {
        found.is_some_and(|one| text(one, "/status/connectionState/lastObservedState") == "READY")
    })
    .await
    .map(drop)
}

/// `catalog list`: name, displayed name, type and publisher of each.
pub(super) async fn list_catalogs(tool: &Tool<'_>) -> Result<Vec<String>> {
    let fields = ["/spec/displayName", "/spec/sourceType", "/spec/publisher"];
    let row = |one: &DynamicObject| {
        format!("{} {}", one.name_any(), fields.map(|field| text(one, field)).join(" "))
    };
    Ok(tool.list::<CatalogSource>().await?.iter().map(row).collect())
}

/// `catalog remove NAME`.
pub(super) async fn remove_catalog(tool: &Tool<'_>, name: &str) -> Result<()> {
    tool.delete_and_wait(&tool.api::<CatalogSource>(), name).await
}

/// `install PACKAGE --create-operator-group`: gives the CSV that the tool says is installed.
pub(super) async fn install(tool: &Tool<'_>, wanted: &Install<'_>) -> Result<DynamicObject> {
    let package = Package::get(tool, wanted.package).await?;
    let channel = package.channel(wanted.channel)?;
    ensure_operator_group(tool, wanted.watch, &modes_of(channel)).await?;
    tool.create::<Subscription>(&subscription(tool, wanted, &package, channel)?).await?;
    let name = wanted.package;
    let has_plan =
        |found: Option<&DynamicObject>| found.is_some_and(|one| !plan_of(one).is_empty());
    let subscription =
        until(&tool.api::<Subscription>(), name, "have an InstallPlan", has_plan).await?;
    let subscription = subscription.context("the Subscription is gone")?;
    let namespace = text(&subscription, "/status/installPlanRef/namespace");
    ensure!(namespace == tool.namespace(), "the plan is in {namespace:?}");
    if wanted.approval == "Manual" {
        approve(tool, plan_of(&subscription)).await?;
    }
    csv_of(tool, plan_of(&subscription)).await
}

/// `upgrade PACKAGE`: approves the plan that the Subscription names.
pub(super) async fn upgrade(tool: &Tool<'_>, package: &str) -> Result<DynamicObject> {
    let subscription = subscription_for(tool, package).await?;
    ensure!(!plan_of(&subscription).is_empty(), "subscription does not reference an install plan");
    let [installed, current] = ["/status/installedCSV", "/status/currentCSV"];
    ensure!(
        text(&subscription, installed) != text(&subscription, current),
        "operator is already at latest version"
    );
    approve(tool, plan_of(&subscription)).await?;
    csv_of(tool, plan_of(&subscription)).await
}

/// `list`: package, Subscription, installed and current CSV, state of each.
pub(super) async fn list(tool: &Tool<'_>) -> Result<Vec<String>> {
    Ok(tool.list::<Subscription>().await?.iter().map(row).collect())
}

/// What `list` prints of a Subscription.
pub(super) fn row(subscription: &DynamicObject) -> String {
    let status = ["/status/installedCSV", "/status/currentCSV", "/status/state"];
    let status = status.map(|field| text(subscription, field)).join(" ");
    format!("{} {} {status}", text(subscription, "/spec/name"), subscription.name_any())
}

/// The Subscription to a package.
pub(super) async fn subscription_for(tool: &Tool<'_>, package: &str) -> Result<DynamicObject> {
    let mut all = tool.list::<Subscription>().await?.into_iter();
    let found = all.find(|one| text(one, "/spec/name") == package);
    found.with_context(|| format!("package {package:?} not found"))
}

/// The only group of the namespace fits, or there is none and one is made: of the whole cluster where
/// that fits, else of the namespace, else of those that the user named.
async fn ensure_operator_group(
    tool: &Tool<'_>,
    watch: &[&str],
    supported: &BTreeSet<&str>,
) -> Result<()> {
    let wanted = modes_for(tool, watch);
    let fitting: BTreeSet<&str> = supported.intersection(&wanted).copied().collect();
    ensure!(!fitting.is_empty(), "the operator supports {supported:?}, wanted are {wanted:?}");
    let groups = tool.list::<OperatorGroup>().await?;
    if let Some(group) = groups.first() {
        ensure!(groups.len() == 1, "the namespace has more than one operator group");
        let targets = items(&group.data, "/status/namespaces").iter().filter_map(Value::as_str);
        let of_group = modes_for(tool, &targets.collect::<Vec<_>>());
        ensure!(fitting.intersection(&of_group).next().is_some(), "the group is for {of_group:?}");
        return Ok(());
    }
    let spec = match () {
        () if fitting.contains("AllNamespaces") => json!({}),
        () if fitting.contains("OwnNamespace") => json!({"targetNamespaces": [tool.namespace()]}),
        () => json!({"targetNamespaces": watch}),
    };
    let content = json!({"spec": spec, "status": {"lastUpdated": null}});
    let group = tool.object::<OperatorGroup>(tool.namespace(), content);
    tool.create::<OperatorGroup>(&group).await.map(drop)
}

/// The install modes with which these namespaces can be watched.
fn modes_for(tool: &Tool<'_>, namespaces: &[&str]) -> BTreeSet<&'static str> {
    let modes: &[&str] = match namespaces {
        [] => &["AllNamespaces", "OwnNamespace"],
        [""] => &["AllNamespaces"],
        [one] if *one == tool.namespace() => &["OwnNamespace"],
        [_] => &["SingleNamespace"],
        _ => &["MultiNamespace"],
    };
    modes.iter().copied().collect()
}

fn subscription(
    tool: &Tool<'_>,
    wanted: &Install<'_>,
    package: &Package,
    channel: &Value,
) -> Result<DynamicObject> {
    let [source, namespace] = package.catalog();
    let mut spec = json!({
        "name": wanted.package, "source": source, "sourceNamespace": namespace,
        "installPlanApproval": wanted.approval,
    });
    if !wanted.channel.is_empty() {
        spec["channel"] = json!(wanted.channel);
    }
    if let Some(version) = wanted.version {
        let mut entries = items(channel, "/entries").iter();
        let entry = entries.find(|entry| entry["version"] == version);
        let entry =
            entry.with_context(|| format!("version {version:?} not found in the channel"))?;
        spec["startingCSV"] = entry["name"].clone();
    }
    let content = json!({"spec": spec, "status": {"lastUpdated": null}});
    Ok(tool.object::<Subscription>(wanted.package, content))
}

/// The name of the InstallPlan of a Subscription; empty when it has none.
pub(super) fn plan_of(subscription: &DynamicObject) -> &str {
    text(subscription, "/status/installPlanRef/name")
}

/// Approves a plan by writing all of it.
pub(super) async fn approve(tool: &Tool<'_>, plan: &str) -> Result<()> {
    let approved = tool.update::<InstallPlan>(plan, |plan| {
        plan.data["spec"]["approved"] = json!(true);
    });
    approved.await.map(drop)
}

/// Waits until a plan is Complete; the CSV that its last such step names is there at once.
async fn csv_of(tool: &Tool<'_>, plan: &str) -> Result<DynamicObject> {
    let is_complete = |found: Option<&DynamicObject>| {
        found.is_some_and(|one| text(one, "/status/phase") == "Complete")
    };
    let plan = until(&tool.api::<InstallPlan>(), plan, "be Complete", is_complete).await?;
    let plan = plan.context("the plan is gone")?;
    let steps = items(&plan.data, "/status/plan").iter().map(|step| &step["resource"]);
    let csvs = steps.filter(|resource| resource["kind"] == "ClusterServiceVersion");
    let name = csvs.filter_map(|resource| resource["name"].as_str()).next_back();
    let name = name.context("could not find installed CSV in install plan")?;
    let csv = tool.api::<ClusterServiceVersion>().get(name).await;
    csv.with_context(|| format!("the plan is Complete without {name}"))
}
