//! A catalog of the tenant's own, and one that an administrator put up.

use anyhow::{Context, Result, ensure};
use kube::ResourceExt;
use kube::api::{Api, Patch, PatchParams, PostParams};
use olm_testkit::builders::{self, Bundle, Package, csv};
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::wait;
use olm_types::api::{CatalogSource, OperatorGroup};
use serde_json::json;

use super::super::review::Request;
use super::ground::{Ground, secrets};
use super::plans::{refused, reported};

const CSV: &str = "thief.v1.0.0";

/// A CSV in a catalog of the tenant asks for rights in the whole cluster.
pub async fn local_catalog(ground: Ground) -> Result<()> {
    let operator =
        csv(CSV, "1.0.0").deployment("thief", "thief").cluster_permission("thief", secrets());
    let content =
        ground.scene.content(&[Package::single("thief", Bundle::new("1.0.0", &operator))])?;
    let address = ground.scene.registry("local", content).await?;
    let account = ground.account("thief");
    let theft = ground.theft(&account, "kube-system");
    theft.expect(&ground.scene.client, false).await?;
    ground.own_group().await?;
    ground.create(&builders::catalog_source(ground.home(), "local", &address)).await?;
    ground.create(&builders::subscription(ground.home(), "thief", "stable", "local")).await?;
    if !ground.is_strict() {
        ground.scene.succeeded(CSV).await?;
        return theft.expect(&ground.scene.client, true).await;
    }
    refused(&ground, "which is not global").await?;
    // An account that may do everything in the namespace cannot give away what it lacks.
    ground.scene.create(&builders::service_account(ground.home(), "installer")).await?;
    let installer =
        json!({"kind": "ServiceAccount", "name": "installer", "namespace": ground.home()});
    ground.bind("installer-olm", "Role", "olm", installer.clone()).await?;
    ground.bind("installer-admin", "ClusterRole", "admin", installer).await?;
    let name = Patch::Merge(json!({"spec": {"serviceAccountName": "installer"}}));
    let groups: Api<OperatorGroup> = Api::namespaced(ground.tenant.clone(), ground.home());
    groups.patch("group", &PatchParams::default(), &name).await?;
    reported(&ground, "cannot create resource \"clusterroles\"").await?;
    theft.expect(&ground.scene.client, false).await
}

/// What an administrator offers to all namespaces keeps working: rights, roles for users.
pub async fn global_catalog(ground: Ground) -> Result<()> {
    let kind = ground.scene.kind("Gadget");
    let name = format!("{}-offer.v1.0.0", ground.home());
    let operator = csv(&name, "1.0.0")
        .owns(&kind)
        .deployment("offer", "offer")
        .cluster_permission("offer", secrets());
    let package = format!("{}-offer", ground.home());
    let bundle = Bundle::new("1.0.0", &operator).provides(&kind);
    let content = ground.scene.content(&[Package::single(&package, bundle)])?;
    let address = ground.scene.registry("offers", content).await?;
    let catalog = ground.home().to_owned();
    let source = builders::catalog_source(OLM_NAMESPACE, &catalog, &address);
    let catalogs: Api<CatalogSource> = Api::namespaced(ground.scene.client.clone(), OLM_NAMESPACE);
    catalogs.create(&PostParams::default(), &source).await.context("no global catalog")?;
    wait::until_connected(&catalogs, &catalog).await?;
    ground.own_group().await?;
    let mut subscription = builders::subscription(ground.home(), &package, "stable", &catalog);
    OLM_NAMESPACE.clone_into(&mut subscription.spec.source_namespace);
    ground.create(&subscription).await?;
    let succeeded = ground.scene.succeeded(&name).await?;
    let marked = succeeded.annotations().contains_key("olm-rs.dev/attestation");
    ensure!(marked == ground.is_strict(), "marks are for the strict policy");
    let account = ground.account("offer");
    ground.theft(&account, "kube-system").expect(&ground.scene.client, true).await?;
    let crd = kind.name();
    let (plural, group) = crd.split_once('.').context("a CRD name without a group")?;
    let use_it = Request {
        user: &ground.user,
        verb: "create",
        resource: (group, plural),
        namespace: ground.home(),
    };
    use_it.expect(&ground.scene.client, true).await?;
    catalogs.delete(&catalog, &Default::default()).await.map(drop).context("cannot delete")
}
