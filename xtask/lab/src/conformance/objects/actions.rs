//! What makes each step of a scenario happen.
//!
//! The recordings say in words what came before a step. The first step of each follows from its
//! inputs; every later one is named here.

use anyhow::{Context, Result, bail};
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::{Api, DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use olm_testkit::dump::Normaliser;
use olm_testkit::{builders, deploy};
use olm_types::api::{ClusterServiceVersion, InstallPlan, Subscription};
use serde_json::json;

use super::recording::Recording;

/// What is done to the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// The inputs of the scenario are applied, in their order.
    ApplyInputs,
    /// A namespace is created.
    CreateNamespace(&'static str),
    /// The InstallPlan with this number is approved.
    Approve(usize),
    /// The scenario's Subscription and the CSV that it installed are deleted.
    DeleteSubscriptionAndCsv,
}

/// Scenario, what its step says, and what that takes.
const LATER_STEPS: &[(&str, &str, Action)] = &[
    ("flux-all-namespaces", "a namespace \"later\" was created", Action::CreateNamespace("later")),
    ("flux-all-namespaces", "Subscription and CSV were deleted", Action::DeleteSubscriptionAndCsv),
    (
        "kogito-operator-manual-approval-of-startingcsv",
        "InstallPlan 1 was approved, kogito-operator.v1.4.0 settled",
        Action::Approve(1),
    ),
];

/// What leads to a step; `None` when it is not written down here.
pub(super) fn action(file: &str, number: usize, after: &str) -> Option<Action> {
    if number == 0 {
        return Some(Action::ApplyInputs);
    }
    let known = LATER_STEPS.iter().find(|(name, text, _)| *name == file && *text == after);
    known.map(|(_, _, action)| *action)
}

/// Does it.
pub(super) async fn perform(
    action: Action,
    client: &Client,
    recording: &Recording,
    normaliser: &Normaliser,
) -> Result<()> {
    match action {
        Action::ApplyInputs => apply_inputs(client, &recording.inputs).await,
        Action::CreateNamespace(name) => create_namespace(client, name).await,
        Action::Approve(number) => approve(client, normaliser, number).await,
        Action::DeleteSubscriptionAndCsv => delete_subscription_and_csv(client, recording).await,
    }
}

async fn apply_inputs(client: &Client, inputs: &[DynamicObject]) -> Result<()> {
    for input in inputs {
        deploy::apply_object(client, input).await?;
    }
    Ok(())
}

async fn create_namespace(client: &Client, name: &str) -> Result<()> {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let namespace = builders::namespace(name);
    namespaces
        .create(&PostParams::default(), &namespace)
        .await
        .with_context(|| format!("cannot create namespace {name}"))?;
    Ok(())
}

async fn approve(client: &Client, normaliser: &Normaliser, number: usize) -> Result<()> {
    let Some((namespace, name)) = normaliser.install_plan(number) else {
        bail!("there is no InstallPlan number {number} to approve");
    };
    let plans: Api<InstallPlan> = Api::namespaced(client.clone(), namespace);
    let approved = Patch::Merge(json!({"spec": {"approved": true}}));
    plans
        .patch(name, &PatchParams::default(), &approved)
        .await
        .with_context(|| format!("cannot approve InstallPlan {namespace}/{name}"))?;
    Ok(())
}

async fn delete_subscription_and_csv(client: &Client, recording: &Recording) -> Result<()> {
    let kind = |input: &&DynamicObject| {
        input.types.as_ref().is_some_and(|types| types.kind == "Subscription")
    };
    let input = recording.inputs.iter().find(kind).context("the inputs hold no Subscription")?;
    let metadata = &input.metadata;
    let name = metadata.name.as_deref().unwrap_or_default();
    let namespace = metadata.namespace.as_deref().unwrap_or_default();
    let subscriptions: Api<Subscription> = Api::namespaced(client.clone(), namespace);
    let subscription = subscriptions.get(name).await.context("the Subscription cannot be read")?;
    let installed = subscription.status.and_then(|status| status.installed_csv);
    let delete = DeleteParams::default();
    subscriptions.delete(name, &delete).await.context("cannot delete the Subscription")?;
    let installed = installed.context("the Subscription had installed no CSV to delete")?;
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), namespace);
    csvs.delete(&installed, &delete)
        .await
        .with_context(|| format!("cannot delete CSV {namespace}/{installed}"))?;
    Ok(())
}
