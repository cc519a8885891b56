//! Bundles that `operator-sdk` runs, upgrades and cleans up.

use std::fs;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::Api;
use olm_types::api::{
    CatalogSource, ClusterServiceVersion, InstallModeType, InstallPlan, OperatorGroup, Subscription,
};
use olm_types::hash::unpack_name;
use serde_json::{Value, json};

use super::client::{Tool, text, until};
use super::operator_sdk::{
    BundleImage, Registry, clean_up, content_dir, run_bundle, upgrade_bundle,
};
use crate::builders::{Bundle, CatalogDir, IMAGE, Package};
use crate::e2e::TestContext;
use crate::e2e::scenarios::install::operator;
use crate::e2e::scenarios::upgrades::kettles;
use crate::oci::{self, Image};
use crate::operators::Operator;
use crate::wait;

const OLD: &str = "kettle.v1.0.0";
const NEW: &str = "kettle.v1.1.0";
const CATALOG: &str = "kettle-catalog";

/// Another process serves what the tool's Pods would.
pub(super) async fn through_the_api(ctx: Arc<TestContext>) -> Result<()> {
    let tool = Tool::new(&ctx, "operator-sdk");
    let versions = [kettle(&ctx, "1.0.0"), kettle(&ctx, "1.1.0").replaces(OLD)];
    let mut registries = Vec::new();
    for (name, offered) in [("first", &versions[..1]), ("second", &versions[..])] {
        let content = ctx.content(&[package(offered)])?;
        let registry = beside(&ctx, &content)?;
        let address = Some(ctx.registry(name, content).await?);
        registries.push(Registry { address, ..registry });
    }
    let [first, second] = registries.as_slice() else { unreachable!("two were made") };
    run_bundle(&tool, &bundle("1.0.0", "quay.io/kitchen/kettle:v1.0.0"), first).await?;
    is_sound(&tool, first.address.as_deref()).await?;
    let next = bundle("1.1.0", "quay.io/kitchen/kettle:v1.1.0");
    let upgraded = upgrade_bundle(&tool, &next, second).await;
    ctx.catalog_dies("first").await?;
    upgraded?;
    upgraded_and_cleaned(&tool, second.address.as_deref()).await
}

/// On a node the tool's Pods serve, and the bundles come out of their images, for which the catalog
/// names a pull secret without a name.
pub(super) async fn on_a_node(ctx: Arc<TestContext>) -> Result<()> {
    let tool = Tool::new(&ctx, "operator-sdk");
    let old = push(&ctx, kettle(&ctx, "1.0.0"), "1.0.0").await?;
    let new = push(&ctx, kettle(&ctx, "1.1.0").replaces(OLD), "1.1.0").await?;
    let [old_image, new_image] = [&old, &new].map(|one| one.1.clone());
    let first = served(&ctx, std::slice::from_ref(&old.0)).await?;
    run_bundle(&tool, &bundle("1.0.0", &old_image), &first).await?;
    let job: Job = ctx.api().get(&unpack_name(&old_image)).await.context("no Job unpacked it")?;
    let pod = job.spec.and_then(|spec| spec.template.spec).unwrap_or_default();
    let secrets = pod.image_pull_secrets.unwrap_or_default();
    ensure!(secrets.iter().map(|one| one.name.as_str()).eq([""]), "{secrets:?}");
    is_sound(&tool, None).await?;
    let second = served(&ctx, &[old.0, new.0]).await?;
    upgrade_bundle(&tool, &bundle("1.1.0", &new_image), &second).await?;
    upgraded_and_cleaned(&tool, None).await
}

/// The new version has taken over; after `cleanup` nothing is there, and nothing comes back.
async fn upgraded_and_cleaned(tool: &Tool<'_>, address: Option<&str>) -> Result<()> {
    let ctx = tool.ctx;
    wait::until_gone(&ctx.api::<ClusterServiceVersion>(), OLD).await?;
    ctx.at_latest("kettle-v1-0-0-sub", NEW).await?;
    is_sound(tool, address).await?;
    clean_up(tool, "kettle").await?;
    tool.until_none::<Pod>().await?;
    tool.until_none::<Deployment>().await?;
    tool.until_none::<InstallPlan>().await?;
    tool.until_none::<OperatorGroup>().await?;
    let map = format!("{CATALOG}-configmap-partition-1");
    wait::until_gone(&ctx.api::<ConfigMap>(), &map).await?;
    ctx.until_idle().await?;
    let csvs = tool.list::<ClusterServiceVersion>().await?;
    let subscriptions = tool.list::<Subscription>().await?;
    ensure!(csvs.is_empty() && subscriptions.is_empty(), "the operator is back");
    let crds: Api<CustomResourceDefinition> = Api::all(ctx.client.clone());
    ensure!(crds.get_opt(&kettles(ctx).name()).await?.is_none(), "the kind is back");
    Ok(())
}

