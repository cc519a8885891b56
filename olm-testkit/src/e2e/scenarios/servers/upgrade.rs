//! An upgrade to a version that brings a conversion webhook.

use anyhow::{Context, Result, ensure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, PostParams};
use kube::core::GroupVersionKind;
use olm_types::api::{
    CsvPhase, InstallModeType, InstallPlan, InstallPlanPhase, StepStatus, Subscription,
    WebhookDescription,
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::builders::{self, Bundle, Crd, CsvBuilder, Package, csv};
use crate::e2e::TestContext;
use crate::e2e::scenarios::capacity::NodeCapacity;
use crate::stand_in::Server;
use crate::wait::{self, TIMEOUT};

const OLD: &str = "kettle.v1.0.0";
const NEW: &str = "kettle.v2.0.0";

/// Where the operator listens.
const PORT: u16 = 8443;

/// How often a read is tried again.
const LOOK: std::time::Duration = std::time::Duration::from_millis(100);

/// The new version's kind has a second version, in which it is stored, and a webhook converts it.
///
/// The plan cannot end: it brings another kind, whose short name is taken. The new operator cannot
/// run: its pods have no node. Until both end, what the installed part made of the definition stays,
/// also when the plan executes its step again, and objects are served in their old version.
pub(super) async fn with_an_unfinished_plan(ctx: &TestContext) -> Result<()> {
    let (kettles, capacity) = (Kettles::of(ctx), NodeCapacity::of(ctx));
    ctx.create(&builders::operator_group(&ctx.namespace, "group", &[])).await?;
    ctx.catalog("kitchen", &kettles.package(&[kettles.old_version()])).await?;
    ctx.subscribe("kettle", "kitchen").await?;
    ctx.succeeded(OLD).await?;
    ctx.at_latest("kettle", OLD).await?;
    kettles.make_one().await?;
    kettles.create(&kettles.taken()).await?;

    ctx.publish(
        "kitchen",
        &kettles.package(&[kettles.old_version(), kettles.new_version(&capacity)]),
    )
    .await?;
    ctx.csv_phase(NEW, CsvPhase::Installing, "InstallWaiting").await?;
    let converting = kettles.until_called().await?;
    let plan = kettles.unfinished_plan().await?;
    kettles.execute_again(&plan).await?;
    ensure!(kettles.conversion().await? == converting, "the plan took the conversion back");
    let mine = kettles.objects("v1").get("mine").await.context("no object in its old version")?;
    ensure!(mine.data["spec"] == json!({"litres": 2}), "{:?}", mine.data);
    ensure!(!is_done(&ctx.api().get(&plan).await?), "the plan has ended");

    capacity.open().await?;
    ctx.stand_in(&kettles.server).await?;
    kettles.until_converted().await?;
    let crds: Api<CustomResourceDefinition> = Api::all(ctx.client.clone());
    crds.delete(&kettles.taken().name(), &DeleteParams::background()).await?;
    ctx.succeeded(NEW).await?;
    ctx.at_latest("kettle", NEW).await?;
    wait::until(&ctx.api(), &plan, "end", is_done).await?;
    kettles.until_converted().await?;
    ensure!(kettles.conversion().await? == converting, "the conversion changed");
    capacity.close().await
}

fn is_done(plan: &InstallPlan) -> bool {
    plan.status.as_ref().is_some_and(|status| status.phase == InstallPlanPhase::Complete)
}

/// The operator in two versions, and its kind.
struct Kettles<'a> {
    ctx: &'a TestContext,
    kind: Crd,
    server: Server,
}

impl<'a> Kettles<'a> {
    fn of(ctx: &'a TestContext) -> Self {
        let server = Server {
            namespace: ctx.namespace.clone(),
            deployment: format!("{}-kettle", ctx.namespace),
            port: PORT,
            api: format!("v1/api.{}.example.com/readings/Reading", ctx.namespace),
        };
        Self { ctx, kind: ctx.kind("Kettle"), server }
    }

