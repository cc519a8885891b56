//! Admission policies: the API server's own way to refuse what is otherwise fine.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Api, PostParams};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::steps::delete;
use crate::e2e::context::TestContext;
use crate::wait::TIMEOUT;

/// How often it is asked whether a policy is in force. No object says that.
const ASK: Duration = Duration::from_millis(100);

/// A policy of the API server for one namespace.
pub struct Policy {
    name: String,
    policies: Api<ValidatingAdmissionPolicy>,
    bindings: Api<ValidatingAdmissionPolicyBinding>,
    config_maps: Api<ConfigMap>,
}

impl Policy {
    /// Refuses new ConfigMaps, and changes of those that are there, as invalid from now on.
    pub async fn refuse_config_maps(ctx: &TestContext) -> Result<Self> {
        let policy = Self {
            name: format!("{}-closed", ctx.namespace),
            policies: Api::all(ctx.client.clone()),
            bindings: Api::all(ctx.client.clone()),
            config_maps: ctx.api(),
        };
        let rule = serde_json::from_value(json!({
            "metadata": {"name": policy.name},
            "spec": {
                "matchConstraints": {"resourceRules": [{
                    "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"],
                    "resources": ["configmaps"],
                }]},
                "validations": [{"expression": "false", "message": "the shelf is closed"}],
            },
        }))?;
        let here = json!({"matchLabels": {"kubernetes.io/metadata.name": ctx.namespace}});
        let binding = serde_json::from_value(json!({
            "metadata": {"name": policy.name},
            "spec": {
                "policyName": policy.name, "validationActions": ["Deny"],
                "matchResources": {"namespaceSelector": here},
            },
        }))?;
        policy.policies.create(&PostParams::default(), &rule).await.context("no policy")?;
        policy.bindings.create(&PostParams::default(), &binding).await.context("no binding")?;
        policy.until(|answer| answer.is_err()).await?;
        Ok(policy)
    }

    /// What an InstallPlan says of the API server's answer.
    pub fn error(&self, config_map: &str) -> String {
        let name = &self.name;
        format!(
            "error updating configmap: {config_map}: configmaps \"{config_map}\" is forbidden: \
             ValidatingAdmissionPolicy '{name}' with binding '{name}' denied request: the shelf \
             is closed"
        )
    }

    /// Refuses nothing any more.
    pub async fn withdraw(self) -> Result<()> {
        delete(&self.bindings, &self.name).await?;
        delete(&self.policies, &self.name).await?;
        self.until(|answer| answer.is_ok()).await
    }

    /// Waits for an answer of the API server to a new ConfigMap.
    async fn until(&self, wanted: impl Fn(&kube::Result<ConfigMap>) -> bool) -> Result<()> {
        let dry = PostParams { dry_run: true, ..PostParams::default() };
        let metadata = ObjectMeta { name: Some("attempt".to_owned()), ..ObjectMeta::default() };
        let attempt = ConfigMap { metadata, ..ConfigMap::default() };
        let deadline = Instant::now() + TIMEOUT;
        while !wanted(&self.config_maps.create(&dry, &attempt).await) {
            if Instant::now() > deadline {
                bail!("the API server does not follow the policy {}", self.name);
            }
            sleep(ASK).await;
        }
        Ok(())
    }
}
