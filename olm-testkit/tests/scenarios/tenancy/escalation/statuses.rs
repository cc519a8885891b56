//! Statuses of kinds that OLM alone is meant to write, all at once.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::batch::v1::Job;
use kube::api::{Api, ListParams, PostParams};
use olm_testkit::builders::{self, Bundle, Package, csv};
use olm_testkit::operators::OLM_NAMESPACE;
use olm_types::api::{
    CatalogSource, ClusterServiceVersion, InstallPlan, OperatorCondition, OperatorGroup,
    Subscription,
};
use olm_types::hash::unpack_name;
use serde_json::json;

use super::forgery::{CSV as HONEST, OperatorObjects};
use super::groups::nothing_is_gained;
use super::plans::{concluded, crown};
use super::targets::{install, thief};
use super::tenant::Tenant;

/// Neither does any of them give the tenant anything, nor does it change the operator of another user.
pub async fn forged_statuses(tenant: Tenant) -> Result<()> {
    let before = OperatorObjects::install(&tenant).await?;
    forged_catalog(&tenant).await?;
    forged_conditions(&tenant).await?;
    forged_copy(&tenant).await?;
    forged_upgradeability(&tenant).await?;
    forged_phase_of_a_plan(&tenant).await?;
    forged_origin_of_a_plan(&tenant).await?;
    nothing_is_gained(&tenant).await?;
    let after = OperatorObjects::look(&tenant).await?;
    ensure!(before == after, "{before:?} became {after:?}");
    Ok(())
}

/// A catalog that answers nowhere says that it is connected, to the server of another catalog.
async fn forged_catalog(tenant: &Tenant) -> Result<()> {
    let operator = csv("loot.v1.0.0", "1.0.0").deployment("loot", "default");
    let package = Package::single("loot", Bundle::new("1.0.0", &operator));
    let address = tenant.ctx.registry("loot", tenant.ctx.content(&[package])?).await?;
    let nowhere = builders::catalog_source(tenant.home(), "nowhere", "127.0.0.1:1");
    tenant.create(&nowhere).await?;
    let now = "2026-01-01T00:00:00Z";
    let forged = json!({
        "connectionState": {"address": address, "lastObservedState": "READY", "lastConnect": now},
        "registryService": {
            "protocol": "grpc", "serviceName": "loot", "serviceNamespace": tenant.foreign,
            "port": "50051", "createdAt": now,
        },
    });
    tenant.put_status::<CatalogSource>("nowhere", forged).await?;
    tenant
        .create(&builders::subscription(tenant.home(), "loot", "stable", "nowhere"))
        .await
        .map(drop)
}

/// A group says that it is the only one and that its targets are allowed: they are all namespaces of others.
async fn forged_conditions(tenant: &Tenant) -> Result<()> {
    let targets = [tenant.home(), tenant.foreign.as_str()];
    let targets = if tenant.is_strict() { &targets[..] } else { &targets[..1] };
    tenant.create(&builders::operator_group(tenant.home(), "group", targets)).await?;
    install(tenant).await?;
    let fine = json!({
        "type": "InvalidTargetNamespaces", "status": "False", "reason": "Allowed", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    });
    tenant.put_status::<OperatorGroup>("group", json!({"conditions": [fine]})).await
}

/// A CSV says that it is a copy, which is neither installed nor copied.
async fn forged_copy(tenant: &Tenant) -> Result<()> {
    let forged = json!({
        "phase": "Succeeded", "reason": "Copied", "certsRotateAt": "2099-01-01T00:00:00Z",
    });
    tenant.put_status::<ClusterServiceVersion>(&thief(tenant), forged).await?;
    let others: Api<ClusterServiceVersion> =
        Api::namespaced(tenant.ctx.client.clone(), &tenant.foreign);
    let copy = others.get_opt(&thief(tenant)).await.context("cannot look for a copy")?;
    ensure!(copy.is_none(), "the CSV is copied into a namespace of another user");
    Ok(())
}

