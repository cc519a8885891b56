//! An install and an upgrade with a change of the kind, and how they end.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Result, ensure};
use olm_testkit::builders::{Bundle, Crd, Package, csv};
use olm_testkit::dump::Kinds;
use olm_testkit::e2e::TestContext;
use olm_testkit::wait;
use olm_types::api::ClusterServiceVersion;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

/// How often the end is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// The versions of the operator.
const VERSIONS: [&str; 2] = ["lamp.v1.0.0", "lamp.v1.1.0"];

/// Kinds of which Kubernetes makes objects whenever it likes.
const OTHERS: [&str; 5] = ["ControllerRevision", "EndpointSlice", "Event", "Pod", "ReplicaSet"];

/// How the scenario ends: kinds with their states, and how many objects there are of each.
const END: [(&str, &str, usize); 11] = [
    ("CatalogSource", "", 1),
    ("ClusterServiceVersion", "Succeeded", 1),
    ("ConfigMap", "", 1),
    ("Deployment", "", 1),
    ("InstallPlan", "Complete", 2),
    ("OperatorCondition", "", 1),
    ("OperatorGroup", "", 1),
    ("Role", "", 2),
    ("RoleBinding", "", 2),
    ("ServiceAccount", "", 2),
    ("Subscription", "AtLatestKnown", 1),
];

/// The whole scenario.
pub async fn play(ctx: &TestContext) -> Result<()> {
    begin(ctx).await?;
    finish(ctx).await
}

/// Installs the first version.
pub async fn begin(ctx: &TestContext) -> Result<()> {
    ctx.operator_group().await?;
    ctx.catalog("shop", &lamps(ctx, 1)).await?;
    ctx.subscribe("lamp", "shop").await?;
    ctx.succeeded(VERSIONS[0]).await.map(drop)
}

/// The catalog has the second version.
pub async fn publish(ctx: &TestContext) -> Result<()> {
    ctx.publish("shop", &lamps(ctx, 2)).await
}

/// Upgrades to the second version.
pub async fn finish(ctx: &TestContext) -> Result<()> {
    publish(ctx).await?;
    arrive(ctx).await
}

/// Waits until the second version has taken the place of the first one.
pub async fn arrive(ctx: &TestContext) -> Result<()> {
    ctx.at_latest("lamp", VERSIONS[1]).await?;
    ctx.succeeded(VERSIONS[1]).await?;
    wait::until_gone(&ctx.api::<ClusterServiceVersion>(), VERSIONS[0]).await
}

/// Waits until nothing is there twice, nothing is missing, and nothing is half written: the last
/// status may follow, and what belonged to the old version is collected as garbage.
pub async fn check_end(ctx: &TestContext) -> Result<()> {
    let kinds = Kinds::discover(&ctx.client).await?;
    let expected = END.map(|(kind, state, count)| ((kind.to_owned(), state.to_owned()), count));
    let expected = Counts::from(expected);
    let deadline = Instant::now() + wait::TIMEOUT;
    loop {
        let found = count(&kinds.objects_in(&ctx.client, &ctx.namespace).await?);
        if found == expected {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "another end: {found:#?}");
        sleep(LOOK).await;
    }
}

/// How many objects there are, by kind and state.
type Counts = BTreeMap<(String, String), usize>;

fn count(objects: &[Value]) -> Counts {
    let mut found = Counts::new();
    for object in objects {
        let kind = object.pointer("/kind").and_then(Value::as_str).unwrap_or_default();
        if !OTHERS.contains(&kind) {
            *found.entry((kind.to_owned(), state(object).to_owned())).or_default() += 1;
        }
    }
    found
}

fn state(object: &Value) -> &str {
    let states = ["/status/phase", "/status/state"].iter();
    states.filter_map(|state| object.pointer(state)).find_map(Value::as_str).unwrap_or_default()
}

fn lamps(ctx: &TestContext, versions: usize) -> [Package; 1] {
    let (old, new) = (ctx.kind("Lamp"), ctx.kind("Lamp").and_version("v2"));
    let all = [lamp("1.0.0", &old), lamp("1.1.0", &new).replaces(VERSIONS[0])];
    [Package::new("lamp").channel("stable", all.into_iter().take(versions).collect())]
}

fn lamp(version: &str, kind: &Crd) -> Bundle {
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}]);
    let csv = csv(&format!("lamp.v{version}"), version)
        .owns(kind)
        .deployment("lamp", "lamp")
        .permission("lamp", rules.clone())
        .cluster_permission("lamp", rules);
    Bundle::new(version, &csv).provides(kind)
}
