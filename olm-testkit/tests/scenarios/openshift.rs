//! What OpenShift has and other clusters lack: ClusterOperators that say how OLM is, and the TLS profile
//! of all servers. Both operators find the kinds when they start.

use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, PostParams};
use kube::core::GroupVersionKind;
use kube::runtime::wait::await_condition;
use olm_testkit::builders::csv;
use olm_testkit::e2e::TestContext;
use olm_testkit::e2e::provider::local::Local;
use olm_testkit::operators::{Operator, StartOptions};
use olm_testkit::{packages, wait};
use olm_types::annotations::PROPERTIES;
use olm_types::api::ClusterServiceVersion;
use olm_types::labels::CLUSTER_OPERATOR_NAME;
use rustls::pki_types::ServerName;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::rolling::FLAGS;

/// What the flags name.
const REPORTS: [&str; 2] = ["operator-lifecycle-manager", "operator-lifecycle-manager-catalog"];

/// The ClusterOperator of the package server, which v0 fills from CSVs with its name in a label.
const PACKAGE_SERVER: &str = "operator-lifecycle-manager-packageserver";

/// CSVs that a tenant writes: what they say about the last version of OpenShift that they work with, and what the
/// ClusterOperator says of that where it counts.
const LIMITS: [(&str, &str, &str); 2] = [
    ("old.v1.0.0", "\"4.0\"", "maximum supported OCP version for"),
    ("odd.v1.0.0", "\"newest\"", "has invalid olm.maxOpenShiftVersion properties"),
];

/// Every ClusterOperator becomes Available, and the packages API speaks what the cluster wants.
pub async fn reports_and_profile(local: Arc<Local>, ctx: Arc<TestContext>) -> Result<()> {
    let definitions = [kind("ClusterOperator"), kind("APIServer")];
    for definition in &definitions {
        define(&ctx, definition).await?;
    }
    let profile = json!({"tlsSecurityProfile": {"type": "Modern", "modern": {}}});
    let servers = objects(&ctx, "APIServer");
    servers.create(&PostParams::default(), &object("APIServer", profile)?).await?;
    for operator in Operator::ALL {
        local.replace_operator(operator).await?;
    }
    for name in REPORTS {
        let found = |object: Option<&DynamicObject>| object.is_some_and(is_available);
        let found = await_condition(objects(&ctx, "ClusterOperator"), name, found);
        let found = timeout(wait::TIMEOUT, found).await;
        found.with_context(|| format!("ClusterOperator {name} does not become Available"))??;
    }
    packages::until_available(&ctx.client).await?;
    ensure!(connects(&ctx, &TLS13).await?, "the packages API does not speak TLS 1.3");
    ensure!(!connects(&ctx, &TLS12).await?, "the packages API speaks TLS 1.2");
    limits(&local, &ctx).await?;
    for definition in &definitions {
        crds(&ctx).delete(&definition.name_any(), &DeleteParams::default()).await?;
    }
    Ok(())
}

