//! A catalog image: what is made for it, an install from it, and what becomes of those who lose a
//! part of it.

use std::sync::Arc;

use anyhow::{Result, ensure};
use jiff::Timestamp;
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{Pod, Service, ServiceAccount};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use kube::{Resource, ResourceExt};
use olm_testkit::builders::{Bundle, CatalogDir, Package, csv};
use olm_testkit::e2e::TestContext;
use olm_testkit::wait::{self, Waitable};
use olm_types::api::{CatalogSource, Subscription};
use olm_types::conditions::readiness::ALL;
use olm_types::labels::{CATALOG_SOURCE, MANAGED, SERVICE_SPEC_HASH};
use serde_json::json;

use super::steps::{address, binaries, create, pod, ready, report};

const NAME: &str = "shelf";

/// From the CatalogSource to an installed operator, then everything that can be lost, one by one,
/// then the CatalogSource.
pub async fn image(ctx: Arc<TestContext>) -> Result<()> {
    let kettle = csv("kettle.v1.0.0", "1.0.0").deployment("kettle", "default");
    let content = CatalogDir::of(&[Package::single("kettle", Bundle::new("1.0.0", &kettle))])?;
    ctx.operator_group().await?;
    create(&ctx, NAME, json!({"sourceType": "grpc", "image": "example.com/shelf:v1"})).await?;
    let logs = tempfile::tempdir()?;
    let address = address(&ctx, NAME).await?;
    let _server = binaries(logs.path())?.registry_on("shelf", content.path(), address)?;
    let catalog = ready(&ctx, NAME).await?;
    check_status(&ctx, &catalog)?;
    ctx.subscribe("kettle", NAME).await?;
    ctx.succeeded("kettle.v1.0.0").await?;
    lose_pods(&ctx).await?;
    lose_objects(&ctx).await?;
    goes_with_everything(&ctx).await
}

fn check_status(ctx: &TestContext, catalog: &CatalogSource) -> Result<()> {
    let status = catalog.status.clone().unwrap_or_default();
    let service = status.registry_service.unwrap_or_default();
    ensure!(service.service_name.as_deref() == Some(NAME), "{service:?}");
    ensure!(service.port.as_deref() == Some("50051"), "{service:?}");
    let expected = format!("{NAME}.{}.svc:50051", ctx.namespace);
    let address = status.connection_state.and_then(|state| state.address);
    ensure!(address.as_deref() == Some(expected.as_str()), "connected to {address:?}");
    let mut reported = status.conditions.iter().map(|one| one.type_.as_str());
    ensure!(reported.all(|kind| ALL.contains(&kind)), "{:?}", status.conditions);
    ensure!(status.reason.is_none(), "{:?}", status.reason);
    Ok(())
}

/// A Pod that is deleted, evicted or whose node is gone is replaced.
async fn lose_pods(ctx: &TestContext) -> Result<()> {
    let pods: Api<Pod> = ctx.api();
    let first = pod(ctx, CATALOG_SOURCE, NAME, |_| true).await?.name_any();
    pods.delete(&first, &DeleteParams::default()).await?;
    let second = pod(ctx, CATALOG_SOURCE, NAME, |pod| pod.name_any() != first).await?;
    let second = second.name_any();
    // Without a time, the disruption controller takes it for an old one and withdraws it.
    let disrupted = json!({
        "type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager",
        "lastTransitionTime": Timestamp::now().to_string(),
    });
    report(ctx, &second, json!({"conditions": [disrupted]})).await?;
    wait::until_gone(&pods, &second).await?;
    let others = [first, second];
    let third = pod(ctx, CATALOG_SOURCE, NAME, |pod| !others.contains(&pod.name_any())).await?;
    let owner =
        third.owner_references().first().map(|owner| (owner.name.as_str(), owner.controller));
    ensure!(owner == Some((NAME, Some(true))), "the Pod is owned by {owner:?}");
    Ok(())
}

/// What is deleted comes back, what is changed is changed back.
async fn lose_objects(ctx: &TestContext) -> Result<()> {
    let there = |object: &ServiceAccount| object.labels().contains_key(MANAGED);
    deleted(ctx, NAME, there).await?;
    for end in ["grpc-server", "unpack-bundles"] {
        let there = |policy: &NetworkPolicy| policy.labels().contains_key(CATALOG_SOURCE);
        deleted(ctx, &format!("{NAME}-{end}"), there).await?;
    }
    let services: Api<Service> = ctx.api();
    let stray = json!({
        "metadata": {"labels": {MANAGED: null, SERVICE_SPEC_HASH: "other"}},
        "spec": {"selector": {"app": "other"}},
    });
    services.patch(NAME, &PatchParams::default(), &Patch::Merge(stray)).await?;
    wait::until(&services, NAME, "be put right", |service: &Service| {
        let selector = service.spec.as_ref().and_then(|spec| spec.selector.as_ref());
        let right = selector.is_some_and(|selector| !selector.contains_key("app"));
        right && service.labels().contains_key(MANAGED)
    })
    .await?;
    ready(ctx, NAME).await.map(drop)
}

async fn deleted<K>(ctx: &TestContext, name: &str, there: impl Fn(&K) -> bool) -> Result<()>
where
    K: Waitable + Resource<Scope = NamespaceResourceScope>,
{
    let objects: Api<K> = ctx.api();
    let old = objects.get(name).await?.uid();
    objects.delete(name, &DeleteParams::default()).await?;
    let back = |object: &K| object.uid() != old && there(object);
    wait::until(&objects, name, "come back", back).await.map(drop)
}

/// The owner goes, and with it what it owns.
async fn goes_with_everything(ctx: &TestContext) -> Result<()> {
    let sources: Api<CatalogSource> = ctx.api();
    sources.delete(NAME, &DeleteParams::background()).await?;
    wait::until_gone(&ctx.api::<Service>(), NAME).await?;
    wait::until_gone(&ctx.api::<ServiceAccount>(), NAME).await?;
    wait::until_gone(&ctx.api::<NetworkPolicy>(), &format!("{NAME}-grpc-server")).await?;
    says_so(ctx).await
}

/// The Subscription says that its catalog is gone, and that nothing is resolved without it.
async fn says_so(ctx: &TestContext) -> Result<()> {
    let holds = |subscription: &Subscription, kind: &str| {
        let conditions = subscription.status.iter().flat_map(|status| &status.conditions);
        conditions.into_iter().any(|one| one.type_ == kind && one.status == "True")
    };
    wait::until(&ctx.api(), "kettle", "say that its catalog is gone", |one: &Subscription| {
        holds(one, "CatalogSourcesUnhealthy") && holds(one, "ResolutionFailed")
    })
    .await
    .map(drop)
}
