//! Objects that nest deeper than readers of JSON follow, where their definitions let fields be anything:
//! metadata of the claims of ephemeral volumes. One of them must not hide all others of its kind.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use http::{Method, Request};
use olm_testkit::e2e::TestContext;
use olm_testkit::e2e::provider::local::Local;
use olm_testkit::operators::Operator;
use serde_json::{Value, json};

use super::healthy;

/// Levels of the objects; an API server takes ten thousand.
const LEVELS: usize = 400;

/// Where such objects are.
const PLURALS: [&str; 2] = ["subscriptions", "clusterserviceversions"];

/// While they are there, operators are installed in other namespaces, also after both operators began
/// anew and listed everything.
pub async fn nested(local: Arc<Local>, ctx: Arc<TestContext>) -> Result<()> {
    for (plural, object) in PLURALS.into_iter().zip([subscription(), csv()]) {
        call(&ctx, Method::POST, plural, &object).await.context(plural)?;
    }
    healthy(&local, "rolling::beside-nested").await?.remove().await?;
    for operator in Operator::ALL {
        local.replace_operator(operator).await?;
    }
    healthy(&local, "rolling::after-nested").await?.remove().await?;
    for plural in PLURALS {
        call(&ctx, Method::DELETE, &format!("{plural}/nested"), &json!({})).await?;
    }
    gone(&ctx).await
}

/// As a tenant's curl would: typed clients cannot read the answer.
async fn call(ctx: &TestContext, method: Method, path: &str, object: &Value) -> Result<String> {
    let namespace = &ctx.namespace;
    let path = format!("/apis/operators.coreos.com/v1alpha1/namespaces/{namespace}/{path}");
    let request = Request::builder().method(method).uri(path);
    let request = request.header("content-type", "application/json");
    let body = serde_json::to_vec(object)?;
    Ok(ctx.client.request_text(request.body(body)?).await?)
}

/// What is listed in the namespace must be readable again when the scenario ends.
async fn gone(ctx: &TestContext) -> Result<()> {
    for plural in PLURALS {
        let left = call(ctx, Method::GET, &format!("{plural}?limit=500"), &json!({})).await?;
        if left.contains("\"name\":\"nested\"") {
            // From the version of the list on, so that a deletion in between is seen; it ends by itself.
            let path = format!(
                "{plural}?watch=true&timeoutSeconds=20&resourceVersion={}&\
                 fieldSelector=metadata.name%3Dnested",
                version(&left)?
            );
            let events = call(ctx, Method::GET, &path, &json!({})).await?;
            ensure!(events.contains("\"type\":\"DELETED\""), "{plural}/nested stays");
        }
    }
    Ok(())
}

/// The version of a list, whose metadata come last; readers of JSON do not follow what is in it.
fn version(list: &str) -> Result<&str> {
    let (_, version) =
        list.rsplit_once("\"resourceVersion\":\"").context("a list without a version")?;
    version.split('"').next().context("a version without an end")
}

fn deep() -> Value {
    (0..LEVELS).fold(json!({}), |inner, _| json!({"a": inner}))
}

fn volume() -> Value {
    json!({"name": "v", "ephemeral": {"volumeClaimTemplate": {
        "metadata": {"deep": deep()},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }}})
}

fn subscription() -> Value {
    json!({
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "Subscription",
        "metadata": {"name": "nested"},
        "spec": {"name": "nested", "source": "none", "sourceNamespace": "none",
            "config": {"volumes": [volume()]}},
    })
}

fn csv() -> Value {
    let labels = json!({"matchLabels": {"app": "nested"}});
    json!({
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {"name": "nested"},
        "spec": {
            "displayName": "nested",
            "installModes": [{"type": "OwnNamespace", "supported": true}],
            "install": {"strategy": "deployment", "spec": {"deployments": [{"name": "nested", "spec": {
                "selector": labels,
                "template": {
                    "metadata": {"labels": {"app": "nested"}},
                    "spec": {"containers": [{"name": "c", "image": "none"}], "volumes": [volume()]},
                },
            }}]}},
        },
    })
}
