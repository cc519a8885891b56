//! What a user does with a Subscription, and reads in it.

use std::fmt::Debug;

use anyhow::{Context, Result};
use kube::Client;
use kube::api::{Api, Patch, PatchParams, PostParams};
use olm_testkit::builders;
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::wait;
use olm_types::api::{InstallPlan, Subscription, SubscriptionState, SubscriptionStatus};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::install::{CATALOG, NAMESPACE, PACKAGE};

/// Asks for the package of the demo.
pub(super) async fn subscribe(client: &Client, namespace: &str, channel: &str) -> Result<()> {
    let subscriptions: Api<Subscription> = Api::namespaced(client.clone(), namespace);
    let mut subscription = builders::subscription(namespace, PACKAGE, channel, CATALOG);
    subscription.spec.source_namespace = OLM_NAMESPACE.to_owned();
    subscriptions
        .create(&PostParams::default(), &subscription)
        .await
        .context("cannot subscribe")?;
    Ok(())
}

/// Changes the spec of the Subscription.
pub(super) async fn change(client: &Client, spec: Value) -> Result<()> {
    edit(&all(client), PACKAGE, spec).await
}

/// Changes the spec of an object, as `kubectl patch --type=merge` does.
pub(super) async fn edit<K>(api: &Api<K>, name: &str, spec: Value) -> Result<()>
where
    K: Clone + Debug + DeserializeOwned,
{
    let patch = Patch::Merge(serde_json::json!({"spec": spec}));
    let edited = api.patch(name, &PatchParams::default(), &patch).await;
    edited.map(drop).with_context(|| format!("cannot change {name}"))
}

/// Waits until the Subscription wants a version, and until its InstallPlan is as it should be;
/// `what` completes the sentence "waited for the InstallPlan to …".
pub(super) async fn plan(
    client: &Client,
    csv: &str,
    what: &str,
    condition: impl Fn(&InstallPlan) -> bool,
) -> Result<InstallPlan> {
    let subscription = until(client, "want the version", |status| {
        status.current_csv.as_deref() == Some(csv) && status.install_plan_ref.is_some()
    });
    let plan = subscription.await?.install_plan_ref.and_then(|plan| plan.name);
    let plan = plan.context("the Subscription points at no InstallPlan")?;
    wait::until(&Api::namespaced(client.clone(), NAMESPACE), &plan, what, condition).await
}

/// Waits until the Subscription says that a version is installed and the newest.
pub(super) async fn at_latest(client: &Client, csv: &str) -> Result<()> {
    let installed = until(client, "have the version", |status| {
        status.state == SubscriptionState::AtLatestKnown
            && status.installed_csv.as_deref() == Some(csv)
    });
    installed.await.map(drop)
}

/// Waits until the status of the Subscription is as it should be, and returns it.
pub(super) async fn until(
    client: &Client,
    what: &str,
    condition: impl Fn(&SubscriptionStatus) -> bool,
) -> Result<SubscriptionStatus> {
    let holds = |subscription: &Subscription| subscription.status.as_ref().is_some_and(&condition);
    let subscription = wait::until(&all(client), PACKAGE, what, holds).await?;
    subscription.status.context("the Subscription has lost its status")
}

fn all(client: &Client) -> Api<Subscription> {
    Api::namespaced(client.clone(), NAMESPACE)
}
