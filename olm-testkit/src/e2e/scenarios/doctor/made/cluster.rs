//! What concerns a whole cluster.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::discovery::v1::EndpointSlice;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use olm_types::api::CatalogSource;
use serde_json::json;

use super::super::CATALOG;
use super::super::catalog::operator;
use super::super::found::{Doctor, count};
use crate::builders::{self, deployment_spec};
use crate::e2e::TestContext;
use crate::e2e::scenarios::Program;
use crate::operators::OLM_NAMESPACE;
use crate::packages::{self, API_SERVICE, SERVICE};

/// A second Deployment of olm-operator; where the first one runs outside of the cluster, that too.
pub(in super::super) async fn second_olm(ctx: Arc<TestContext>) -> Result<()> {
    let olm: Api<Deployment> = Api::namespaced(ctx.client.clone(), OLM_NAMESPACE);
    if olm.get_opt("olm-operator").await?.is_none() {
        olm.create(&PostParams::default(), &program()?).await?;
        // Times of creation are whole seconds, and the older one stays.
        tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    }
    ctx.create(&program()?).await.map(drop)
}

fn program() -> Result<Deployment> {
    let spec = deployment_spec("olm-operator", "default");
    let object = json!({"metadata": {"name": "olm-operator", "labels": {"app": "olm-operator"}},
        "spec": spec});
    serde_json::from_value(object).context("a malformed Deployment")
}

/// What is looked at before a take-over, and only then.
pub(in super::super) async fn before_a_take_over(
    home: &TestContext,
    doctor: &Doctor,
) -> Result<()> {
    home.operator_group().await?;
    let stuck = operator("stuck", "1.0.0").deployments(|spec| {
        spec["template"]["spec"]["nodeSelector"] = json!({"nowhere": "true"});
    });
    home.create(&stuck.build()).await?;
    let sources: Api<CatalogSource> = Api::namespaced(home.client.clone(), OLM_NAMESPACE);
    let mut legacy =
        serde_json::to_value(builders::catalog_source(OLM_NAMESPACE, "legacy", "127.0.0.1:1"))?;
    legacy["spec"]["grpcPodConfig"] = json!({"securityContextConfig": "legacy"});
    sources.create(&PostParams::default(), &serde_json::from_value(legacy)?).await?;
    let services: Api<APIService> = Api::all(home.client.clone());
    let absent = format!("v1.{}.example.com", home.namespace);
    let spec = json!({"group": format!("{}.example.com", home.namespace), "version": "v1",
        "groupPriorityMinimum": 100, "versionPriority": 100,
        "service": {"namespace": home.namespace, "name": "absent"}});
    let object = json!({"metadata": {"name": absent}, "spec": spec});
    services.create(&PostParams::default(), &serde_json::from_value(object)?).await?;

    let place = home.namespace.as_str();
    let own = [("OLM037", place), ("OLM039", place), ("OLM040", OLM_NAMESPACE)];
    doctor.until(&["--pre"], &own).await?;
    let texts = [("OLM037", "no namespace can be deleted"), ("OLM039", "wait until it is done")];
    for (code, text) in texts {
        let found = doctor.finding(&["--pre"], code, place).await?;
        let fix = found["fix"].as_str().unwrap_or_default();
        ensure!(found["class"] == "wait" && fix.contains(text), "{found:#}");
    }
    let fix = doctor.finding(&["--pre"], "OLM040", OLM_NAMESPACE).await?;
    doctor.as_printed(fix["fix"].as_str().unwrap_or_default()).await?;
    let report = doctor.report(&["--pre"]).await?;
    ensure!(count(&report, "OLM040", OLM_NAMESPACE) == 0, "{report:#}");
    // What a user may not read is skipped.
    let report = doctor.report(&["--pre", "--as", "stranger"]).await?;
    let denied = &report["findings"][0];
    ensure!(denied["code"] == "OLM038" && denied["class"] == "ask the author", "{report:#}");
    let fix = denied["fix"].as_str().unwrap_or_default();
    ensure!(fix.contains("ask an administrator of the cluster"), "{denied:#}");
    let (skipped, checks) = (report["skipped"].as_array(), report["checks"].as_array());
    let skipped = skipped.map_or(0, Vec::len) + 1;
    ensure!(Some(skipped) == checks.map(Vec::len), "{report:#}");
    let report = doctor.report(&[]).await?;
    ensure!(own.iter().all(|(code, home)| count(&report, code, home) == 0), "{report:#}");
    services.delete(&absent, &DeleteParams::default()).await?;
    sources.delete("legacy", &DeleteParams::default()).await?;
    Ok(())
}

/// No address is behind the packages API. That of v0's package server is made again at once, as its Service
/// selects Pods.
pub(in super::super) async fn packages_api_away(home: &TestContext, doctor: &Doctor) -> Result<()> {
    if home.facts().is_v0 {
        return Ok(());
    }
    let slices: Api<EndpointSlice> = Api::namespaced(home.client.clone(), OLM_NAMESPACE);
    let of_packages =
        ListParams::default().labels(&format!("kubernetes.io/service-name={SERVICE}"));
    for slice in slices.list(&of_packages).await? {
        slices.delete(&slice.name_any(), &DeleteParams::default()).await?;
    }
    let report = doctor.until(&[], &[("OLM024", API_SERVICE)]).await?;
    let findings = report["findings"].as_array().context("it reports no findings")?;
    let away = findings.iter().find(|one| one["code"] == "OLM024").context("it is not found")?;
    ensure!(away["class"] == "wait", "{away}");
    let fix = away["fix"].as_str().unwrap_or_default();
    ensure!(fix.contains("no namespace can be deleted until it answers"), "{away}");
    looks_without_it(home).await?;
    packages::announce(&home.client).await?;
    packages::until_available(&home.client).await
}

/// What needs the packages API says that it is away, and shows what there is without it.
async fn looks_without_it(home: &TestContext) -> Result<()> {
    let program = Program::new(home).await?;
    let listed = program.run(&["list"]).await?;
    let warns = listed.errors.contains("warning: cannot read packagemanifests: ");
    ensure!(listed.code == Some(0) && warns, "{listed:?}");
    let sources: Api<CatalogSource> = Api::namespaced(home.client.clone(), OLM_NAMESPACE);
    let address = sources.get(CATALOG).await?.spec.address.context("it has no address")?;
    let flag = format!("{OLM_NAMESPACE}/{CATALOG}={address}");
    for command in ["search", "show"] {
        let alone = program.run(&[command, "plain"]).await?;
        alone.failed_with("the packages API cannot be read, and no catalog")?;
        let asked = program.run(&[command, "plain", "--catalog", &flag]).await?;
        let says = asked.errors.contains("the catalogs themselves are asked");
        let is_shown = matches!(asked.code, Some(0 | 3)) && asked.printed.contains("plain");
        ensure!(says && is_shown, "{asked:?}");
    }
    Ok(())
}
