//! A group that selects namespaces by label: what is labelled belongs to it at once, and what is
//! not any more, does not.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Namespace;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use olm_testkit::builders::{self, csv};
use olm_testkit::e2e::TestContext;
use olm_testkit::wait;
use olm_types::api::{ClusterServiceVersion, CsvPhase, OperatorGroup};
use serde_json::{Value, json};
use tokio::time::Instant;

const CSV: &str = "shepherd.v1.0.0";

/// v0 acts on a new label at its next resync, minutes later.
const AT_ONCE: Duration = Duration::from_secs(10);

/// Nothing is selected, then one namespace, then two, then one again; then the group goes.
pub async fn selector(ctx: Arc<TestContext>) -> Result<()> {
    let flock = ctx.namespace.clone();
    let names = ["black", "white"].map(|name| format!("{flock}-{name}"));
    let [black, white] = &names;
    let namespaces: Api<Namespace> = Api::all(ctx.client.clone());
    for name in &names {
        namespaces.create(&PostParams::default(), &builders::namespace(name)).await?;
    }
    let mut group = builders::operator_group(&flock, "group", &[]);
    group.spec = serde_json::from_value(json!({"selector": {"matchLabels": {"flock": flock}}}))?;
    let uid = ctx.create(&group).await?.uid().context("a group without uid")?;
    ctx.create(&csv(CSV, "1.0.0").deployment("shepherd", "default").build()).await?;
    ctx.csv_phase(CSV, CsvPhase::Failed, "NoTargetNamespaces").await?;
    label(&namespaces, black, json!(flock)).await?;
    ctx.succeeded(CSV).await?;
    copied(&ctx, black).await?;
    let started = Instant::now();
    label(&namespaces, white, json!(flock)).await?;
    copied(&ctx, white).await?;
    ensure!(started.elapsed() < AT_ONCE, "a label counts after {:?}", started.elapsed());
    shown(&namespaces, white, &uid, true).await?;
    label(&namespaces, black, Value::Null).await?;
    wait::until_gone(&copies(&ctx, black), CSV).await?;
    shown(&namespaces, black, &uid, false).await?;
    // A target that goes is no target any more, and the group with members may go as well.
    namespaces.delete(white, &DeleteParams::default()).await?;
    wait::until_gone(&namespaces, white).await?;
    ctx.csv_phase(CSV, CsvPhase::Failed, "NoTargetNamespaces").await?;
    let groups: Api<OperatorGroup> = ctx.api();
    groups.delete("group", &DeleteParams::default()).await.context("cannot delete the group")?;
    ctx.csv_phase(CSV, CsvPhase::Failed, "NoOperatorGroup").await.map(drop)
}

async fn label(namespaces: &Api<Namespace>, name: &str, value: Value) -> Result<()> {
    let patch = Patch::Merge(json!({"metadata": {"labels": {"flock": value}}}));
    let labelled = namespaces.patch(name, &PatchParams::default(), &patch).await;
    labelled.map(drop).context("cannot label a namespace")
}

fn copies(ctx: &TestContext, namespace: &str) -> Api<ClusterServiceVersion> {
    Api::namespaced(ctx.client.clone(), namespace)
}

async fn copied(ctx: &TestContext, namespace: &str) -> Result<()> {
    let shows = |csv: &ClusterServiceVersion| {
        let status = csv.status.as_ref();
        status.is_some_and(|status| {
            status.phase == CsvPhase::Succeeded && status.reason.as_deref() == Some("Copied")
        })
    };
    wait::until(&copies(ctx, namespace), CSV, "show the original", shows).await.map(drop)
}

/// Waits until a namespace shows by its labels that the group targets it, or does not.
async fn shown(namespaces: &Api<Namespace>, name: &str, uid: &str, is: bool) -> Result<()> {
    let key = format!("olm.operatorgroup.uid/{uid}");
    let what = format!("have the label {key}: {is}");
    let has = |namespace: &Namespace| namespace.labels().contains_key(&key) == is;
    wait::until(namespaces, name, &what, has).await.map(drop)
}
