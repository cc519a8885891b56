//! Subscriptions for which nothing happens on purpose: they wait for approval, are held by what they declare, or are
//! refused. Nothing is written about them again and again, under v0's resolution and with v0's definitions either, and
//! metrics say what waits for what.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ListParams, PostParams};
use kube::{Resource, ResourceExt};
use olm_testkit::builders::{self, Bundle, Package, csv};
use olm_testkit::e2e::provider::local::{Flags, Local};
use olm_testkit::e2e::{Provider, TestContext};
use olm_testkit::operators::{OLM_NAMESPACE, Operator};
use olm_testkit::wait::{self, TIMEOUT};
use olm_types::annotations::{PAUSE, PIN, VERSION_RANGE};
use olm_types::api::{Approval, CatalogSource, InstallPlan, Subscription};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{QUIET, SILENCE_AFTER_START, connected_again};
use crate::environment;

/// What v0's definitions do not know, and have the API server drop.
const UNKNOWN: &str = "observedGeneration";

/// The definitions of what has it in its status here.
const DEFINITIONS: [&str; 2] =
    ["subscriptions.operators.coreos.com", "catalogsources.operators.coreos.com"];

/// The flag of catalog-operator.
const AS_V0: &str = "--resolution=v0";

/// Families of metrics that say what waits for what.
const MEASURED: [&str; 2] =
    ["olm_upgrade_available{", "olm_approval_waiting_since_timestamp_seconds{"];

/// All of them in one namespace. At its end the scenario is looked at once more.
pub async fn waits(started: Arc<Local>, ctx: Arc<TestContext>) -> Result<()> {
    kitchen(&ctx).await?;
    held(&ctx).await?;
    waiting(&ctx).await?;
    refused(&ctx).await?;
    ctx.until_idle().await?;
    let measured = || is_measured(&started, &ctx);
    wait::until_ok("is measured as it is", measured).await
}

/// A scrape names each upgrade that is held back, and each plan that waits for approval; of the namespace it names
/// nothing else.
async fn is_measured(started: &Local, ctx: &TestContext) -> Result<()> {
    let expected = series(ctx).await?;
    ensure!(expected.len() == 5, "two are held and three wait, not {expected:?}");
    let scrape = started.admin(Operator::Catalog)?.metrics().await?;
    let is_here = format!("namespace=\"{}\"", ctx.namespace);
    let is_about = |line: &&str| {
        MEASURED.iter().any(|family| line.starts_with(family)) && line.contains(&is_here)
    };
    let found: BTreeSet<String> = scrape.lines().filter(is_about).map(str::to_owned).collect();
    ensure!(found == expected, "a scrape shows {found:?}, not {expected:?}");
    Ok(())
}

/// What holds each upgrade, and since when each plan waits.
async fn series(ctx: &TestContext) -> Result<BTreeSet<String>> {
    let namespace = &ctx.namespace;
    let upgrade = |(name, held_by): (&str, &str)| {
        format!(
            "olm_upgrade_available{{from=\"{name}.v1.0.0\",held_by=\"{held_by}\",name=\"{name}\",\
             namespace=\"{namespace}\",to=\"{name}.v1.1.0\"}} 1"
        )
    };
    let approval = |plan: &InstallPlan| {
        let csv = plan.spec.cluster_service_version_names.concat();
        let since = plan.creation_timestamp().map(|time| time.0.as_second()).unwrap_or_default();
        format!(
            "olm_approval_waiting_since_timestamp_seconds{{csv=\"{csv}\",name=\"{}\",\
             namespace=\"{namespace}\"}} {since}",
            plan.name_any()
        )
    };
    let held = [("pinned", "Pinned"), ("ranged", "VersionRange")].map(upgrade);
    let plans: Vec<InstallPlan> = ctx.api().list(&ListParams::default()).await?.items;
    let waiting = plans.iter().filter(|plan| plan.waits_for_approval()).map(approval);
    Ok(held.into_iter().chain(waiting).collect())
}

/// With `--resolution=v0`, and definitions that drop what v0 does not know.
pub async fn as_v0(_: Arc<TestContext>) -> Result<()> {
    let flags = Flags { catalog: &[AS_V0], ..Flags::default() };
    let started = Arc::new(environment::start_with("idle-as-v0", flags).await?);
    let silent = silence(&started).await;
    // A dead operator explains a failure better than what was waited for.
    let silent = started.check().and(silent);
    environment::end(&started).await.and(silent)
}