/// What a tenant writes into the properties of a CSV keeps the cluster from being upgraded as in v0, and under the
/// strict policy it does not. Nor does a label of his have the package server's ClusterOperator show his CSV.
async fn limits(local: &Local, ctx: &TestContext) -> Result<()> {
    ctx.operator_group().await?;
    for (name, value, _) in LIMITS {
        let property =
            format!(r#"{{"properties":[{{"type":"olm.maxOpenShiftVersion","value":{value}}}]}}"#);
        let limited = csv(name, "1.0.0").deployment("old", "default").with(|csv| {
            csv.annotations_mut().insert(PROPERTIES.to_owned(), property);
            csv.labels_mut().insert(CLUSTER_OPERATOR_NAME.to_owned(), PACKAGE_SERVER.to_owned());
        });
        ctx.create(&limited.build()).await?;
    }
    restart(local, "v0").await?;
    let names_both = |message: &str| {
        LIMITS.iter().all(|(name, _, said)| message.contains(name) && message.contains(said))
    };
    upgradeable(ctx, "False", names_both).await?;
    is_shown(ctx, true).await?;
    restart(local, "strict").await?;
    upgradeable(ctx, "True", str::is_empty).await?;
    is_shown(ctx, false).await?;
    for (name, ..) in LIMITS {
        let csvs: Api<ClusterServiceVersion> = ctx.api();
        csvs.delete(name, &DeleteParams::default()).await?;
    }
    local.replace_operator(Operator::Olm).await
}

/// Starts olm-operator again, with this policy and as on a cluster of OpenShift 4.16.
async fn restart(local: &Local, policy: &str) -> Result<()> {
    let code = local.take_operator(Operator::Olm)?.terminate()?;
    ensure!(code == 0, "olm-operator ended with {code}");
    let flags = FLAGS.both.iter().map(|flag| (*flag).to_owned());
    let own = [
        format!("--tenant-policy={policy}"),
        format!("--writePackageServerStatusName={PACKAGE_SERVER}"),
    ];
    let args = flags.chain(own).collect();
    let env = vec![("RELEASE_VERSION".to_owned(), "4.16.0".to_owned())];
    let log = format!("olm-operator-{policy}");
    let special = StartOptions { log, args, env, ..StartOptions::default() };
    local.start_operator(Operator::Olm, special).await?.until_ready().await
}

/// Waits until the ClusterOperator of the package server shows a CSV of the tenant, or none.
async fn is_shown(ctx: &TestContext, expected: bool) -> Result<()> {
    let shows = |object: &DynamicObject| {
        let related = object.data.pointer("/status/relatedObjects").and_then(Value::as_array);
        related.into_iter().flatten().any(|one| {
            one["resource"] == "clusterserviceversions" && one["namespace"] == ctx.namespace
        })
    };
    let found = |object: Option<&DynamicObject>| {
        object.is_some_and(|object| {
            condition(object, "Progressing").is_some() && shows(object) == expected
        })
    };
    let found = await_condition(objects(ctx, "ClusterOperator"), PACKAGE_SERVER, found);
    let found = timeout(wait::TIMEOUT, found).await;
    let what = if expected { "does not show" } else { "shows" };
    found.with_context(|| format!("{PACKAGE_SERVER} {what} a CSV of the tenant"))??;
    Ok(())
}

/// Waits until OLM says whether the cluster may be upgraded, and why.
async fn upgradeable(ctx: &TestContext, status: &str, why: impl Fn(&str) -> bool) -> Result<()> {
    let [name, _] = REPORTS;
    let says =
        |one: &Value| one["status"] == status && why(one["message"].as_str().unwrap_or_default());
    let found = |object: Option<&DynamicObject>| {
        object.and_then(|object| condition(object, "Upgradeable")).is_some_and(&says)
    };
    let found =
        timeout(wait::TIMEOUT, await_condition(objects(ctx, "ClusterOperator"), name, found));
    if let Ok(found) = found.await {
        return found.map(drop).context("cannot watch ClusterOperators");
    }
    let last = objects(ctx, "ClusterOperator").get(name).await?;
    bail!("Upgradeable does not become {status}: {}", last.data["status"]["conditions"])
}

/// A kind of OpenShift's API; its schema does not matter here.
pub fn kind(kind: &str) -> CustomResourceDefinition {
    let plural = format!("{}s", kind.to_lowercase());
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = json!({
        "metadata": {"name": format!("{plural}.config.openshift.io")},
        "spec": {
            "group": "config.openshift.io", "scope": "Cluster",
            "names": {"kind": kind, "plural": plural},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}}}],
        },
    });
    serde_json::from_value(definition).unwrap_or_default()
}

/// Waits until the kind is served.
pub async fn define(ctx: &TestContext, definition: &CustomResourceDefinition) -> Result<()> {
    let name = definition.name_any();
    crds(ctx).create(&PostParams::default(), definition).await?;
    wait::until(&crds(ctx), &name, "be served", |crd: &CustomResourceDefinition| {
        let mut conditions =
            crd.status.iter().flat_map(|status| status.conditions.iter().flatten());
        conditions.any(|one| one.type_ == "Established" && one.status == "True")
    })
    .await
    .map(drop)
}

fn crds(ctx: &TestContext) -> Api<CustomResourceDefinition> {
    Api::all(ctx.client.clone())
}

/// Objects of such a kind.
pub fn objects(ctx: &TestContext, kind: &str) -> Api<DynamicObject> {
    let gvk = GroupVersionKind::gvk("config.openshift.io", "v1", kind);
    Api::all_with(ctx.client.clone(), &ApiResource::from_gvk(&gvk))
}

/// The one object of such a kind.
pub fn object(kind: &str, spec: Value) -> Result<DynamicObject> {
    let object = json!({"apiVersion": "config.openshift.io/v1", "kind": kind,
        "metadata": {"name": "cluster"}, "spec": spec});
    serde_json::from_value(object).context("a malformed object")
}

fn is_available(object: &DynamicObject) -> bool {
    condition(object, "Available").is_some_and(|one| one["status"] == "True")
}

fn condition<'a>(object: &'a DynamicObject, kind: &str) -> Option<&'a Value> {
    let conditions = object.data.pointer("/status/conditions").and_then(Value::as_array);
    conditions.into_iter().flatten().find(|one| one["type"] == kind)
}

/// Whether the packages API shakes hands in this version. What it is, is not checked: that does the API
/// server.
async fn connects(ctx: &TestContext, version: &'static SupportedProtocolVersion) -> Result<bool> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version])?
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let address = packages::address(&ctx.client).await?;
    let stream = TcpStream::connect(address).await.context("nothing listens")?;
    let connector = TlsConnector::from(Arc::new(config));
    let name = ServerName::try_from("packageserver-service")?;
    match connector.connect(name, stream).await {
        Ok(_) => Ok(true),
        // Its certificate came, so that both sides agreed on the version before.
        Err(error) => Ok(error.to_string().contains("UnknownIssuer")),
    }
}
