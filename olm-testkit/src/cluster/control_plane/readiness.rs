//! The last steps to a usable cluster: an API server that answers, and a node that is Ready.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use k8s_openapi::api::core::v1::{Node, ServiceAccount};
use kube::api::Api;
use tokio::time::{Instant, sleep};

use crate::process::Running;

/// What a start may take on a loaded machine.
const LIMIT: Duration = Duration::from_secs(120);

/// Between two looks.
const POLL: Duration = Duration::from_millis(100);

/// Waits until the API server says it is ready, watching over those it needs.
pub async fn api_server(client: &kube::Client, needed: &mut [Running]) -> Result<()> {
    let deadline = Instant::now() + LIMIT;
    loop {
        needed.iter_mut().try_for_each(Running::check)?;
        let request = http_get("/readyz")?;
        match client.request_text(request).await {
            Ok(_) => return Ok(()),
            Err(error) if Instant::now() > deadline => {
                return Err(error).context("the API server is not ready");
            }
            Err(_) => sleep(POLL).await,
        }
    }
}

/// Waits until pods can be created, scheduled to this node and run.
pub async fn workloads(client: &kube::Client, node: &str, needed: &mut [Running]) -> Result<()> {
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), "default");
    let nodes: Api<Node> = Api::all(client.clone());
    let deadline = Instant::now() + LIMIT;
    loop {
        needed.iter_mut().try_for_each(Running::check)?;
        let found = nodes.get_opt(node).await.context("cannot read the node")?;
        let account = accounts.get_opt("default").await.context("cannot read an account")?;
        if found.as_ref().is_some_and(is_ready) && account.is_some() {
            return Ok(());
        }
        if Instant::now() > deadline {
            bail!("{}", reason(node, found.as_ref()));
        }
        sleep(POLL).await;
    }
}

fn is_ready(node: &Node) -> bool {
    let conditions = node.status.as_ref().and_then(|status| status.conditions.as_ref());
    let schedulable =
        node.spec.as_ref().is_none_or(|spec| spec.taints.iter().flatten().count() == 0);
    schedulable
        && conditions.into_iter().flatten().any(|c| c.type_ == "Ready" && c.status == "True")
}

fn reason(name: &str, node: Option<&Node>) -> String {
    let Some(node) = node else { return format!("the node {name} did not register") };
    let conditions = node.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let ready = conditions.filter(|condition| condition.type_ == "Ready");
    let said: Vec<_> = ready.filter_map(|condition| condition.message.clone()).collect();
    format!(
        "the node {name} is not Ready, or the default ServiceAccount is missing {}",
        said.join("; ")
    )
}

fn http_get(path: &str) -> Result<http::Request<Vec<u8>>> {
    http::Request::get(path).body(Vec::new()).context("bad request")
}
