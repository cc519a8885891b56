//! A conversion webhook that says nothing, before plans that look at all objects of a CRD.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use olm_testkit::builders::Crd;
use olm_testkit::e2e::{Provider, TestContext};
use olm_testkit::wait;
use olm_types::api::{InstallPlan, InstallPlanPhase};
use serde_json::{Value, json};

use super::webhook::SilentWebhook;
use super::{healthy, is_as_usual};

/// More than there are workers.
const PLANS: [&str; 3] = ["first", "second", "third"];
/// How many of them look at objects at the same time: the places of a namespace.
const AT_ONCE: usize = 2;
/// A list that the webhook is silent about ends after 30 s. Whoever waited for it takes longer than
/// without the webhook by this.
const SLOW: Duration = Duration::from_secs(25);

/// Plans that would change a CRD, whose objects the API server has to have converted for the look at
/// them. When the webhook answers after all, the plans end.
pub async fn conversion(provider: Arc<dyn Provider>) -> Result<()> {
    let begun = Instant::now();
    let (_, alone) = healthy(&provider, "slow-conversion-before").await?;
    let usual = begun.elapsed();
    let slow = TestContext::new(Arc::clone(&provider), "slow-conversion").await?;
    let webhook = SilentWebhook::start(&slow).await?;
    let valves = Valves { kind: slow.kind("Valve").and_version("v2"), ctx: &slow };
    slow.operator_group().await?;
    valves.define(&webhook).await?;
    // The API server itself keeps objects in each version.
    webhook.waiting.until(1).await.context("nothing is converted")?;
    let before = webhook.waiting.count();
    let begun = Instant::now();
    for name in PLANS {
        valves.plan(name, &webhook).await?;
    }
    webhook.waiting.until(before + AT_ONCE).await.context("no plan looks at objects")?;
    let (_, took) = healthy(&provider, "slow-conversion-healthy").await?;
    is_as_usual(alone, took)?;
    let beside = begun.elapsed();
    ensure!(beside < usual + SLOW, "it took {beside:?} beside silent conversion, {usual:?} before");
    webhook.release();
    let done = |plan: &InstallPlan| {
        plan.status.as_ref().is_some_and(|status| status.phase == InstallPlanPhase::Complete)
    };
    for name in PLANS {
        wait::until(&slow.api(), name, "be done", done).await?;
    }
    valves.forget().await
}

/// A kind that is stored in its second version.
struct Valves<'a> {
    kind: Crd,
    ctx: &'a TestContext,
}

impl Valves<'_> {
    fn manifest(&self, webhook: &SilentWebhook) -> Value {
        let mut manifest = self.kind.manifest();
        manifest["spec"]["conversion"] = webhook.conversion.clone();
        manifest
    }

    fn definitions(&self) -> Api<CustomResourceDefinition> {
        Api::all(self.ctx.client.clone())
    }

    /// Creates the CRD and an object of the second version.
    async fn define(&self, webhook: &SilentWebhook) -> Result<()> {
        let definition = serde_json::from_value(self.manifest(webhook))?;
        self.definitions().create(&PostParams::default(), &definition).await?;
        let is_established = |crd: &CustomResourceDefinition| {
            let conditions = crd.status.as_ref().and_then(|status| status.conditions.as_ref());
            let mut conditions = conditions.into_iter().flatten();
            conditions.any(|one| one.type_ == "Established" && one.status == "True")
        };
        wait::until(&self.definitions(), &self.kind.name(), "be established", is_established)
            .await?;
        let group = format!("{}.example.com", self.ctx.namespace);
        let kind = GroupVersionKind::gvk(&group, "v2", "Valve");
        let resource = ApiResource::from_gvk_with_plural(&kind, "valves");
        let client = self.ctx.client.clone();
        let objects: Api<DynamicObject> =
            Api::namespaced_with(client, &self.ctx.namespace, &resource);
        let object = DynamicObject::new("mine", &resource).data(json!({"spec": {"litres": 2}}));
        objects.create(&PostParams::default(), &object).await.context("cannot use the kind")?;
        Ok(())
    }

    /// An approved plan of a user, which changes the CRD a little.
    async fn plan(&self, name: &str, webhook: &SilentWebhook) -> Result<()> {
        let plan = json!({
            "apiVersion": "operators.coreos.com/v1alpha1", "kind": "InstallPlan",
            "metadata": {"name": name},
            "spec": {"approval": "Automatic", "approved": true, "clusterServiceVersionNames": []},
        });
        self.ctx.create(&serde_json::from_value::<InstallPlan>(plan)?).await?;
        let mut manifest = self.manifest(webhook);
        for version in manifest["spec"]["versions"].as_array_mut().into_iter().flatten() {
            version["schema"]["openAPIV3Schema"]["description"] = json!(name);
        }
        let resource = json!({
            "group": "apiextensions.k8s.io", "version": "v1", "kind": "CustomResourceDefinition",
            "name": self.kind.name(), "manifest": manifest.to_string(),
            "sourceName": "", "sourceNamespace": "",
        });
        let step = json!({"resolving": name, "resource": resource, "status": "Unknown"});
        let status = json!({"phase": "Installing", "catalogSources": [], "plan": [step]});
        let patch = Patch::Merge(json!({"status": status}));
        let plans: Api<InstallPlan> = self.ctx.api();
        plans.patch_status(name, &PatchParams::default(), &patch).await?;
        Ok(())
    }

    /// Deletes the CRD: without the webhook no API server can keep its objects.
    async fn forget(&self) -> Result<()> {
        self.definitions().delete(&self.kind.name(), &DeleteParams::background()).await?;
        wait::until_gone(&self.definitions(), &self.kind.name()).await
    }
}
