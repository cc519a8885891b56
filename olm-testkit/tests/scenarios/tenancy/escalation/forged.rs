//! CSVs, InstallPlans and Subscriptions whose status and annotations the tenant writes himself.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use kube::api::{Api, ListParams};
use olm_testkit::builders;
use olm_types::api::{ClusterServiceVersion, CsvPhase, InstallPlan, Subscription};
use serde_json::json;

use super::bundles::installer;
use super::csvs::{SNOOP, snoop};
use super::forgery::{CSV as HONEST, Honest};
use super::ground::Ground;
use super::groups::{nothing_is_gained, ruler};
use super::plans::{crown, reported, write_plan_with};
use super::targets::{install, thief};

/// A phase says what was looked at already: none lets a webhook in that is not allowed. Under v0's
/// policy it is allowed.
pub async fn forged_phase(ground: Ground) -> Result<()> {
    ground.own_group().await?;
    ground.create(&snoop(&ground)?).await?;
    if !ground.is_strict() {
        return ground.scene.succeeded(SNOOP).await.map(drop);
    }
    let refused = "NotAllowedByTenantPolicy";
    ground.scene.csv_phase(SNOOP, CsvPhase::Pending, refused).await?;
    for phase in ["InstallReady", "Installing", "Succeeded"] {
        let forged = json!({"phase": phase, "reason": "AllRequirementsMet"});
        ground.put_status::<ClusterServiceVersion>(SNOOP, forged).await?;
        ground.scene.csv_phase(SNOOP, CsvPhase::Pending, refused).await?;
        no_webhook(&ground, phase).await?;
    }
    // One that makes way is not looked at again, and nothing of it is installed.
    let forged = json!({"phase": "Replacing", "reason": "BeingReplaced"});
    ground.put_status::<ClusterServiceVersion>(SNOOP, forged).await?;
    ground.scene.at_rest().await?;
    no_webhook(&ground, "Replacing").await
}

async fn no_webhook(ground: &Ground, phase: &str) -> Result<()> {
    let all: Api<ValidatingWebhookConfiguration> = Api::all(ground.scene.client.clone());
    let label = format!("olm.owner={SNOOP},olm.owner.namespace={}", ground.home());
    let found = all.list(&ListParams::default().labels(&label)).await?.items;
    ensure!(found.is_empty(), "a webhook is installed for phase {phase}");
    Ok(())
}

/// The CSV says that its group gives all namespaces, and that of another user.
pub async fn forged_annotations(ground: Ground) -> Result<()> {
    ground.own_group().await?;
    install(&ground).await?;
    let name = thief(&ground);
    ground.scene.succeeded(&name).await?;
    for targets in ["", ground.foreign.as_str()] {
        let forged = json!({"metadata": {"annotations": {"olm.targetNamespaces": targets}}});
        ground.put::<ClusterServiceVersion>(&name, forged).await?;
        nothing_is_gained(&ground).await?;
    }
    let csvs: Api<ClusterServiceVersion> =
        Api::namespaced(ground.scene.client.clone(), &ground.foreign);
    let copy = csvs.get_opt(&name).await.context("cannot look for a copy")?;
    ensure!(copy.is_none(), "the CSV is copied into a namespace of another user");
    Ok(())
}

/// The plan says that an account of another user executes it; the account of the group does.
pub async fn forged_executor(ground: Ground) -> Result<()> {
    ruler(&ground).await?;
    installer(&ground).await?;
    let account = json!({"namespace": ground.foreign, "name": "ruler"});
    let forged = json!({"attenuatedServiceAccountRef": account});
    write_plan_with(&ground, &crown(&ground), forged).await?;
    reported(&ground, "cannot create resource \"clusterrolebindings\"").await?;
    ground.theft(&ground.user, "kube-system").expect(&ground.scene.client, false).await?;
    let plan = ground.scene.api::<InstallPlan>().get("by-hand").await?;
    let named = plan.status.and_then(|status| status.attenuated_service_account_ref);
    let named = named.and_then(|account| account.name).unwrap_or_default();
    ensure!(named == "installer", "the plan names {named}");
    Ok(())
}

/// A Subscription says that it installed the operator of another user, and names his plan: the
/// operator is not configured by it, and keeps its Deployment.
pub async fn forged_pointers(ground: Ground) -> Result<()> {
    let before = Honest::install(&ground).await?;
    ground.own_group().await?;
    let mut subscription = builders::subscription(ground.home(), "any", "stable", "none");
    subscription.spec.config = Some(json!({"env": [{"name": "STOLEN", "value": "yes"}]}));
    ground.create(&subscription).await?;
    let plan = json!({
        "apiVersion": "operators.coreos.com/v1alpha1", "kind": "InstallPlan",
        "namespace": ground.foreign, "name": "any",
    });
    let forged = json!({
        "installedCSV": HONEST, "currentCSV": HONEST, "state": "AtLatestKnown",
        "installPlanRef": plan, "lastUpdated": "2026-01-01T00:00:00Z",
    });
    ground.put_status::<Subscription>("any", forged).await?;
    ground.scene.at_rest().await?;
    let after = Honest::look(&ground).await?;
    ensure!(before == after, "{before:?} became {after:?}");
    Ok(())
}
