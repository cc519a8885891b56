//! Operators that `kubectl operator` installs, upgrades and uninstalls.

use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, PostParams};
use olm_types::api::{
    AppLink, CatalogSource, ClusterServiceVersion, InstallModeType, InstallPlan, Operator,
    OperatorCondition, OperatorGroup, Subscription,
};
use serde_json::json;

use super::client::{Tool, items, text, until};
use super::kubectl_operator::{
    Install, add_catalog, install, list, list_catalogs, remove_catalog, row, upgrade,
};
use super::packages::{Package, list_available};
use super::uninstall::{Strategy, operands, uninstall};
use crate::builders::{self, Bundle};
use crate::e2e::TestContext;
use crate::e2e::scenarios::catalog_images;
use crate::e2e::scenarios::install::operator;
use crate::e2e::scenarios::upgrades::{kettles, stable};
use crate::{packages as served, wait};

const OLD: &str = "kettle.v1.0.0";
const NEW: &str = "kettle.v1.1.0";

/// What `describe` prints of the kettle.
const DESCRIBED: &str = "\
== Package ==
A kettle 1.1.0 (by The kitchen)

== Repository ==
https://example.com/kettle

== Catalog ==
kitchen

== Channels ==
stable (default) (shown)

== Install Modes ==
MultiNamespace
OwnNamespace

== Description ==
Boils water

== Long Description ==
# Kettle
";

/// The commands one after the other, with `--delete-all` at the end; nothing is left.
pub(super) async fn from_install_to_uninstall(ctx: Arc<TestContext>) -> Result<()> {
    let tool = begin(&ctx).await?;
    let package = Package::with_version(&tool, "kettle", "1.1.0").await?;
    ensure!(package.described("")? == DESCRIBED, "{}", package.described("")?);
    ensure!(list_available(&tool, "kitchen").await? == ["kettle kitchen"]);

    let wanted = Install {
        package: "kettle",
        channel: "stable",
        version: Some("1.0.0"),
        approval: "Manual",
        watch: &[],
    };
    let csv = install(&tool, &wanted).await?;
    ensure!(csv.name_any() == OLD, "installed csv is {}", csv.name_any());
    listed(&tool, "kettle kettle kettle.v1.0.0 kettle.v1.1.0 UpgradePending").await?;
    let csv = upgrade(&tool, "kettle").await?;
    ensure!(csv.name_any() == NEW, "installed csv is {}", csv.name_any());
    listed(&tool, "kettle kettle kettle.v1.1.0 kettle.v1.1.0 AtLatestKnown").await?;
    refused(upgrade(&tool, "kettle").await, "already at latest version")?;
    ctx.succeeded(NEW).await?;

    lists_its_csv(&tool, NEW).await?;
    let blue = a_kettle(&ctx, &ctx.namespace, "blue").await?;
    refused(uninstall(&tool, "kettle", Strategy::Abort).await, "operands exist")?;
    uninstall(&tool, "kettle", Strategy::DeleteAll).await?;
    ensure!(blue.get_opt("blue").await.ok().flatten().is_none(), "the kettle is left");
    nothing_is_left(&tool).await?;
    remove_catalog(&tool, "kitchen").await
}

