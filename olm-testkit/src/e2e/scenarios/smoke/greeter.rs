//! An operator that does nothing but answer requests with its version.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::builders::{Bundle, Crd, CsvBuilder, csv, readiness_probe};
use crate::e2e::TestContext;
use crate::wait::TIMEOUT;

/// Where it listens.
const PORT: u16 = 8080;

/// How often it is asked.
const ASK: Duration = Duration::from_millis(500);

/// One version, with a kind and a Service.
pub(super) fn bundle(ctx: &TestContext, version: &str) -> Bundle {
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "greeter"},
        "spec": {"selector": {"app": "greeter"}, "ports": [{"port": 80, "targetPort": PORT}]},
    });
    Bundle::new(version, &version_of(ctx, version)).provides(&kind(ctx)).manifest(service)
}

/// The kind that it owns.
pub(super) fn kind(ctx: &TestContext) -> Crd {
    ctx.kind("Greeter")
}

/// The ClusterServiceVersion of one version, whose Pod may run anywhere.
pub(super) fn version_of(ctx: &TestContext, version: &str) -> CsvBuilder {
    let args = args(version);
    let pods = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]);
    csv(&format!("greeter.v{version}"), version)
        .owns(&kind(ctx))
        .deployment("greeter", "greeter")
        .permission("greeter", pods)
        .deployments(|spec| {
            let pod = &mut spec["template"]["spec"];
            pod["securityContext"] = json!({
                "runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"},
            });
            let container = &mut pod["containers"][0];
            container["args"] = json!(args);
            container["readinessProbe"] =
                readiness_probe(json!({"httpGet": {"path": "/", "port": PORT}}));
            container["securityContext"] = json!({
                "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]},
            });
        })
}

/// Waits until it answers in a version, through its Service and the API server.
pub(super) async fn answers(ctx: &TestContext, version: &str) -> Result<()> {
    let path = format!("/api/v1/namespaces/{}/services/greeter:80/proxy/", ctx.namespace);
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let request = http::Request::get(&path).body(Vec::new()).context("bad request")?;
        let answer = ctx.client.request_text(request).await;
        match answer {
            Ok(text) if text.split_whitespace().any(|word| word == version) => return Ok(()),
            answer if Instant::now() > deadline => {
                bail!("the operator should answer as {version}, but there is {answer:?}")
            }
            _ => sleep(ASK).await,
        }
    }
}

fn args(version: &str) -> Vec<String> {
    let (port, name) = (PORT.to_string(), "greeter");
    let words = ["serve", "--port", port.as_str(), "--name", name, "--version", version];
    words.map(str::to_owned).into()
}
