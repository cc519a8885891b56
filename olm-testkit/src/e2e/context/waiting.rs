//! Waiting for what OLM is expected to do.

use anyhow::{Context, Result, ensure};
use olm_types::api::{
    ClusterServiceVersion, CsvPhase, InstallPlan, Subscription, SubscriptionCondition,
    SubscriptionState,
};
use olm_types::conditions::readiness;

use super::TestContext;
use crate::builders;
use crate::wait;

impl TestContext {
    /// Makes the OperatorGroup that most scenarios want: the namespace targets itself.
    pub async fn operator_group(&self) -> Result<()> {
        let group = builders::operator_group(&self.namespace, "group", &[&self.namespace]);
        self.create(&group).await.map(drop)
    }

    /// Subscribes to the channel `stable` of a package; the Subscription has the package's name.
    pub async fn subscribe(&self, package: &str, catalog: &str) -> Result<()> {
        let subscription = builders::subscription(&self.namespace, package, "stable", catalog);
        self.create(&subscription).await.map(drop)
    }

    /// Waits until a ClusterServiceVersion has succeeded, and compares the plans of which all is done by then.
    pub async fn succeeded(&self, name: &str) -> Result<ClusterServiceVersion> {
        let csv = self.just_succeeded(name).await?;
        self.conclude_done_plans().await?;
        Ok(csv)
    }

    /// Waits until a ClusterServiceVersion has succeeded, and for nothing else.
    pub async fn just_succeeded(&self, name: &str) -> Result<ClusterServiceVersion> {
        let csv = self.csv_phase(name, CsvPhase::Succeeded, "InstallSucceeded").await?;
        let message = csv.status.as_ref().and_then(|status| status.message.clone());
        same(message.as_deref(), "install strategy completed with no errors")?;
        Ok(csv)
    }

    /// Waits for a phase with its reason.
    pub async fn csv_phase(
        &self,
        name: &str,
        phase: CsvPhase,
        reason: &str,
    ) -> Result<ClusterServiceVersion> {
        let what = format!("be {phase}/{reason}");
        wait::until(&self.api(), name, &what, |csv: &ClusterServiceVersion| {
            csv.status.as_ref().is_some_and(|status| {
                status.phase == phase && status.reason.as_deref() == Some(reason)
            })
        })
        .await
    }

    /// Waits for a condition of a Subscription with this status and reason.
    pub async fn condition(
        &self,
        subscription: &str,
        kind: &str,
        status: &str,
        reason: &str,
    ) -> Result<SubscriptionCondition> {
        let what = format!("have {kind}={status} for {reason}");
        let matches = |condition: &SubscriptionCondition| {
            condition.type_ == kind
                && condition.status == status
                && condition.reason.as_deref() == Some(reason)
        };
        let subscription =
            wait::until(&self.api(), subscription, &what, |subscription: &Subscription| {
                conditions(subscription).iter().any(matches)
            })
            .await?;
        conditions(&subscription)
            .iter()
            .find(|c| matches(c))
            .cloned()
            .context("the condition is gone")
    }

    /// Waits until a Subscription has this version installed.
    pub async fn installed(&self, subscription: &str, csv: &str) -> Result<Subscription> {
        let what = format!("have {csv} installed");
        wait::until(&self.api(), subscription, &what, |subscription: &Subscription| {
            let installed = subscription.status.as_ref().and_then(|s| s.installed_csv.as_deref());
            installed == Some(csv)
        })
        .await
    }

    /// Waits until a Subscription has this version installed, wants no other, and nothing of it is
    /// under way or unhealthy.
    pub async fn at_latest(&self, subscription: &str, csv: &str) -> Result<Subscription> {
        let what = format!("be at {csv}, the latest version");
        let found = wait::until(&self.api(), subscription, &what, |subscription: &Subscription| {
            reported(subscription).next().is_none()
                && subscription.status.as_ref().is_some_and(|status| {
                    status.state == SubscriptionState::AtLatestKnown
                        && status.installed_csv.as_deref() == Some(csv)
                })
        })
        .await?;
        self.conclude_done_plans().await?;
        Ok(found)
    }

    /// The InstallPlan that a Subscription points at.
    pub async fn plan_of(&self, subscription: &Subscription) -> Result<InstallPlan> {
        let reference =
            subscription.status.as_ref().and_then(|status| status.install_plan_ref.as_ref());
        let name = reference.and_then(|reference| reference.name.as_deref());
        let name = name.context("the Subscription points at no InstallPlan")?;
        self.api().get(name).await.with_context(|| format!("cannot read the InstallPlan {name}"))
    }
}

/// The conditions of a Subscription.
pub fn conditions(subscription: &Subscription) -> &[SubscriptionCondition] {
    subscription.status.as_ref().map_or(&[], |status| &status.conditions)
}

/// Those that are true, besides how ready it is.
pub fn reported(subscription: &Subscription) -> impl Iterator<Item = &SubscriptionCondition> {
    let is_other = |condition: &&SubscriptionCondition| {
        condition.status == "True" && !readiness::ALL.contains(&condition.type_.as_str())
    };
    conditions(subscription).iter().filter(is_other)
}

/// Fails unless a text is there and is the expected one.
pub fn same(found: Option<&str>, expected: &str) -> Result<()> {
    ensure!(found == Some(expected), "found    {found:?}\nexpected {expected:?}");
    Ok(())
}