/// The default channel with Automatic approval, in two namespaces of which the operator is copied into
/// one; without flags `uninstall` leaves what users have, and the operator can come again.
pub(super) async fn for_two_namespaces(ctx: Arc<TestContext>) -> Result<()> {
    let tool = begin(&ctx).await?;
    // It stands before that of the operator in every sorted list.
    let other = format!("a-{}", ctx.namespace);
    let namespaces: Api<Namespace> = Api::all(ctx.client.clone());
    namespaces.create(&PostParams::default(), &builders::namespace(&other)).await?;
    Package::with_version(&tool, "kettle", "1.1.0").await?;
    let wanted = Install {
        package: "kettle",
        channel: "",
        version: None,
        approval: "Automatic",
        watch: &[&ctx.namespace, &other],
    };
    let csv = install(&tool, &wanted).await?;
    ensure!(csv.name_any() == NEW, "installed csv is {}", csv.name_any());
    listed(&tool, "kettle kettle kettle.v1.1.0 kettle.v1.1.0 AtLatestKnown").await?;
    ctx.succeeded(NEW).await?;
    let copies: Api<ClusterServiceVersion> = Api::namespaced(ctx.client.clone(), &other);
    wait::until(&copies, NEW, "be copied", |_: &ClusterServiceVersion| true).await?;

    let red = a_kettle(&ctx, &other, "red").await?;
    lists_its_csv(&tool, NEW).await?;
    let found = operands(&tool, "kettle").await?;
    let names: Vec<_> = found.iter().map(|(_, one)| one.name_any()).collect();
    ensure!(names == ["red"], "there are the kettles {names:?}");
    uninstall(&tool, "kettle", Strategy::Ignore).await?;
    wait::until_gone(&copies, NEW).await?;
    red.get("red").await.context("the kettle of a user is gone")?;
    let crds: Api<CustomResourceDefinition> = Api::all(ctx.client.clone());
    crds.get(&kettles(&ctx).name()).await.context("the kind is gone")?;

    install(&tool, &wanted).await?;
    ctx.succeeded(NEW).await?;
    listed(&tool, "kettle kettle kettle.v1.1.0 kettle.v1.1.0 AtLatestKnown").await?;
    lists_its_csv(&tool, NEW).await?;
    uninstall(&tool, "kettle", Strategy::DeleteAll).await?;
    nothing_is_left(&tool).await?;
    namespaces.delete(&other, &DeleteParams::default()).await?;
    Ok(())
}

/// A catalog image is added, its packages are listed with their catalog, and with it they go.
pub(super) async fn a_catalog(ctx: Arc<TestContext>) -> Result<()> {
    let tool = Tool::new(&ctx, "kubectl-operator");
    let image = catalog_images::push(&ctx, &["1.0.0"]).await?;
    // The images of these tests hold a catalog and nothing that serves it.
    let extracted = json!({
        "grpcPodConfig": {"extractContent": {"catalogDir": "/configs"}},
    });
    add_catalog(&tool, "kitchen", &image, &extracted).await?;
    ensure!(list_catalogs(&tool).await? == ["kitchen Kitchen grpc the cook"]);
    Package::with_version(&tool, "kettle", "1.0.0").await?;
    ensure!(list_available(&tool, "kitchen").await? == ["kettle Kitchen"]);
    remove_catalog(&tool, "kitchen").await?;
    let packages = tool.api::<olm_types::api::PackageManifest>();
    until(&packages, "kettle", "go with its catalog", |found| found.is_none()).await?;
    ensure!(list_available(&tool, "kitchen").await?.is_empty());
    Ok(())
}

/// Serves two versions of the kettle.
async fn begin(ctx: &TestContext) -> Result<Tool<'_>> {
    served::until_available(&ctx.client).await?;
    let versions = [kettle(ctx, "1.0.0"), kettle(ctx, "1.1.0").replaces(OLD)];
    ctx.catalog("kitchen", &stable(&versions)).await?;
    Ok(Tool::new(ctx, "kubectl-operator"))
}

/// A version that describes itself to people and may not watch the whole cluster.
fn kettle(ctx: &TestContext, version: &str) -> Bundle {
    let kind = kettles(ctx);
    let csv = operator("kettle", version, &kind)
        .install_modes(&[InstallModeType::OwnNamespace, InstallModeType::MultiNamespace])
        .description("# Kettle".to_owned())
        .with(|csv| {
            csv.spec.display_name = "A kettle".to_owned();
            csv.spec.provider =
                Some(AppLink { name: Some("The kitchen".to_owned()), ..AppLink::default() });
            let annotations =
                [("repository", "https://example.com/kettle"), ("description", "Boils water")];
            let annotations = annotations.map(|(key, text)| (key.to_owned(), text.to_owned()));
            csv.annotations_mut().extend(annotations);
        });
    Bundle::new(version, &csv).provides(&kind)
}