/// The Deployment of the operator that runs beside the cluster, in which `kubectl olm` reads its flag.
async fn declare_flag(started: &Local) -> Result<()> {
    let name = Operator::Catalog.name();
    let container = json!({"name": name, "image": builders::IMAGE, "args": [AS_V0]});
    let labels = json!({"app": name});
    let deployment = json!({
        "metadata": {"name": name, "namespace": OLM_NAMESPACE, "labels": labels},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    });
    let deployments: Api<Deployment> = Api::namespaced(started.client(), OLM_NAMESPACE);
    let deployment = serde_json::from_value(deployment).context("a malformed Deployment")?;
    let made = deployments.create(&PostParams::default(), &deployment).await;
    made.map(drop).context("cannot make the Deployment")
}

async fn silence(started: &Arc<Local>) -> Result<()> {
    declare_flag(started).await?;
    for name in DEFINITIONS {
        wait::until_ok("forgets a field", || forget(started, name)).await?;
    }
    let mut audit = started.audit();
    // One that is refused stops its namespace, and one that wants to be asked holds all others.
    let contexts = [
        context(started, "idle::held").await?,
        context(started, "idle::waiting").await?,
        context(started, "idle::refused").await?,
        TestContext::new(Arc::clone(started) as Arc<dyn Provider>, "idle::needed").await?,
    ];
    let [first, second, third, fourth] = &contexts;
    held(first).await?;
    waiting(second).await?;
    refused(third).await?;
    needed(fourth).await?;
    audit.until_idle(&Operator::NAMES, QUIET, TIMEOUT).await?;
    let silent = audit.nothing_for(&Operator::NAMES, SILENCE_AFTER_START).await;
    silent.context("while nothing changed")?;
    for ctx in &contexts {
        ctx.conclude_all_plans().await?;
        is_dropped::<Subscription>(ctx).await?;
        is_dropped::<CatalogSource>(ctx).await?;
    }
    let before = Timestamp::now();
    started.restart_operators().await?;
    let written = audit.until_idle(&Operator::NAMES, SILENCE_AFTER_START, TIMEOUT).await;
    connected_again(started, &written.context("after a start of both operators")?, before).await
}

/// Takes a field out of a definition.
async fn forget(started: &Local, name: &str) -> Result<()> {
    let definitions: Api<CustomResourceDefinition> = Api::all(started.client());
    let mut definition = definitions.get(name).await?;
    for version in &mut definition.spec.versions {
        let schema = version.schema.as_mut().and_then(|schema| schema.open_api_v3_schema.as_mut());
        let fields = schema.and_then(|schema| schema.properties.as_mut());
        let status = fields.and_then(|fields| fields.get_mut("status"));
        let fields = status.and_then(|status| status.properties.as_mut());
        let fields = fields.with_context(|| format!("{name} has no status"))?;
        fields.remove(UNKNOWN).with_context(|| format!("{name} has no {UNKNOWN}"))?;
    }
    let replaced = definitions.replace(name, &PostParams::default(), &definition).await;
    replaced.map(drop).with_context(|| format!("cannot change {name}"))
}

/// Each object says how ready it is, and the field is not there.
async fn is_dropped<K>(ctx: &TestContext) -> Result<()>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    K: Clone + Debug + DeserializeOwned + Serialize,
{
    let all = ctx.api::<K>().list(&ListParams::default()).await?.items;
    ensure!(!all.is_empty(), "there is no {} in {}", K::kind(&()), ctx.namespace);
    for object in &all {
        let value = serde_json::to_value(object)?;
        let conditions = value["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let is_ready = |condition: &Value| condition["type"] == "Ready";
        ensure!(conditions.iter().any(is_ready), "{} has no Ready: {value}", object.name_any());
        ensure!(value["status"][UNKNOWN].is_null(), "{} has {UNKNOWN}", object.name_any());
    }
    Ok(())
}

async fn context(started: &Arc<Local>, name: &str) -> Result<Arc<TestContext>> {
    let ctx = TestContext::new(Arc::clone(started) as Arc<dyn Provider>, name).await?;
    kitchen(&ctx).await?;
    Ok(ctx)
}

/// A group, and a catalog with two versions of each operator.
async fn kitchen(ctx: &TestContext) -> Result<()> {
    let names = ["pinned", "ranged", "paused", "malformed", "one", "two", "three", "refused"];
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &names.map(package)).await.map(drop)
}

