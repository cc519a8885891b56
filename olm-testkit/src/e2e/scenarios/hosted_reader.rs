//! A Pod that reads a catalog through its Service, and what it says of that.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use serde::Deserialize;
use serde_json::json;

use crate::builders::IMAGE;
use crate::e2e::TestContext;
use crate::wait;

const READER: &str = "reader";
const PORT: u16 = 8080;

/// Reads that have to succeed after each step, each over a connection of its own.
const READS: u64 = 20;

/// What the reader says of itself.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReaderReport {
    pub(super) reads: u64,
    failed: u64,
    failures: Vec<String>,
    /// Connections that were refused and made again.
    pub(super) refused: u64,
    pub(super) slowest_seconds: f64,
    packages: Vec<String>,
}

/// Starts a reader of a catalog in OLM's namespace, and waits until it has read. For each read it makes a connection,
/// and where that is refused another one, at most so many, as gRPC clients do.
pub(super) async fn start(
    ctx: &TestContext,
    catalog: &str,
    connections: usize,
) -> Result<ReaderReport> {
    let from = vec![format!("{catalog}.{}.svc:50051", ctx.olm_namespace()?); connections];
    let pod = json!({"metadata": {"name": READER}, "spec": {"containers": [{
        "name": READER, "image": IMAGE,
        "args": ["read", "--port", PORT.to_string(), "--from", from.join(",")],
    }]}});
    let pod: Pod = serde_json::from_value(pod).context("a malformed Pod")?;
    ctx.create(&pod).await?;
    // Where Services lead is known on the node a moment later than to the API server.
    wait::until_ok("reads the catalog", || async {
        let said = said(ctx).await?;
        ensure!(said.packages == ["kettle"], "it read {said:?}");
        anyhow::Ok(said)
    })
    .await
}

/// Waits for further reads; none may have failed since `before`.
pub(super) async fn reads_on(ctx: &TestContext, before: &ReaderReport) -> Result<ReaderReport> {
    let begun = said(ctx).await?.reads;
    let said = wait::until_ok("reads on", || async {
        let said = said(ctx).await?;
        ensure!(said.reads >= begun + READS, "it read {} times", said.reads);
        anyhow::Ok(said)
    })
    .await?;
    ensure!(said.failed == before.failed, "reads failed: {:?}", said.failures);
    ensure!(said.packages == ["kettle"], "it reads {:?}", said.packages);
    Ok(said)
}

async fn said(ctx: &TestContext) -> Result<ReaderReport> {
    let path = format!("/api/v1/namespaces/{}/pods/{READER}:{PORT}/proxy/", ctx.namespace);
    let request = http::Request::get(path).body(Vec::new()).context("bad request")?;
    let text = ctx.client.request_text(request).await?;
    serde_json::from_str(&text).with_context(|| format!("the reader says {text}"))
}