/// Makes a kettle, as users of the operator do; gives those of its namespace.
async fn a_kettle(ctx: &TestContext, namespace: &str, name: &str) -> Result<Api<DynamicObject>> {
    let gvk = GroupVersionKind::gvk(&format!("{}.example.com", ctx.namespace), "v1", "Kettle");
    let resource = ApiResource::from_gvk(&gvk);
    let api = Api::namespaced_with(ctx.client.clone(), namespace, &resource);
    let made = api.create(&PostParams::default(), &DynamicObject::new(name, &resource)).await;
    made.context("cannot make a kettle")?;
    Ok(api)
}

/// Waits until `list` prints a row, and nothing else.
async fn listed(tool: &Tool<'_>, expected: &str) -> Result<()> {
    let what = format!("be listed as {expected:?}");
    let is_expected = |found: Option<&DynamicObject>| found.is_some_and(|one| row(one) == expected);
    until(&tool.api::<Subscription>(), "kettle", &what, is_expected).await?;
    let rows = list(tool).await?;
    ensure!(rows == [expected], "{rows:?}");
    Ok(())
}

/// Waits until the Operator lists this CSV and no other, as Succeeded: the tool believes the first one.
async fn lists_its_csv(tool: &Tool<'_>, csv: &str) -> Result<()> {
    let name = format!("kettle.{}", tool.namespace());
    let lists = |found: Option<&DynamicObject>| {
        let parts = found.map_or(&[][..], |one| items(&one.data, "/status/components/refs"));
        let csvs = parts.iter().filter(|part| part["kind"] == "ClusterServiceVersion");
        let reported = csvs.map(|part| (&part["name"], &part["conditions"][0]["type"]));
        reported.eq([(&json!(csv), &json!("Succeeded"))])
    };
    let operators = tool.cluster_api::<Operator>();
    until(&operators, &name, &format!("list {csv}"), lists).await.map(drop)
}

fn refused<T>(answer: Result<T>, why: &str) -> Result<()> {
    match answer {
        Ok(_) => bail!("it should be refused: {why}"),
        Err(error) => {
            ensure!(format!("{error:#}").contains(why), "{error:#}");
            Ok(())
        }
    }
}

/// The operator goes, and with it all that was made for it; nothing of it comes back.
async fn nothing_is_left(tool: &Tool<'_>) -> Result<()> {
    let ctx = tool.ctx;
    ensure!(tool.list::<Subscription>().await?.is_empty(), "there is a Subscription");
    ensure!(tool.list::<ClusterServiceVersion>().await?.is_empty(), "there is a CSV");
    ensure!(tool.list::<OperatorGroup>().await?.is_empty(), "there is an OperatorGroup");
    // The garbage collector of the cluster comes a little later.
    tool.until_none::<InstallPlan>().await?;
    tool.until_none::<Deployment>().await?;
    tool.until_none::<OperatorCondition>().await?;
    tool.until_none::<Role>().await?;
    tool.until_none::<RoleBinding>().await?;
    ctx.until_idle().await?;
    ensure!(tool.list::<ClusterServiceVersion>().await?.is_empty(), "the CSV is back");
    ensure!(tool.list::<InstallPlan>().await?.is_empty(), "an InstallPlan is back");
    let crds = tool.cluster_api::<CustomResourceDefinition>();
    ensure!(crds.get_opt(&kettles(ctx).name()).await?.is_none(), "the kind is back");
    let operators = tool.cluster_api::<Operator>();
    let operator = operators.get_opt(&format!("kettle.{}", tool.namespace())).await?;
    let status = operator.map(|one| one.data["status"].to_string());
    ensure!(status.is_none(), "the Operator is back: {status:?}");
    let catalogs = tool.list::<CatalogSource>().await?;
    let names: Vec<_> = catalogs.iter().map(|one| text(one, "/spec/displayName")).collect();
    ensure!(names == ["kitchen"], "there are the catalogs {names:?}");
    Ok(())
}
