//! `--catalogs-process-namespaces`: flags decide whose catalogs the operator reads itself. By an annotation a Pod serves
//! a catalog in its place; no annotation has the operator read one. Global catalogs are played by `replicas::hosted`.

use std::ops::RangeInclusive;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use olm_testkit::e2e::TestContext;
use olm_testkit::oci::server::ImageRegistry;
use olm_testkit::wait;
use olm_types::annotations::{CATALOG_DIGEST, CATALOG_IMAGE};
use olm_types::api::CatalogSource;
use olm_types::labels::{CATALOG_SOURCE, ENDPOINTS_MANAGED_BY, ENDPOINTS_MANAGER, SERVICE_NAME};
use serde_json::{Value, json};

use super::hosted_steps::{catalog, push, spec};

/// Names of catalogs, and the server that their annotation asks for.
const CATALOGS: [(&str, Option<&str>); 3] =
    [("plain", None), ("by-pod", Some("pod")), ("by-process", Some("process"))];

/// `--catalogs-ports` where the flag is not given.
const PORTS: RangeInclusive<u16> = 50_100..=50_199;

/// The same image in a namespace that the flag names, and in one that it does not: what is recorded there takes no
/// port either.
pub async fn namespaces(ctx: Arc<TestContext>) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot create a folder")?;
    let registry = ImageRegistry::start(folder.path(), false).await?;
    push(catalog(&ctx, &["1.0.0"])?, registry.address(), "same").await?;
    let tenant = ctx.beside("flags::hosted_tenant").await?;
    record_all_ports(&tenant).await?;
    let spec = spec(registry.address(), "same");
    for of in [&ctx, &tenant] {
        for (name, served_by) in CATALOGS {
            create(of, name, served_by, &spec).await?;
        }
    }
    for (name, served_by) in CATALOGS {
        check(&ctx, name, served_by != Some("pod")).await?;
        check(&tenant, name, false).await?;
    }
    // What only Pods serve, which nothing runs here, is connected to again and again.
    tenant.remove().await?;
    let catalogs: Api<CatalogSource> = ctx.api();
    catalogs.delete("by-pod", &DeleteParams::default()).await?;
    wait::until_gone(&catalogs, "by-pod").await?;
    ctx.keep((registry, folder)).await;
    Ok(())
}

/// An EndpointSlice for each port that there is, which says that the operator serves a catalog at it.
async fn record_all_ports(tenant: &TestContext) -> Result<()> {
    for port in PORTS {
        let name = format!("forged-{port}");
        let slice = json!({
            "metadata": {
                "name": format!("{name}-olm-rs"),
                "labels": {ENDPOINTS_MANAGED_BY: ENDPOINTS_MANAGER, SERVICE_NAME: name},
                "annotations": {CATALOG_IMAGE: "forged", CATALOG_DIGEST: "forged"},
            },
            "addressType": "IPv4", "endpoints": [], "ports": [{"name": "grpc", "port": port}],
        });
        tenant.create::<EndpointSlice>(&serde_json::from_value(slice)?).await?;
    }
    Ok(())
}

async fn create(
    ctx: &TestContext,
    name: &str,
    served_by: Option<&str>,
    spec: &Value,
) -> Result<()> {
    let annotations = served_by.map(|server| json!({"olm-rs.dev/served-by": server}));
    let source = json!({"metadata": {"name": name, "annotations": annotations}, "spec": spec});
    let catalogs: Api<CatalogSource> = ctx.api();
    catalogs.create(&PostParams::default(), &serde_json::from_value(source)?).await?;
    Ok(())
}

/// Waits until the operator serves a catalog without Pods, or a Pod does and no endpoint leads to the operator.
async fn check(ctx: &TestContext, name: &str, by_the_operator: bool) -> Result<()> {
    let slice = format!("{name}-olm-rs");
    let of_catalog = ListParams::default().labels(&format!("{CATALOG_SOURCE}={name}"));
    wait::until_ok(&format!("serve {}/{name} as flags say", ctx.namespace), || async {
        let pods = ctx.api::<Pod>().list(&of_catalog).await?.items.len();
        let leads = ctx.api::<EndpointSlice>().get_opt(&slice).await?.is_some();
        ensure!(leads == by_the_operator, "an endpoint leads to the operator: {leads}");
        ensure!((pods == 0) == by_the_operator, "there are {pods} Pods");
        anyhow::Ok(())
    })
    .await
}
