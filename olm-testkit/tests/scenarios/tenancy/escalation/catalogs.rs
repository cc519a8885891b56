//! A catalog of the tenant's own, and one that an administrator put up.

use anyhow::{Context, Result, ensure};
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use olm_testkit::builders::{self, Bundle, Package, csv};
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::wait;
use olm_types::annotations::ATTESTATION;
use olm_types::api::{CatalogSource, ClusterServiceVersion, CsvPhase, OperatorGroup};
use serde_json::json;

use super::super::review::Request;
use super::csvs::{SNOOP, snoop};
use super::forged::no_webhook;
use super::plans::{refused, reported};
use super::tenant::{Tenant, secrets};

const CSV: &str = "thief.v1.0.0";

/// A CSV in a catalog of the tenant asks for rights in the whole cluster.
pub async fn local_catalog(tenant: Tenant) -> Result<()> {
    let operator =
        csv(CSV, "1.0.0").deployment("thief", "thief").cluster_permission("thief", secrets());
    let content =
        tenant.ctx.content(&[Package::single("thief", Bundle::new("1.0.0", &operator))])?;
    let address = tenant.ctx.registry("local", content).await?;
    let account = tenant.account("thief");
    let theft = tenant.theft(&account, "kube-system");
    theft.expect(&tenant.ctx.client, false).await?;
    tenant.own_group().await?;
    tenant.create(&builders::catalog_source(tenant.home(), "local", &address)).await?;
    tenant.create(&builders::subscription(tenant.home(), "thief", "stable", "local")).await?;
    if !tenant.is_strict() {
        tenant.ctx.succeeded(CSV).await?;
        return theft.expect(&tenant.ctx.client, true).await;
    }
    refused(&tenant, "which is not global").await?;
    // An account that may do everything in the namespace cannot give away what it lacks.
    tenant.ctx.create(&builders::service_account(tenant.home(), "installer")).await?;
    let installer =
        json!({"kind": "ServiceAccount", "name": "installer", "namespace": tenant.home()});
    tenant.bind("installer-olm", "Role", "olm", installer.clone()).await?;
    tenant.bind("installer-admin", "ClusterRole", "admin", installer).await?;
    let name = Patch::Merge(json!({"spec": {"serviceAccountName": "installer"}}));
    let groups: Api<OperatorGroup> = Api::namespaced(tenant.client.clone(), tenant.home());
    groups.patch("group", &PatchParams::default(), &name).await?;
    reported(&tenant, "cannot create resource \"clusterroles\"").await?;
    theft.expect(&tenant.ctx.client, false).await
}

/// What an administrator offers to all namespaces keeps working: rights, roles for users. The mark that shows where
/// it came from counts on no other CSV.
pub async fn global_catalog(tenant: Tenant) -> Result<()> {
    let kind = tenant.ctx.kind("Gadget");
    let name = format!("{}-offer.v1.0.0", tenant.home());
    let operator = csv(&name, "1.0.0")
        .owns(&kind)
        .deployment("offer", "offer")
        .cluster_permission("offer", secrets());
    let package = format!("{}-offer", tenant.home());
    let bundle = Bundle::new("1.0.0", &operator).provides(&kind);
    let content = tenant.ctx.content(&[Package::single(&package, bundle)])?;
    let address = tenant.ctx.registry("offers", content).await?;
    let catalog = tenant.home().to_owned();
    let source = builders::catalog_source(OLM_NAMESPACE, &catalog, &address);
    let catalogs: Api<CatalogSource> = Api::namespaced(tenant.ctx.client.clone(), OLM_NAMESPACE);
    catalogs.create(&PostParams::default(), &source).await.context("no global catalog")?;
    wait::until_connected(&catalogs, &catalog).await?;
    tenant.own_group().await?;
    let mut subscription = builders::subscription(tenant.home(), &package, "stable", &catalog);
    OLM_NAMESPACE.clone_into(&mut subscription.spec.source_namespace);
    tenant.create(&subscription).await?;
    let succeeded = tenant.ctx.succeeded(&name).await?;
    for mark in ["olm-rs.dev/attestation", "olm-rs.dev/attested-properties"] {
        let marked = succeeded.annotations().contains_key(mark);
        ensure!(marked == tenant.is_strict(), "{mark} is for the strict policy");
    }
    let account = tenant.account("offer");
    tenant.theft(&account, "kube-system").expect(&tenant.ctx.client, true).await?;
    let crd = kind.name();
    let (plural, group) = crd.split_once('.').context("a CRD name without a group")?;
    let use_it = Request {
        user: &tenant.user,
        verb: "create",
        resource: (group, plural),
        namespace: tenant.home(),
    };
    use_it.expect(&tenant.ctx.client, true).await?;
    if tenant.is_strict() { copied_mark(&tenant, &succeeded).await } else { Ok(()) }
}

/// A CSV of the tenant's own with a webhook has the mark of an offered one, and one that is made up.
async fn copied_mark(tenant: &Tenant, offered: &ClusterServiceVersion) -> Result<()> {
    let mark = offered.annotations().get(ATTESTATION.name).context("no mark to copy")?;
    let mut own = snoop(tenant)?;
    own.annotations_mut().insert(ATTESTATION.name.to_owned(), mark.clone());
    tenant.create(&own).await?;
    let refused = "NotAllowedByTenantPolicy";
    tenant.ctx.csv_phase(SNOOP, CsvPhase::Pending, refused).await?;
    no_webhook(tenant, "Pending").await?;
    let made_up = json!({"metadata": {"annotations": {ATTESTATION.name: "00".repeat(32)}}});
    tenant.put::<ClusterServiceVersion>(SNOOP, made_up).await?;
    tenant.ctx.until_idle().await?;
    tenant.ctx.csv_phase(SNOOP, CsvPhase::Pending, refused).await?;
    no_webhook(tenant, "Pending").await?;
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(tenant.client.clone(), tenant.home());
    csvs.delete(SNOOP, &DeleteParams::default()).await.context("the tenant may not delete")?;
    wait::until_gone(&csvs, SNOOP).await
}
