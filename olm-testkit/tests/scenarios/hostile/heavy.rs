//! Objects whose values take a hundred times as much memory as their text, each just below what one may take,
//! where their definitions let fields be anything; and objects of empty fields, whose types would take as much.
//! All of a kind come in one page when an operator starts.

use std::fmt::Debug;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::admissionregistration::v1::RuleWithOperations;
use kube::Resource;
use kube::api::{DeleteParams, ListParams, PostParams};
use olm_testkit::builders;
use olm_testkit::e2e::TestContext;
use olm_testkit::e2e::provider::local::Local;
use olm_testkit::operators::Operator;
use olm_types::api::{ClusterServiceVersion, Subscription, WebhookDescription, webhook_type};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::healthy;

/// How many objects of each kind there are, and maps in each: an object may have 50,000.
const OBJECTS: usize = 12;
const MAPS: usize = 49_000;

/// Empty rules of a webhook: three bytes of text each, of which a type makes 120 and their list twice that.
const RULES: usize = 440_000;
/// Names of the CSVs that have them begin so.
const EMPTY: &str = "empty-";

/// While they are there, operators are installed in other namespaces, also after both operators began
/// anew and listed everything, which takes no more memory than they have.
pub async fn heavy(local: Arc<Local>, ctx: Arc<TestContext>) -> Result<()> {
    for number in 0..OBJECTS {
        create(&ctx, &subscription(&ctx.namespace, number)).await?;
        create(&ctx, &csv(number)).await?;
        create(&ctx, &empty(number)).await?;
    }
    healthy(&local, "rolling::beside-heavy").await?.remove().await?;
    for operator in Operator::ALL {
        local.replace_operator(operator).await.with_context(|| format!("{operator} again"))?;
    }
    healthy(&local, "rolling::after-heavy").await?.remove().await?;
    for operator in Operator::ALL {
        let peak = local.process(operator)?.1;
        println!("{operator} took {} MiB at most", peak >> 20);
        ensure!(peak < operator.memory_limit(), "{operator} took {peak} bytes");
        all_others_are_read(&local, &ctx, operator)?;
    }
    let (one, all) = (DeleteParams::default(), ListParams::default());
    for number in 0..OBJECTS {
        // One at a time: this process makes types of the answers.
        ctx.api::<ClusterServiceVersion>().delete(&name_of_empty(number), &one).await?;
    }
    ctx.api::<Subscription>().delete_collection(&one, &all).await?;
    ctx.api::<ClusterServiceVersion>().delete_collection(&one, &all).await?;
    Ok(())
}

/// Makes an object. An API server that is busy with the ones before may answer too late that it did.
async fn create<K>(ctx: &TestContext, object: &K) -> Result<()>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    K: Clone + Debug + Serialize + DeserializeOwned,
{
    match ctx.api::<K>().create(&PostParams::default(), object).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
        Err(error) => Err(error).context("the API server refuses an object"),
    }
}

/// Those with empty fields are malformed, and say so. What else is malformed would cost nothing.
fn all_others_are_read(local: &Local, ctx: &TestContext, operator: Operator) -> Result<()> {
    let log = local.log(operator)?;
    let malformed = log.lines().filter(|line| line.contains("skipping a malformed object"));
    let ours = malformed.filter(|line| line.contains(&ctx.namespace));
    let (empty, other): (Vec<_>, Vec<_>) = ours.partition(|line| line.contains(EMPTY));
    ensure!(other.is_empty(), "{operator} skips what it should read: {other:?}");
    for number in 0..OBJECTS {
        let name = name_of_empty(number);
        let said =
            empty.iter().any(|line| line.contains(&name) && line.contains("its fields take"));
        ensure!(said, "{operator} does not say that {name} takes too much");
    }
    Ok(())
}

fn volume() -> Value {
    json!({"name": "v", "ephemeral": {"volumeClaimTemplate": {
        "metadata": {"heap": vec![json!({"": 0}); MAPS]},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }}})
}

fn subscription(namespace: &str, number: usize) -> Subscription {
    let mut subscription = builders::subscription(namespace, "heavy", "stable", "none");
    subscription.metadata.name = Some(format!("heavy-{number}"));
    subscription.spec.config = Some(json!({"volumes": [volume()]}).into());
    subscription
}

fn csv(number: usize) -> ClusterServiceVersion {
    let csv = builders::csv(&format!("heavy-{number}.v1.0.0"), "1.0.0");
    csv.deployment("heavy", "default")
        .deployments(|spec| spec["template"]["spec"]["volumes"] = json!([volume()]))
        .build()
}

fn name_of_empty(number: usize) -> String {
    format!("{EMPTY}{number}.v1.0.0")
}

fn empty(number: usize) -> ClusterServiceVersion {
    let webhook = WebhookDescription {
        generate_name: "empty.example.com".to_owned(),
        type_: webhook_type::VALIDATING.to_owned(),
        side_effects: Some("None".to_owned()),
        admission_review_versions: vec!["v1".to_owned()],
        rules: vec![RuleWithOperations::default(); RULES],
        ..WebhookDescription::default()
    };
    let csv = builders::csv(&name_of_empty(number), "1.0.0");
    csv.with(|csv| csv.spec.webhookdefinitions = vec![webhook]).build()
}
