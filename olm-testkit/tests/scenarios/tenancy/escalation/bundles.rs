//! A step that takes its manifest out of a ConfigMap of another namespace.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, PostParams};
use olm_testkit::builders::{self, csv};
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::wait;
use olm_types::api::OperatorGroup;
use serde_json::json;

use super::plans::{concluded, write_plan};
use super::tenant::Tenant;

/// OLM may read every ConfigMap, and the tenant gets what it reads as objects of his own; he has an
/// account for his group, so that his steps are executed under either policy.
pub async fn foreign_config_map(tenant: Tenant) -> Result<()> {
    let gossip = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "gossip"},
        "data": {"heard": "something"},
    });
    let operator = csv("any.v1.0.0", "1.0.0").deployment("any", "default");
    let hidden: ConfigMap = serde_json::from_value(json!({
        "metadata": {"name": "hidden"},
        "data": {"csv": operator.manifest().to_string(), "gossip": gossip.to_string()},
    }))?;
    let hidings: Api<ConfigMap> = Api::namespaced(tenant.ctx.client.clone(), &tenant.foreign);
    hidings.create(&PostParams::default(), &hidden).await.context("nothing is hidden")?;
    installer(&tenant).await?;
    tenant.create(&operator.build()).await?;
    let reference = json!({
        "kind": "ConfigMap", "name": "hidden", "namespace": tenant.foreign,
        "catalogSourceName": "any", "catalogSourceNamespace": OLM_NAMESPACE,
        "replaces": "", "properties": "",
    });
    let step = json!({"resolving": "any.v1.0.0", "status": "Unknown", "resource": {
        "group": "", "version": "v1", "kind": "ConfigMap", "name": "gossip",
        "sourceName": "any", "sourceNamespace": OLM_NAMESPACE, "manifest": reference.to_string(),
    }});
    write_plan(&tenant, &step).await?;
    concluded(&tenant, &format!("ConfigMap {}/hidden", tenant.foreign)).await?;
    let heard = tenant.ctx.api::<ConfigMap>().get_opt("gossip").await?;
    ensure!(heard.is_none(), "the tenant reads a ConfigMap of another namespace");
    Ok(())
}

/// The tenant's group has an account that may do in his namespace what he may.
pub async fn installer(tenant: &Tenant) -> Result<()> {
    tenant.ctx.create(&builders::service_account(tenant.home(), "installer")).await?;
    let installer =
        json!({"kind": "ServiceAccount", "name": "installer", "namespace": tenant.home()});
    tenant.bind("installer-olm", "Role", "olm", installer.clone()).await?;
    tenant.bind("installer-admin", "ClusterRole", "admin", installer).await?;
    let mut group = builders::operator_group(tenant.home(), "group", &[tenant.home()]);
    group.spec.service_account_name = Some("installer".to_owned());
    tenant.create(&group).await?;
    let found = |group: &OperatorGroup| {
        group.status.as_ref().is_some_and(|status| status.service_account_ref.is_some())
    };
    wait::until(&tenant.ctx.api(), "group", "find its account", found).await.map(drop)
}