/// The condition of an operator of another user, as far as its name says, forbids its upgrade.
async fn forged_upgradeability(tenant: &Tenant) -> Result<()> {
    let condition: OperatorCondition = serde_json::from_value(json!({
        "metadata": {"name": HONEST},
        "spec": {"deployments": ["honest"], "serviceAccounts": ["thief"], "overrides": [
            {"type": "Upgradeable", "status": "False", "reason": "No", "message": "never"},
        ]},
    }))?;
    tenant.create(&condition).await?;
    let forged = json!({"conditions": [{
        "type": "Upgradeable", "status": "False", "reason": "No", "message": "never",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }]});
    tenant.put_status::<OperatorCondition>(HONEST, forged).await
}

/// A plan says that it was approved and begun long ago, and that its step waits for nothing but an API.
async fn forged_phase_of_a_plan(tenant: &Tenant) -> Result<()> {
    let plan: InstallPlan = serde_json::from_value(json!({
        "metadata": {"name": "long-ago", "namespace": tenant.home()},
        "spec": {"approval": "Manual", "approved": false, "clusterServiceVersionNames": ["any.v1"]},
    }))?;
    let plans: Api<InstallPlan> = Api::namespaced(tenant.client.clone(), tenant.home());
    plans.create(&PostParams::default(), &plan).await.context("no plan")?;
    let mut step = crown(tenant);
    step["status"] = json!("WaitingForApi");
    let forged = json!({
        "phase": "Installing", "catalogSources": [], "plan": [step],
        "startTime": "2020-01-01T00:00:00Z",
    });
    tenant.put_status::<InstallPlan>("long-ago", forged).await?;
    if tenant.is_strict() {
        // The targets of the only group are refused.
        concluded(tenant, "no operator group found that is managing this namespace").await?;
    }
    tenant.ctx.until_idle().await?;
    let theft = tenant.theft(&tenant.user, "kube-system");
    theft.expect(&tenant.ctx.client, false).await?;
    let loot: Api<Deployment> = tenant.ctx.api();
    let loot = loot.list(&ListParams::default().fields("metadata.name=loot")).await?.items;
    ensure!(loot.is_empty(), "a catalog that answers nowhere is installed from");
    Ok(())
}

/// A plan says that OLM made it for a Subscription, and that an image of the tenant's is to be unpacked where global
/// catalogs are.
async fn forged_origin_of_a_plan(tenant: &Tenant) -> Result<()> {
    let plan: InstallPlan = serde_json::from_value(json!({
        "metadata": {"name": "of-olm", "namespace": tenant.home()},
        "spec": {"approval": "Manual", "approved": false, "clusterServiceVersionNames": ["any.v1"]},
    }))?;
    tenant.create(&plan).await?;
    let image = format!("forged.example.com/{}:v1", tenant.home());
    // With v0's policy a plan by hand may have any step.
    let steps = if tenant.is_strict() { json!([crown(tenant)]) } else { json!([]) };
    let forged = json!({
        "phase": "Installing", "catalogSources": [], "plan": steps,
        "bundleLookups": [{
            "catalogSourceRef": {"namespace": OLM_NAMESPACE, "name": "nowhere"},
            "identifier": "any.v1", "path": image, "replaces": "",
        }],
    });
    tenant.put_status::<InstallPlan>("of-olm", forged).await?;
    let uid = tenant.ctx.api::<Subscription>().get("loot").await?.metadata.uid;
    let owner = json!({
        "apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription", "name": "loot", "uid": uid,
    });
    let asked = json!({"csvs": {"any.v1": ["loot"]}, "approval": []}).to_string();
    let metadata =
        json!({"ownerReferences": [owner], "annotations": {"olm-rs.dev/asked-by": asked}});
    tenant.put::<InstallPlan>("of-olm", json!({"metadata": metadata})).await?;
    tenant.ctx.until_idle().await?;
    tenant.theft(&tenant.user, "kube-system").expect(&tenant.ctx.client, false).await?;
    let jobs: Api<Job> = Api::namespaced(tenant.ctx.client.clone(), OLM_NAMESPACE);
    let unpacked = jobs.get_opt(&unpack_name(&image)).await?;
    ensure!(unpacked.is_none(), "an image of the tenant's runs in OLM's namespace");
    Ok(())
}
