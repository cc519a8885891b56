//! OperatorGroups that fight, select nothing, or name thousands of namespaces.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use kube::api::{Api, PostParams};
use olm_testkit::builders::{self, Crd, csv};
use olm_testkit::e2e::provider::local::Local;
use olm_testkit::e2e::{Provider, TestContext};
use olm_testkit::wait;
use olm_types::api::{ClusterServiceVersion, CsvPhase, OperatorGroup};
use olm_types::labels::operator_group_uid;
use serde_json::json;

/// Namespaces in one list; most of them do not exist.
const MANY: usize = 10_000;

/// Two groups that target one namespace and whose operators own one API, a static group among
/// them, and a group that selects nothing.
pub(super) async fn contested(started: &Arc<Local>) -> Result<Arc<TestContext>> {
    let ctx = TestContext::new(Arc::clone(started) as Arc<dyn Provider>, "idle::contested").await?;
    let throne = Crd::new("contested.example.com", "v1", "Throne");
    let crd = serde_json::from_value(throne.manifest()).context("a malformed CRD")?;
    let crds: Api<CustomResourceDefinition> = Api::all(ctx.client.clone());
    crds.create(&PostParams::default(), &crd).await.context("cannot create the CRD")?;
    ctx.operator_group().await?;
    let king = csv("king.v1.0.0", "1.0.0").owns(&throne).deployment("king", "default");
    ctx.create(&king.build()).await?;
    ctx.succeeded("king.v1.0.0").await?;
    let rival = Side::new(&ctx, "rival", json!({"targetNamespaces": [ctx.namespace]})).await?;
    let pretender = csv("pretender.v1.0.0", "1.0.0").owns(&throne).deployment("p", "default");
    rival.fails(&pretender.build(), "InterOperatorGroupOwnerConflict").await?;
    let fixed = json!({"targetNamespaces": [ctx.namespace], "staticProvidedAPIs": true});
    let fixed = Side::new(&ctx, "fixed", fixed).await?;
    let other = Crd::new("contested.example.com", "v1", "Crown");
    let modest = csv("modest.v1.0.0", "1.0.0").owns(&other).deployment("m", "default");
    let reason = "CannotModifyStaticOperatorGroupProvidedAPIs";
    fixed.fails(&modest.build(), reason).await?;
    let nothing = json!({"selector": {"matchLabels": {"no-namespace": "has-this"}}});
    let nothing = Side::new(&ctx, "nothing", nothing).await?;
    let lonely = csv("lonely.v1.0.0", "1.0.0").deployment("l", "default");
    nothing.fails(&lonely.build(), "NoTargetNamespaces").await?;
    Ok(ctx)
}

/// A group that names namespaces by the thousand; two of them exist.
pub(super) async fn many_targets(started: &Arc<Local>) -> Result<Arc<TestContext>> {
    let ctx =
        TestContext::new(Arc::clone(started) as Arc<dyn Provider>, "idle::many_targets").await?;
    let mut names: Vec<String> = (0..MANY).map(|number| format!("absent-{number}")).collect();
    names.push(ctx.namespace.clone());
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    ctx.create(&builders::operator_group(&ctx.namespace, "group", &names)).await?;
    let listed = |group: &OperatorGroup| {
        group.status.as_ref().is_some_and(|status| status.namespaces.len() == MANY + 1)
    };
    let group = wait::until(&ctx.api(), "group", "list its targets", listed).await?;
    // Namespaces are labelled last, which takes a while with so many names.
    let label = operator_group_uid(&group.uid().unwrap_or_default());
    let namespaces: Api<Namespace> = Api::all(ctx.client.clone());
    wait::until(&namespaces, &ctx.namespace, "have the label of its group", |one: &Namespace| {
        one.labels().contains_key(&label)
    })
    .await?;
    let listed = group.status.map(|status| status.namespaces).unwrap_or_default();
    ensure!(listed.is_sorted(), "the list is in no order");
    ctx.create(&csv("everywhere.v1.0.0", "1.0.0").deployment("everywhere", "default").build())
        .await?;
    ctx.succeeded("everywhere.v1.0.0").await?;
    Ok(ctx)
}

/// Another namespace with a group of its own.
struct Side {
    csvs: Api<ClusterServiceVersion>,
}

impl Side {
    async fn new(ctx: &TestContext, name: &str, spec: serde_json::Value) -> Result<Self> {
        let name = format!("{}-{name}", ctx.namespace);
        let (client, once) = (ctx.client.clone(), PostParams::default());
        let namespaces: Api<Namespace> = Api::all(client.clone());
        namespaces.create(&once, &builders::namespace(&name)).await?;
        let groups: Api<OperatorGroup> = Api::namespaced(client.clone(), &name);
        let mut group = builders::operator_group(&name, "group", &[]);
        group.spec = serde_json::from_value(spec)?;
        groups.create(&once, &group).await.context("cannot create a group")?;
        Ok(Self { csvs: Api::namespaced(client, &name) })
    }

    async fn fails(&self, csv: &ClusterServiceVersion, reason: &str) -> Result<()> {
        let name = csv.metadata.name.clone().unwrap_or_default();
        self.csvs.create(&PostParams::default(), csv).await.context("cannot create a CSV")?;
        let failed = |csv: &ClusterServiceVersion| {
            csv.status.as_ref().is_some_and(|status| {
                status.phase == CsvPhase::Failed && status.reason.as_deref() == Some(reason)
            })
        };
        let what = format!("fail for {reason}");
        wait::until(&self.csvs, &name, &what, failed).await.map(drop)
    }
}
