//! Plans that tools write (issues of v0's users, and its own tests, do so): steps that name no CSV.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service, ServiceAccount};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use k8s_openapi::api::rbac::v1::{ClusterRoleBinding, Role, RoleBinding};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use kube::api::{DeleteParams, PostParams};
use olm_types::api::{InstallPlan, InstallPlanPhase, StepStatus};
use serde_json::{Value, json};

use super::tool::{complete, step, write, write_late};
use super::{cluster, is_in, message, plan, reported};
use crate::builders::{self, Crd};
use crate::e2e::context::TestContext;
use crate::wait;

/// A step without a CSV that brings a JSON object.
fn of_no_csv(kind: &str, manifest: Value) -> Value {
    let name = manifest["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    step(kind, &name, &manifest.to_string(), "")
}

fn config_map() -> Value {
    of_no_csv("ConfigMap", json!({"metadata": {"name": "settings"}, "data": {"ours": "1"}}))
}

fn definition(kind: &Crd) -> Value {
    let spec = kind.manifest()["spec"].to_string();
    let name = kind.name();
    let manifest = format!(
        "# written by a tool\napiVersion: v1\nkind: CustomResourceDefinition\nmetadata:\n  name: {name}\nspec: {spec}\n"
    );
    step("CustomResourceDefinition", &name, &manifest, "")
}

fn steps(kind: &Crd) -> Vec<Value> {
    let rights = json!({"metadata": {"name": "thing"}, "rules": [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]},
    ]});
    let binding = json!({"metadata": {"name": "thing"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "thing"},
        "subjects": [{"kind": "ServiceAccount", "name": "thing"}]});
    let policy = "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: thing\nspec:\n  podSelector: {}\n";
    vec![
        definition(kind),
        of_no_csv("Service", service(80, &json!({}))),
        config_map(),
        of_no_csv("BundleSecret", json!({"metadata": {"name": "thing"}, "data": {"k": "dg=="}})),
        of_no_csv("ServiceAccount", json!({"metadata": {"name": "thing"}})),
        of_no_csv("Role", rights),
        of_no_csv("RoleBinding", binding),
        step("NetworkPolicy", "thing", policy, ""),
    ]
}

/// A ClusterIP Service with this port and more fields of its specification.
fn service(port: i32, more: &Value) -> Value {
    let mut spec = json!({"type": "ClusterIP", "selector": {"port": port.to_string()},
        "ports": [{"name": "web", "port": port, "targetPort": port}]});
    if let (Some(spec), Some(more)) = (spec.as_object_mut(), more.as_object()) {
        spec.extend(more.clone());
    }
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "thing", "creationTimestamp": null},
        "spec": spec, "status": {"loadBalancer": {}}})
}

/// Objects of every kind, without an owner; what was there is taken over in the name of the plan.
pub(super) async fn steps_of_no_csv(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let theirs: ConfigMap =
        serde_json::from_value(json!({"metadata": {"name": "settings"}, "data": {"theirs": "1"}}))?;
    ctx.create(&theirs).await?;
    let kind = ctx.kind("Gadget");
    write(&ctx, "first", &steps(&kind)).await?;
    let done = complete(&ctx, "first").await?;
    let statuses = done.status.iter().flat_map(|status| &status.plan).map(|step| step.status);
    let statuses: Vec<_> = statuses.collect();
    ensure!(statuses.iter().all(|status| *status == StepStatus::Present), "{statuses:?}");
    let crd = cluster::<CustomResourceDefinition>(&ctx).get(&kind.name()).await?;
    of_no_owner(&crd)?;
    of_no_owner(&ctx.api::<Service>().get("thing").await?)?;
    of_no_owner(&ctx.api::<ConfigMap>().get("settings").await?)?;
    of_no_owner(&ctx.api::<Secret>().get("thing").await?)?;
    of_no_owner(&ctx.api::<ServiceAccount>().get("thing").await?)?;
    of_no_owner(&ctx.api::<Role>().get("thing").await?)?;
    of_no_owner(&ctx.api::<RoleBinding>().get("thing").await?)?;
    of_no_owner(&ctx.api::<NetworkPolicy>().get("thing").await?)?;
    let texts = reported(&ctx, "ObjectTakenOver").await?;
    let end = "it was changed to what the plan asks for, and OLM manages it from now on";
    ensure!(matches!(texts.as_slice(), [text] if text.ends_with(end)), "{texts:?}");
    a_service_is_updated(&ctx).await
}

