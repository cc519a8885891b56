//! Definitions, which belong to the cluster, in another version than an administrator's operator has.

use anyhow::{Context, Result, ensure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, PostParams};
use olm_testkit::builders::{self, Bundle, Package, csv};
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::wait;
use olm_types::api::{CatalogSource, ClusterServiceVersion};
use serde_json::json;

use super::tenant::Tenant;

/// The short name that the newer definition has.
const SHORT: &str = "gold";

/// The tenant installs the version of an offered operator that is older than the administrator's: its definition
/// lacks what the newer one has.
pub async fn older_definition(tenant: Tenant) -> Result<()> {
    let kind = tenant.ctx.kind("Treasure");
    let crds: Api<CustomResourceDefinition> = Api::all(tenant.ctx.client.clone());
    let mut newer = kind.manifest();
    newer["spec"]["names"]["shortNames"] = json!([SHORT]);
    crds.create(&PostParams::default(), &serde_json::from_value(newer)?).await?;
    tenant.allow_targets(&tenant.foreign, "*").await?;
    let operator = csv("hoard.v2.0.0", "2.0.0").owns(&kind).deployment("hoard", "default");
    let csvs: Api<ClusterServiceVersion> =
        Api::namespaced(tenant.ctx.client.clone(), &tenant.foreign);
    csvs.create(&PostParams::default(), &operator.build()).await.context("no newer operator")?;
    let older = csv("hoard.v1.0.0", "1.0.0").owns(&kind).deployment("hoard", "default");
    let package = format!("{}-hoard", tenant.home());
    let bundle = Bundle::new("1.0.0", &older).provides(&kind);
    let content = tenant.ctx.content(&[Package::single(&package, bundle)])?;
    let address = tenant.ctx.registry("hoards", content).await?;
    let catalogs: Api<CatalogSource> = Api::namespaced(tenant.ctx.client.clone(), OLM_NAMESPACE);
    let source = builders::catalog_source(OLM_NAMESPACE, tenant.home(), &address);
    catalogs.create(&PostParams::default(), &source).await.context("no global catalog")?;
    wait::until_connected(&catalogs, tenant.home()).await?;
    tenant.own_group().await?;
    let mut subscription = builders::subscription(tenant.home(), &package, "stable", tenant.home());
    OLM_NAMESPACE.clone_into(&mut subscription.spec.source_namespace);
    tenant.create(&subscription).await?;
    tenant.ctx.succeeded("hoard.v1.0.0").await?;
    let names = crds.get(&kind.name()).await?.spec.names.short_names.unwrap_or_default();
    let kept = names == [SHORT];
    ensure!(kept == tenant.is_strict(), "the definition has the short names {names:?}");
    Ok(())
}
