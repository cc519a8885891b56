//! The next version has other rights.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::authorization::v1::SubjectAccessReview;
use kube::api::{Api, PostParams};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{Recorded, kettles, stable};
use crate::builders::{Bundle, csv};
use crate::e2e::context::TestContext;
use crate::wait::TIMEOUT;

/// How often a right is asked for. No object says what the API server thinks of one.
const ASK: Duration = Duration::from_millis(100);

const OLD: &str = "kettle.v1.0.0";
const NEW: &str = "kettle.v2.0.0";

/// Rights of the old version: verb and resource, with the group of the resource.
const HAD: [(&str, &str); 3] = [("list", "pods"), ("get", "nodes"), ("get", "pods")];

/// Those that the new one has.
const HAS: [(&str, &str); 2] = [("get", "pods"), ("get", "configmaps")];

/// The account of the operator loses rights and gains others; those in the whole cluster, too.
pub async fn shrink_and_grow(ctx: Arc<TestContext>) -> Result<()> {
    let (recorded, kind) = (Recorded::begin(&ctx).await?, kettles(&ctx));
    let version = |name: &str, version: &str| {
        csv(name, version).owns(&kind).deployment("kettle-manager", "kettle")
    };
    let old = version(OLD, "1.0.0")
        .permission("kettle", rules(&["get", "list"], "pods"))
        .cluster_permission("kettle", rules(&["get"], "nodes"));
    let new = version(NEW, "2.0.0")
        .permission("kettle", json!([rule(&["get"], "pods"), rule(&["get"], "configmaps")]));
    let old = Bundle::new("1.0.0", &old).provides(&kind);
    let new = Bundle::new("2.0.0", &new).provides(&kind).replaces(OLD);
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &stable(std::slice::from_ref(&old))).await?;
    ctx.subscribe("kettle", "kitchen").await?;
    ctx.succeeded(OLD).await?;
    ctx.at_latest("kettle", OLD).await?;
    only(&ctx, &HAD).await?;

    ctx.publish("kitchen", &stable(&[old, new])).await?;
    ctx.at_latest("kettle", NEW).await?;
    recorded.check_chain(&[OLD, NEW]).await?;
    only(&ctx, &HAS).await
}

fn rules(verbs: &[&str], resource: &str) -> Value {
    json!([rule(verbs, resource)])
}

fn rule(verbs: &[&str], resource: &str) -> Value {
    json!({"apiGroups": [""], "resources": [resource], "verbs": verbs})
}

/// Waits until the account has these rights, and none of the others that are known here: the
/// garbage collector of the cluster takes rights back a moment later.
async fn only(ctx: &TestContext, rights: &[(&str, &str)]) -> Result<()> {
    for right in HAD.iter().chain(&HAS) {
        let wanted = rights.contains(right);
        let deadline = Instant::now() + TIMEOUT;
        while allowed(ctx, *right).await? != wanted {
            let (verb, resource) = right;
            ensure!(Instant::now() < deadline, "{verb} {resource} is not {wanted}");
            sleep(ASK).await;
        }
    }
    Ok(())
}

async fn allowed(ctx: &TestContext, (verb, resource): (&str, &str)) -> Result<bool> {
    let namespace = if resource == "nodes" { "" } else { &ctx.namespace };
    let question = serde_json::from_value(json!({"metadata": {}, "spec": {
        "user": format!("system:serviceaccount:{}:kettle", ctx.namespace),
        "resourceAttributes": {"namespace": namespace, "verb": verb, "resource": resource},
    }}))?;
    let reviews: Api<SubjectAccessReview> = Api::all(ctx.client.clone());
    let answer = reviews.create(&PostParams::default(), &question).await.context("no review")?;
    Ok(answer.status.is_some_and(|status| status.allowed))
}