fn of_no_owner<K: ResourceExt>(object: &K) -> Result<()> {
    let managed = object.labels().get("olm.managed").is_some_and(|value| value == "true");
    ensure!(managed && object.owner_references().is_empty(), "{:?}", object.meta());
    Ok(())
}

/// Its address stays, whether the manifest leaves it out, empties it or repeats it.
async fn a_service_is_updated(ctx: &TestContext) -> Result<()> {
    let services = ctx.api::<Service>();
    let address = |service: &Service| service.spec.as_ref()?.cluster_ip.clone();
    let first = address(&services.get("thing").await?).context("no address")?;
    let tries = [
        ("absent", json!({})),
        ("empty", json!({"clusterIP": ""})),
        ("same", json!({"clusterIP": first})),
    ];
    for (port, (name, more)) in (81..).zip(tries) {
        write(ctx, name, &[of_no_csv("Service", service(port, &more))]).await?;
        complete(ctx, name).await?;
        let live = services.get("thing").await?;
        ensure!(address(&live).as_deref() == Some(&*first), "{name}: {live:?}");
        let spec = live.spec.unwrap_or_default();
        let ports: Vec<_> = spec.ports.iter().flatten().map(|one| one.port).collect();
        ensure!(ports == [port], "{name}: {ports:?}");
        let selector = spec.selector.unwrap_or_default();
        ensure!(selector.values().eq([&port.to_string()]), "{name}: {selector:?}");
    }
    Ok(())
}

/// The account of the group lacks every right, then it has those that the steps need. The kind is
/// OLM's own to install.
pub(super) async fn with_an_account(ctx: Arc<TestContext>) -> Result<()> {
    let namespace = ctx.namespace.as_str();
    ctx.create(&builders::service_account(namespace, "installer")).await?;
    let mut group = builders::operator_group(namespace, "group", &[namespace]);
    group.spec.service_account_name = Some("installer".to_owned());
    ctx.create(&group).await?;
    let kind = ctx.kind("Gadget");
    write(&ctx, "scoped", &[definition(&kind), config_map()]).await?;
    let text = format!(
        "retrying execution due to error: error updating configmap: settings: configmaps is forbidden: User \
         \"system:serviceaccount:{namespace}:installer\" cannot create resource \"configmaps\" in API group \"\" \
         in the namespace \"{namespace}\""
    );
    let says = |plan: &InstallPlan| message(plan) == text;
    let refused = plan(&ctx, "lack a right", says).await?;
    ensure!(is_in(&refused, InstallPlanPhase::Installing), "rights may come at any time");
    cluster::<CustomResourceDefinition>(&ctx).get(&kind.name()).await?;
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}]);
    super::scoped::allow(&ctx, "steps", rules).await?;
    complete(&ctx, "scoped").await?;
    of_no_owner(&ctx.api::<ConfigMap>().get("settings").await?)?;
    fails_without_rights(&ctx).await
}

/// A plan that has been tried for long enough says by its phase what its account lacks, and goes on
/// with rights of which nothing in its namespace speaks.
async fn fails_without_rights(ctx: &TestContext) -> Result<()> {
    let namespace = ctx.namespace.as_str();
    write_late(ctx, "late", &[of_no_csv("Service", service(80, &json!({})))]).await?;
    let failed = |plan: &InstallPlan| is_in(plan, InstallPlanPhase::Failed);
    let failed = wait::until(&ctx.api(), "late", "fail without rights", failed).await?;
    let text = format!(
        "error updating service: thing: services is forbidden: User \"system:serviceaccount:{namespace}:installer\" \
         cannot create resource \"services\" in API group \"\" in the namespace \"{namespace}\""
    );
    ensure!(message(&failed) == text, "{}", message(&failed));
    let status = failed.status.unwrap_or_default();
    let reasons = status.conditions.iter().filter_map(|condition| condition.reason.as_deref());
    ensure!(reasons.eq(["InstallComponentFailed"]), "{:?}", status.conditions);
    ensure!(status.plan.iter().all(|step| step.status == StepStatus::Unknown), "{:?}", status.plan);
    let binding: ClusterRoleBinding = serde_json::from_value(json!({
        "metadata": {"name": namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"},
        "subjects": [{"kind": "ServiceAccount", "name": "installer", "namespace": namespace}],
    }))?;
    let bindings = cluster::<ClusterRoleBinding>(ctx);
    bindings.create(&PostParams::default(), &binding).await?;
    let done = complete(ctx, "late").await;
    bindings.delete(namespace, &DeleteParams::default()).await?;
    done?;
    of_no_owner(&ctx.api::<Service>().get("thing").await?)
}
