//! An operator whose Deployment serves webhooks and an API.

use anyhow::{Context, Result};
use k8s_openapi::api::admissionregistration::v1::MutatingWebhookConfiguration;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ListParams, Patch, PatchParams, PostParams};
use olm_types::api::{
    ApiServiceDefinitions, ClusterServiceVersion, InstallModeType, WebhookDescription,
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::builders::{Crd, csv, readiness_probe};
use crate::e2e::TestContext;
use crate::stand_in::Server;
use crate::wait::TIMEOUT;

/// Where it listens.
const PORT: u16 = 8443;

/// How often a list is looked at.
const LOOK: std::time::Duration = std::time::Duration::from_millis(100);

/// The operator of one scenario.
#[derive(Clone)]
pub(super) struct Example {
    /// The kind whose objects pass its webhooks.
    pub kind: Crd,
    /// The group of its aggregated API.
    pub api_group: String,
    converts: bool,
    server: Server,
}

impl Example {
    /// With webhooks for admission and an API.
    pub(super) fn new(ctx: &TestContext) -> Self {
        let api_group = format!("api.{}.example.com", ctx.namespace);
        let server = Server {
            namespace: ctx.namespace.clone(),
            deployment: format!("{}-server", ctx.namespace),
            port: PORT,
            api: format!("v1/{api_group}/readings/Reading"),
        };
        Self { kind: ctx.kind("Thing"), api_group, converts: false, server }
    }

    /// With a webhook for conversion, too: the kind has two versions and is stored in the second.
    pub(super) fn converting(mut self) -> Self {
        self.kind = self.kind.and_version("v2");
        self.converts = true;
        self
    }

    /// The name of CSV and Deployment. Some objects in the cluster and in `kube-system` are named
    /// after it, so that no two scenarios may have the same.
    pub(super) fn name(&self) -> &str {
        &self.server.deployment
    }

    /// The name of the Secret with its certificate.
    pub(super) fn secret(&self) -> String {
        format!("{}-service-cert", self.name())
    }

    /// Whether its kind has two versions.
    pub(super) fn converts(&self) -> bool {
        self.converts
    }

    /// The name of its APIService.
    pub(super) fn api_service(&self) -> String {
        format!("v1.{}", self.api_group)
    }

    /// Its CSV.
    pub(super) fn csv(&self) -> ClusterServiceVersion {
        let container = self.server.container();
        let built = csv(self.name(), "1.0.0").owns(&self.kind).deployment(self.name(), "default");
        let built = built.deployments(|spec| {
            let pod = &mut spec["template"]["spec"]["containers"][0];
            pod["args"] = json!(container);
            let healthz = json!({"path": "/healthz", "port": PORT, "scheme": "HTTPS"});
            pod["readinessProbe"] = readiness_probe(json!({"httpGet": healthz}));
        });
        let built = match self.converts {
            true => built.install_modes(&[InstallModeType::AllNamespaces]),
            false => built,
        };
        built.with(|csv| self.describe(csv)).build()
    }

    /// Creates kind and CSV, and what answers; waits until the CSV has succeeded.
    pub(super) async fn install(&self, ctx: &TestContext) -> Result<()> {
        self.create_kind(ctx).await?;
        ctx.create(&self.csv()).await?;
        ctx.stand_in(&self.server).await?;
        ctx.succeeded(self.name()).await.map(drop)
    }

    /// Creates the definition of the kind, as an InstallPlan would have done.
    pub(super) async fn create_kind(&self, ctx: &TestContext) -> Result<()> {
        let crds: Api<CustomResourceDefinition> = Api::all(ctx.client.clone());
        let crd = serde_json::from_value(self.kind.manifest()).context("a malformed CRD")?;
        let made = crds.create(&PostParams::default(), &crd).await;
        made.map(drop).context("cannot create the CRD")
    }

    /// Takes one webhook out of the CSV and waits until its configuration is gone.
    pub(super) async fn forget_webhook(&self, ctx: &TestContext, start: &str) -> Result<()> {
        let mut webhooks = self.csv().spec.webhookdefinitions;
        webhooks.retain(|webhook| !webhook.generate_name.starts_with(start));
        let patch = Patch::Merge(json!({"spec": {"webhookdefinitions": webhooks}}));
        let csvs = ctx.api::<ClusterServiceVersion>();
        csvs.patch(self.name(), &PatchParams::default(), &patch)
            .await
            .context("cannot edit the CSV")?;
        let all: Api<MutatingWebhookConfiguration> = Api::all(ctx.client.clone());
        let ours = format!("olm.owner.namespace={}", ctx.namespace);
        let deadline = Instant::now() + TIMEOUT;
        while !all.list(&ListParams::default().labels(&ours)).await?.items.is_empty() {
            anyhow::ensure!(Instant::now() < deadline, "the configuration of {start} stays");
            sleep(LOOK).await;
        }
        Ok(())
    }

    fn describe(&self, csv: &mut ClusterServiceVersion) {
        let plural = self.kind.name();
        let (plural, group) = plural.split_once('.').unwrap_or_default();
        let rules = json!([{
            "apiGroups": [group], "apiVersions": ["*"], "resources": [plural],
            "operations": ["CREATE"],
        }]);
        let admission = |verb: &str, kind: &str| {
            json!({
                "generateName": format!("{verb}.{group}"), "type": kind, "rules": rules,
                "failurePolicy": "Fail",
            })
        };
        let mut all = vec![
            admission("validate", "ValidatingAdmissionWebhook"),
            admission("mutate", "MutatingAdmissionWebhook"),
        ];
        if self.converts {
            all.push(json!({
                "generateName": format!("convert.{group}"), "type": "ConversionWebhook",
                "conversionCRDs": [self.kind.name()],
            }));
        }
        csv.spec.webhookdefinitions = all.into_iter().filter_map(|one| self.webhook(one)).collect();
        let api = json!({"owned": [{
            "name": "readings", "group": self.api_group, "version": "v1", "kind": "Reading",
            "deploymentName": self.name(), "containerPort": PORT,
        }]});
        let definitions: Option<ApiServiceDefinitions> = serde_json::from_value(api).ok();
        csv.spec.apiservicedefinitions = definitions;
    }

    /// Completes a description with what all have in common.
    fn webhook(&self, mut description: Value) -> Option<WebhookDescription> {
        let name = description["generateName"].as_str()?;
        let path = format!("/{}", name.split('.').next()?);
        description["webhookPath"] = json!(path);
        description["deploymentName"] = json!(self.name());
        description["containerPort"] = json!(PORT);
        description["targetPort"] = json!(PORT);
        description["sideEffects"] = json!("None");
        description["admissionReviewVersions"] = json!(["v1"]);
        serde_json::from_value(description).ok()
    }
}