    fn package(&self, versions: &[Bundle]) -> [Package; 1] {
        [Package::new("kettle").channel("stable", versions.to_vec())]
    }

    fn old_version(&self) -> Bundle {
        let csv = self.operator(OLD, "1.0.0").owns(&self.kind);
        Bundle::new("1.0.0", &csv).provides(&self.kind)
    }

    fn new_version(&self, capacity: &NodeCapacity) -> Bundle {
        let kind = self.kind.clone().and_version("v2");
        let container = self.server.container();
        let csv = capacity.wanted_by(self.operator(NEW, "2.0.0")).owns(&kind).replaces(OLD);
        let csv = csv.deployments(|spec| {
            spec["template"]["spec"]["containers"][0]["args"] = json!(container);
        });
        let csv = csv.with(|csv| csv.spec.webhookdefinitions.extend(self.webhook()));
        let bundle = Bundle::new("2.0.0", &csv).replaces(OLD).manifest(converted(&kind));
        let bundle = bundle.manifest(with_short_name(&self.blocked()));
        kind.gvks().into_iter().fold(bundle, |bundle, gvk| bundle.property("olm.gvk", gvk))
    }

    fn operator(&self, name: &str, version: &str) -> CsvBuilder {
        let csv = csv(name, version).deployment(&self.server.deployment, "default");
        csv.install_modes(&[InstallModeType::AllNamespaces])
    }

    fn webhook(&self) -> Option<WebhookDescription> {
        let description = json!({
            "generateName": "convert.kettles.example.com", "type": "ConversionWebhook",
            "conversionCRDs": [self.kind.name()], "webhookPath": "/convert",
            "deploymentName": self.server.deployment, "containerPort": PORT, "targetPort": PORT,
            "sideEffects": "None", "admissionReviewVersions": ["v1"],
        });
        serde_json::from_value(description).ok()
    }

    /// The kind that has the short name.
    fn taken(&self) -> Crd {
        self.ctx.kind("Ladle")
    }

    /// The kind of the new version that wants it, too, and is not served before the other is gone.
    fn blocked(&self) -> Crd {
        self.ctx.kind("Spoon")
    }

    async fn create(&self, kind: &Crd) -> Result<()> {
        let crds: Api<CustomResourceDefinition> = Api::all(self.ctx.client.clone());
        let crd = serde_json::from_value(with_short_name(kind)).context("a malformed CRD")?;
        crds.create(&PostParams::default(), &crd).await.context("cannot create a CRD")?;
        let accepted = |crd: &CustomResourceDefinition| {
            let names = crd.status.as_ref().and_then(|status| status.accepted_names.as_ref());
            names.is_some_and(|names| names.short_names.is_some())
        };
        wait::until(&crds, &kind.name(), "have its short name", accepted).await.map(drop)
    }

    fn objects(&self, version: &str) -> Api<DynamicObject> {
        let name = self.kind.name();
        let group = name.split_once('.').map(|(_, group)| group).unwrap_or_default();
        let kind = GroupVersionKind::gvk(group, version, "Kettle");
        let resource = ApiResource::from_gvk_with_plural(&kind, "kettles");
        Api::namespaced_with(self.ctx.client.clone(), &self.ctx.namespace, &resource)
    }

    /// A user uses the first version.
    async fn make_one(&self) -> Result<()> {
        let object = serde_json::from_value(json!({
            "apiVersion": format!("{}.example.com/v1", self.ctx.namespace), "kind": "Kettle",
            "metadata": {"name": "mine"}, "spec": {"litres": 2},
        }))?;
        let made = self.objects("v1").create(&PostParams::default(), &object).await;
        made.map(drop).context("cannot use the kind")
    }