fn package(name: &str) -> Package {
    let bundle = |version: &str| {
        let csv = csv(&format!("{name}.v{version}"), version).deployment(name, "default");
        Bundle::new(version, &csv)
    };
    let newer = bundle("1.1.0").replaces(&format!("{name}.v1.0.0"));
    Package::new(name).channel("stable", vec![bundle("1.0.0"), newer])
}

/// Held by a pin and a range while something is installed, by a pause, and by a mistake.
async fn held(ctx: &TestContext) -> Result<()> {
    subscribe(ctx, "pinned", json!({PIN: "true"}), Some("pinned.v1.0.0"), None).await?;
    subscribe(ctx, "ranged", json!({VERSION_RANGE: "<1.1.0"}), None, None).await?;
    subscribe(ctx, "paused", json!({PAUSE: "true"}), None, None).await?;
    subscribe(ctx, "malformed", json!({VERSION_RANGE: "=>1"}), None, None).await?;
    for (name, reason) in [("pinned", "Pinned"), ("ranged", "VersionRange")] {
        ctx.succeeded(&format!("{name}.v1.0.0")).await?;
        ctx.condition(name, "UpgradeHeld", "True", reason).await?;
        ctx.condition(name, "Ready", "True", "Succeeded").await?;
    }
    ctx.condition("paused", "UpgradeHeld", "True", "Paused").await?;
    ctx.condition("paused", "Ready", "False", "Paused").await?;
    ctx.condition("malformed", "UpgradeHeld", "True", "MalformedValue").await?;
    ctx.condition("malformed", "Ready", "False", "MalformedValue").await.map(drop)
}

/// Three that want to be asked.
async fn waiting(ctx: &TestContext) -> Result<()> {
    let names = ["one", "two", "three"];
    for name in names {
        subscribe(ctx, name, json!({}), None, Some(Approval::Manual)).await?;
    }
    for name in names {
        ctx.condition(name, "InstallPlanPending", "True", "RequiresApproval").await?;
        ctx.condition(name, "Ready", "False", "RequiresApproval").await?;
    }
    Ok(())
}

/// One that is pinned to a version that the catalog does not have.
async fn refused(ctx: &TestContext) -> Result<()> {
    subscribe(ctx, "refused", json!({PIN: "true"}), Some("refused.v9.9.9"), None).await?;
    let reason = "ConstraintsNotSatisfiable";
    ctx.condition("refused", "ResolutionFailed", "True", reason).await?;
    ctx.condition("refused", "Ready", "False", reason).await.map(drop)
}

/// A pin approves the version that it names with what that needs, and no upgrade of what it needs: one plan is for all,
/// and waits for the one that wants to be asked.
async fn needed(ctx: &TestContext) -> Result<()> {
    let wires = ctx.kind("Wire");
    let wire = |version: &str| {
        let csv = csv(&format!("wire.v{version}"), version).owns(&wires);
        Bundle::new(version, &csv.deployment("wire", "default")).provides(&wires)
    };
    let lamp = csv("lamp.v1.0.0", "1.0.0").requires(&wires).deployment("lamp", "default");
    let lamp = Package::single("lamp", Bundle::new("1.0.0", &lamp).requires(&wires));
    let all =
        |versions: Vec<Bundle>| [lamp.clone(), Package::new("wire").channel("stable", versions)];
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &all(vec![wire("1.0.0")])).await?;
    let pin = json!({PIN: "true"});
    subscribe(ctx, "lamp", pin, Some("lamp.v1.0.0"), Some(Approval::Manual)).await?;
    ctx.succeeded("wire.v1.0.0").await?;
    ctx.succeeded("lamp.v1.0.0").await?;
    let generated = format!("wire-stable-kitchen-{}", ctx.namespace);
    ctx.installed(&generated, "wire.v1.0.0").await?;
    let newer = wire("1.1.0").replaces("wire.v1.0.0");
    ctx.publish("kitchen", &all(vec![wire("1.0.0"), newer])).await?;
    ctx.condition(&generated, "InstallPlanPending", "True", "RequiresApproval").await.map(drop)
}

async fn subscribe(
    ctx: &TestContext,
    name: &str,
    annotations: Value,
    starting_csv: Option<&str>,
    approval: Option<Approval>,
) -> Result<()> {
    let mut subscription = builders::subscription(&ctx.namespace, name, "stable", "kitchen");
    subscription.metadata.annotations = Some(serde_json::from_value(annotations)?);
    subscription.spec.starting_csv = starting_csv.map(str::to_owned);
    subscription.spec.install_plan_approval = approval;
    ctx.create(&subscription).await.map(drop)
}
