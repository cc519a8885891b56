//! A definition that no API server has seen yet, and the objects of a tenant that it is compared with: patterns
//! that take megabytes each once they are compiled, and objects that take a hundred times their size once
//! they are read.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::discovery::ApiResource;
use olm_testkit::e2e::TestContext;
use olm_testkit::e2e::provider::local::Local;
use olm_testkit::operators::Operator;
use olm_testkit::wait;
use olm_types::api::{InstallPlan, InstallPlanPhase};
use serde_json::{Map, Value, json};

use super::{healthy, within_memory};

/// How many patterns the new schema has: together they would take gigabytes here. The API server compiles them, too,
/// and has to be done with it within the time of a request.
const PATTERNS: usize = 300;

/// How many objects there are, and maps in each: together they would take most of a gigabyte.
const OBJECTS: usize = 8;
const MAPS: usize = 140_000;

/// The definition is upgraded, and catalog-operator takes no more memory than for others.
pub async fn definitions(local: Arc<Local>, ctx: Arc<TestContext>) -> Result<()> {
    let (process, _) = local.process(Operator::Catalog)?;
    local.forget_peak(Operator::Catalog)?;
    ctx.operator_group().await?;
    let crds: Api<CustomResourceDefinition> = Api::all(ctx.client.clone());
    let name = format!("heaps.{}", group(&ctx));
    serve(&ctx, &crds, &name).await?;
    heap(&ctx).await?;
    plan(&ctx, &name).await?;
    let is_done = |plan: &InstallPlan| plan.phase() == InstallPlanPhase::Complete;
    wait::until(&ctx.api(), "heavy", "be complete", is_done).await?;
    let upgraded = serde_json::to_value(crds.get(&name).await?)?;
    let field = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/f0";
    ensure!(upgraded.pointer(field).is_some(), "the definition is as it was");
    healthy(&local, "hostile::beside-definitions").await?.remove().await?;
    let (now, _) = local.process(Operator::Catalog)?;
    ensure!(now == process, "catalog-operator was process {process} and is {now}");
    ctx.api::<InstallPlan>().delete("heavy", &DeleteParams::default()).await?;
    crds.delete(&name, &DeleteParams::default()).await?;
    within_memory(&local)
}

fn group(ctx: &TestContext) -> String {
    format!("{}.example.com", ctx.namespace)
}

fn definition(ctx: &TestContext, fields: &Map<String, Value>) -> Value {
    let keeping = "x-kubernetes-preserve-unknown-fields";
    let spec = json!({"type": "object", keeping: true, "properties": fields});
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    let version = json!({
        "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
    });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("heaps.{}", group(ctx))},
        "spec": {
            "group": group(ctx), "scope": "Namespaced",
            "names": {"kind": "Heap", "plural": "heaps"}, "versions": [version],
        },
    })
}

/// Fields with a pattern each, none of which is like another.
fn patterns() -> Map<String, Value> {
    let field = |number: usize| {
        let pattern = format!("^\\pL{{90}}{number}$");
        (format!("f{number}"), json!({"type": "string", "pattern": pattern}))
    };
    (0..PATTERNS).map(field).collect()
}

/// The definition as it is before, without a pattern.
async fn serve(ctx: &TestContext, crds: &Api<CustomResourceDefinition>, name: &str) -> Result<()> {
    let object = serde_json::from_value(definition(ctx, &Map::new()))?;
    crds.create(&PostParams::default(), &object).await.context("the CRD is refused")?;
    wait::until(crds, name, "be served", |crd: &CustomResourceDefinition| {
        let conditions = crd.status.iter().flat_map(|status| status.conditions.iter().flatten());
        conditions.into_iter().any(|it| it.type_ == "Established" && it.status == "True")
    })
    .await?;
    Ok(())
}

/// What the tenant has in his namespace.
async fn heap(ctx: &TestContext) -> Result<()> {
    let gvk = GroupVersionKind::gvk(&group(ctx), "v1", "Heap");
    let resource = ApiResource::from_gvk_with_plural(&gvk, "heaps");
    let heaps: Api<DynamicObject> =
        Api::namespaced_with(ctx.client.clone(), &ctx.namespace, &resource);
    let list = vec![json!({"": 0}); MAPS];
    for number in 0..OBJECTS {
        let heap = json!({
            "apiVersion": format!("{}/v1", group(ctx)), "kind": "Heap",
            "metadata": {"name": format!("heap-{number}")}, "spec": {"list": list},
        });
        let heap = serde_json::from_value(heap)?;
        heaps.create(&PostParams::default(), &heap).await.context("the object is refused")?;
    }
    Ok(())
}

async fn plan(ctx: &TestContext, name: &str) -> Result<()> {
    let plans: Api<InstallPlan> = ctx.api();
    let plan = json!({
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "InstallPlan",
        "metadata": {"name": "heavy", "namespace": ctx.namespace},
        "spec": {"approval": "Automatic", "approved": true, "clusterServiceVersionNames": []},
    });
    plans.create(&PostParams::default(), &serde_json::from_value(plan)?).await?;
    let resource = json!({
        "group": "apiextensions.k8s.io", "version": "v1", "kind": "CustomResourceDefinition",
        "name": name, "manifest": definition(ctx, &patterns()).to_string(),
        "sourceName": "mine", "sourceNamespace": ctx.namespace,
    });
    let step = json!({"resolving": "heavy.v1", "resource": resource, "status": "Unknown"});
    let status = json!({"status": {"phase": "Installing", "catalogSources": [], "plan": [step]}});
    plans.patch_status("heavy", &PatchParams::default(), &Patch::Merge(status)).await?;
    Ok(())
}