    /// What the definition says about conversion.
    async fn conversion(&self) -> Result<Value> {
        let crds: Api<CustomResourceDefinition> = Api::all(self.ctx.client.clone());
        let crd = crds.get(&self.kind.name()).await?;
        Ok(serde_json::to_value(crd.spec.conversion)?)
    }

    /// Waits until the definition calls the new version; what it says then.
    async fn until_called(&self) -> Result<Value> {
        let crds: Api<CustomResourceDefinition> = Api::all(self.ctx.client.clone());
        let service = format!("{}-service", self.server.deployment);
        let calls = |crd: &CustomResourceDefinition| {
            let webhook = crd.spec.conversion.as_ref().and_then(|one| one.webhook.as_ref());
            let client = webhook.and_then(|webhook| webhook.client_config.as_ref());
            client.is_some_and(|client| {
                let called = client.service.as_ref().is_some_and(|one| one.name == service);
                called && client.ca_bundle.is_some()
            })
        };
        wait::until(&crds, &self.kind.name(), "call the new version", calls).await?;
        self.conversion().await
    }

    /// The plan of the new version, which waits for a kind.
    async fn unfinished_plan(&self) -> Result<String> {
        let subscription: Subscription = self.ctx.api().get("kettle").await?;
        let plan = self.ctx.plan_of(&subscription).await?.name_any();
        let waits = |plan: &InstallPlan| {
            let steps = plan.status.iter().flat_map(|status| &status.plan);
            let mut waiting = steps.filter(|step| step.status == StepStatus::WaitingForApi);
            waiting.any(|step| step.resource.name == self.blocked().name())
        };
        wait::until(&self.ctx.api(), &plan, "wait for the other kind", waits).await?;
        Ok(plan)
    }

    /// The record of the step for the definition is lost, as when the operator ended before it was
    /// written: the step is executed once more.
    async fn execute_again(&self, name: &str) -> Result<()> {
        let mut plan: InstallPlan = self.ctx.api().get(name).await?;
        let status = plan.status.as_mut().context("a plan without status")?;
        let of_the_kind = self.kind.name();
        let mut steps = status.plan.iter_mut();
        let step = steps.find(|step| step.resource.name == of_the_kind);
        step.context("no step for the definition")?.status = StepStatus::Unknown;
        let lost = json!({"plan": status.plan});
        self.ctx.edit_status::<InstallPlan>(name, lost).await?;
        let done = |plan: &InstallPlan| {
            let mut steps = plan.status.iter().flat_map(|status| &status.plan);
            steps.any(|one| one.resource.name == of_the_kind && one.status == StepStatus::Present)
        };
        wait::until(&self.ctx.api(), name, "execute its step again", done).await.map(drop)
    }

    /// Waits until the object, which is stored in the first version, can be read in the second.
    async fn until_converted(&self) -> Result<()> {
        let deadline = Instant::now() + TIMEOUT;
        let mine = loop {
            match self.objects("v2").get("mine").await {
                Ok(mine) => break mine,
                Err(error) => ensure!(Instant::now() < deadline, "no webhook converts: {error}"),
            }
            sleep(LOOK).await;
        };
        let from = mine.annotations().get("converted-from");
        let v1 = format!("{}.example.com/v1", self.ctx.namespace);
        ensure!(from == Some(&v1), "converted from {from:?}");
        ensure!(mine.data["spec"] == json!({"litres": 2}), "{:?}", mine.data);
        Ok(())
    }
}

/// The definition as bundles have it: with a placeholder for who converts.
fn converted(kind: &Crd) -> Value {
    let mut manifest = kind.manifest();
    let service = json!({"name": "webhook-service", "namespace": "system", "path": "/convert"});
    manifest["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {
        "clientConfig": {"service": service, "caBundle": "Cg=="},
        "conversionReviewVersions": ["v1"],
    }});
    manifest
}

fn with_short_name(kind: &Crd) -> Value {
    let mut manifest = kind.manifest();
    manifest["spec"]["names"]["shortNames"] = json!(["ll"]);
    manifest
}
