//! A Subscription that cannot be resolved, and what a person reads then.

use anyhow::{Context, Result, ensure};
use kube::api::Api;
use olm_testkit::{fixture, wait};
use olm_types::api::{Subscription, SubscriptionCondition};

use super::setup::Setup;
use super::subscription;
use super::timeline::Timeline;
use super::tool::Tool;

/// Where the Subscription is created; it must not disturb the other namespace.
pub(super) const NAMESPACE: &str = "demo-refused";

/// A channel that the package does not have.
const CHANNEL: &str = "nightly";

/// Subscribes to what no catalog has and prints the answer.
pub(super) async fn show(timeline: &Timeline, setup: &Setup) -> Result<()> {
    timeline.chapter("A Subscription that cannot be fulfilled");
    fixture::namespace(&setup.client, NAMESPACE).await?;
    subscription::subscribe(&setup.client, NAMESPACE, CHANNEL).await?;
    timeline
        .event("Subscription", format!("guestbook, channel {CHANNEL}, in namespace {NAMESPACE}"));
    let condition = answer(setup).await?;
    let reason = condition.reason.unwrap_or_default();
    let message = condition.message.unwrap_or_default();
    timeline.event("Subscription", format!("ResolutionFailed, {reason}:"));
    timeline.detail(&message);
    ensure!(reason == "ConstraintsNotSatisfiable", "the reason is {reason}");
    let named = message.contains(CHANNEL) && message.contains("guestbook");
    ensure!(named, "the message does not name what is missing");
    let examined = Tool::of(setup, NAMESPACE).shown(timeline, &["doctor"], |_| true).await?;
    ensure!(!setup.has_packages || examined.contains("OLM0"), "the doctor finds nothing");
    Ok(())
}

async fn answer(setup: &Setup) -> Result<SubscriptionCondition> {
    let subscriptions: Api<Subscription> = Api::namespaced(setup.client.clone(), NAMESPACE);
    let failed = |subscription: &Subscription| {
        let conditions = subscription.status.as_ref().map_or(&[][..], |status| &status.conditions);
        conditions.iter().find(|c| c.type_ == "ResolutionFailed" && c.status == "True").cloned()
    };
    let subscription = wait::until(&subscriptions, "guestbook", "be refused", |subscription| {
        failed(subscription).is_some()
    })
    .await?;
    failed(&subscription).context("the condition is gone")
}
