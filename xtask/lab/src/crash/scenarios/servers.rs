//! Operators that the API server calls: their certificates, and what refers to those.

use anyhow::Result;
use async_trait::async_trait;
use olm_testkit::builders::{Bundle, CsvBuilder, Package};
use olm_testkit::stand_in::Server;
use olm_types::api::{ApiServiceDefinitions, WebhookDescription};
use serde_json::json;

use super::operators;
use crate::crash::context::{NAMESPACE, TestContext};
use crate::crash::scenario::Scenario;

/// The Deployment that serves.
const DEPLOYMENT: &str = "kettle-manager";

/// Where it listens.
const PORT: u16 = 8443;

/// The group of the aggregated API.
const GROUP: &str = "api.crash.example.com";

pub(super) struct WebhookInstall;

#[async_trait]
impl Scenario for WebhookInstall {
    fn name(&self) -> &'static str {
        "webhook-install"
    }

    fn about(&self) -> &'static str {
        "an operator with webhooks is installed"
    }

    fn catalogs(&self) -> Vec<(&'static str, Vec<Package>)> {
        vec![(
            "kitchen",
            vec![package(&kettle().with(|csv| {
                let webhooks =
                    ["ValidatingAdmissionWebhook", "MutatingAdmissionWebhook"].map(webhook);
                csv.spec.webhookdefinitions = webhooks.into_iter().flatten().collect();
            }))],
        )]
    }

    async fn steps(&self, ctx: &TestContext) -> Result<()> {
        install(ctx).await?;
        ctx.succeeded("kettle.v1.0.0").await?;
        ctx.at_latest("kettle", "kettle.v1.0.0").await
    }
}

pub(super) struct ApiServiceInstall;

#[async_trait]
impl Scenario for ApiServiceInstall {
    fn name(&self) -> &'static str {
        "api-service-install"
    }

    fn about(&self) -> &'static str {
        "an operator that serves an aggregated API is installed"
    }

    fn catalogs(&self) -> Vec<(&'static str, Vec<Package>)> {
        vec![(
            "kitchen",
            vec![package(&kettle().with(|csv| {
                csv.spec.apiservicedefinitions = api();
            }))],
        )]
    }

    async fn steps(&self, ctx: &TestContext) -> Result<()> {
        install(ctx).await?;
        ctx.stand_in(&Server {
            namespace: NAMESPACE.to_owned(),
            deployment: DEPLOYMENT.to_owned(),
            port: PORT,
            api: format!("v1/{GROUP}/boilings/Boiling"),
        })
        .await?;
        ctx.succeeded("kettle.v1.0.0").await?;
        ctx.at_latest("kettle", "kettle.v1.0.0").await
    }
}

async fn install(ctx: &TestContext) -> Result<()> {
    ctx.operator_group().await?;
    ctx.catalog("kitchen", "kitchen").await?;
    ctx.subscribe("kettle", "kitchen").await
}

fn kettle() -> CsvBuilder {
    operators::operator("kettle", "1.0.0", &operators::kettles())
}

fn package(csv: &CsvBuilder) -> Package {
    Package::single("kettle", Bundle::new("1.0.0", csv).provides(&operators::kettles()))
}

fn webhook(kind: &str) -> Option<WebhookDescription> {
    let description = json!({
        "generateName": format!("{}.crash.example.com", kind.to_lowercase()), "type": kind,
        "deploymentName": DEPLOYMENT, "containerPort": PORT, "targetPort": PORT,
        "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Ignore",
    });
    serde_json::from_value(description).ok()
}

fn api() -> Option<ApiServiceDefinitions> {
    let owned = json!({"owned": [{
        "name": "boilings", "group": GROUP, "version": "v1", "kind": "Boiling",
        "deploymentName": DEPLOYMENT, "containerPort": PORT,
    }]});
    serde_json::from_value(owned).ok()
}