/// Once it has a type and an address the catalog is READY there, and says nothing of the time before.
async fn is_sound(tool: &Tool<'_>, address: Option<&str>) -> Result<()> {
    let catalogs = tool.api::<CatalogSource>();
    let sound = until(&catalogs, CATALOG, "be READY where it is", |found| {
        found.is_some_and(|one| {
            let asked = text(one, "/status/connectionState/address");
            text(one, "/status/connectionState/lastObservedState") == "READY"
                && asked == text(one, "/spec/address")
        })
    });
    let sound = sound.await?.context("the catalog is gone")?;
    let said = ["/status/reason", "/status/message"].map(|field| text(&sound, field));
    ensure!(said == ["", ""], "{said:?}");
    let expected = address.is_none_or(|address| text(&sound, "/spec/address") == address);
    ensure!(expected, "another address: {}", sound.data["spec"]);
    Ok(())
}

fn bundle(version: &str, image: &str) -> BundleImage {
    BundleImage {
        image: image.to_owned(),
        package: "kettle".to_owned(),
        channel: "stable".to_owned(),
        csv: format!("kettle.v{version}"),
        everywhere: false,
    }
}

/// A version that may watch its own namespace only.
fn kettle(ctx: &TestContext, version: &str) -> Bundle {
    let kind = kettles(ctx);
    let csv = operator("kettle", version, &kind).install_modes(&[InstallModeType::OwnNamespace]);
    Bundle::new(version, &csv).provides(&kind)
}

fn package(versions: &[Bundle]) -> Package {
    Package::new("kettle").channel("stable", versions.to_vec())
}

/// A registry whose Pod is never asked: where containers run, it only waits.
fn beside(ctx: &TestContext, content: &CatalogDir) -> Result<Registry> {
    let serve = format!("opm serve {} -p 50051", content_dir(CATALOG));
    let waits = ctx.facts().workload.is_some();
    Ok(Registry {
        image: IMAGE.to_owned(),
        command: if waits { Value::Null } else { json!(["sh", "-c", serve]) },
        content: documents(content)?,
        address: None,
    })
}

/// A registry whose Pod runs, from OLM's image, which has `opm` and no shell.
async fn served(ctx: &TestContext, versions: &[Bundle]) -> Result<Registry> {
    let content = ctx.content(&[package(versions)])?;
    let namespace = ctx.facts().olm_namespace.clone().context("OLM is nowhere")?;
    let deployments: Api<Deployment> = Api::namespaced(ctx.client.clone(), &namespace);
    let olm = deployments.get(Operator::Catalog.name()).await?;
    let pod = olm.spec.and_then(|spec| spec.template.spec).context("OLM has no Pods")?;
    let image = pod.containers.first().and_then(|one| one.image.clone());
    Ok(Registry {
        image: image.context("OLM has no image")?,
        command: json!(["/bin/opm", "serve", content_dir(CATALOG), "-p", "50051"]),
        content: documents(&content)?,
        address: None,
    })
}

/// The catalog as one YAML file.
fn documents(content: &CatalogDir) -> Result<String> {
    let text = fs::read_to_string(content.path().join("kettle/catalog.json"));
    let text = text.context("cannot read the catalog")?;
    Ok(text.lines().map(|blob| format!("---\n{blob}\n")).collect())
}

/// Pushes the image of a version; gives the version that refers to it, and the reference.
async fn push(ctx: &TestContext, version: Bundle, tag: &str) -> Result<(Bundle, String)> {
    let registry = ctx.facts().registry.as_deref().context("no registry")?;
    let image =
        version.files("kettle").into_iter().fold(Image::builder(), |image, (path, text)| {
            let text = match serde_json::from_str::<Value>(&text) {
                Ok(manifest) => ctx.dressed(manifest).to_string(),
                Err(_) => text,
            };
            image.file(&format!("/{path}"), text, 0o644)
        });
    let repository = format!("bundles/{}", ctx.namespace);
    let pushed = oci::push(&image.build()?, registry, &repository, tag).await?;
    Ok((version.in_image(&pushed.reference), pushed.reference))
}
