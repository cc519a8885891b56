//! What scenarios wait for.

use anyhow::Result;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::rbac::v1::RoleBinding;
use kube::api::Api;
use olm_testkit::{refusal, wait};
use olm_types::api::{
    ClusterServiceVersion, CsvPhase, InstallPlan, InstallPlanPhase, Subscription, SubscriptionState,
};
use olm_types::conditions::subscription::{INSTALL_PLAN_PENDING, RESOLUTION_FAILED, UPGRADE_HELD};
use olm_types::hash::unpack_name;
use olm_types::labels::OWNER;
use olm_types::reasons::subscription::ERROR_PREVENTED_RESOLUTION;

use super::TestContext;

impl TestContext {
    /// Waits for a copy that shows its original as succeeded, with the rights that go with it.
    pub(in crate::crash) async fn copied_to(&self, namespace: &str, csv: &str) -> Result<()> {
        let copies: Api<ClusterServiceVersion> = Api::namespaced(self.client.clone(), namespace);
        wait::until(&copies, csv, "show its original", has_succeeded).await?;
        let bindings: Api<RoleBinding> = Api::namespaced(self.client.clone(), namespace);
        let what = "bind the operator's account";
        wait::until_some(&bindings, "", what, |binding: &RoleBinding| {
            let labels = binding.metadata.labels.as_ref();
            labels.and_then(|labels| labels.get(OWNER)).is_some_and(|owner| owner == csv)
        })
        .await
        .map(drop)
    }

    /// Waits until there is no copy.
    pub(in crate::crash) async fn copy_gone(&self, namespace: &str, csv: &str) -> Result<()> {
        let copies: Api<ClusterServiceVersion> = Api::namespaced(self.client.clone(), namespace);
        wait::until_gone(&copies, csv).await
    }

    /// Waits until a plan of the namespace says something, in its message or a condition.
    pub(in crate::crash) async fn some_plan(
        &self,
        what: &str,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<()> {
        let says = |plan: &InstallPlan| {
            let Some(status) = &plan.status else { return false };
            let conditions = status.conditions.iter().filter_map(|one| one.message.as_deref());
            conditions.chain(status.message.as_deref()).any(&wanted)
        };
        wait::until_some(&self.api::<InstallPlan>(), "", what, says).await.map(drop)
    }

    /// Waits for a plan that is refused a CSV, and has it fail.
    pub(in crate::crash) async fn refused_plan_fails(&self) -> Result<()> {
        let plans = self.api();
        let plan = refusal::tried(&plans).await?;
        refusal::fail(&plans, &plan).await.map(drop)
    }

    /// Waits for the Job that unpacks an image.
    pub(in crate::crash) async fn unpack_job(&self, image: &str) -> Result<Job> {
        wait::until(&self.api(), &unpack_name(image), "be made", |_: &Job| true).await
    }

    /// Waits until a ClusterServiceVersion has succeeded.
    pub(in crate::crash) async fn succeeded(&self, csv: &str) -> Result<()> {
        wait::until(&self.api(), csv, "be Succeeded", has_succeeded).await.map(drop)
    }

    /// Waits until a ClusterServiceVersion has failed.
    pub(in crate::crash) async fn failed(&self, csv: &str) -> Result<()> {
        let has_failed = |csv: &ClusterServiceVersion| csv.phase() == CsvPhase::Failed;
        wait::until(&self.api(), csv, "be Failed", has_failed).await.map(drop)
    }

    /// Waits until a Subscription has this version installed and wants no other.
    pub(in crate::crash) async fn at_latest(&self, subscription: &str, csv: &str) -> Result<()> {
        let what = format!("be at {csv}, the latest version");
        wait::until(&self.api(), subscription, &what, |subscription: &Subscription| {
            subscription.status.as_ref().is_some_and(|status| {
                status.state == SubscriptionState::AtLatestKnown
                    && status.installed_csv.as_deref() == Some(csv)
            })
        })
        .await
        .map(drop)
    }

    /// Waits until a Subscription says for this reason that it holds upgrades back, and has none pending.
    pub(in crate::crash) async fn held(&self, subscription: &str, reason: &str) -> Result<()> {
        let what = format!("hold upgrades back: {reason}");
        wait::until(&self.api(), subscription, &what, |subscription: &Subscription| {
            subscription.status.as_ref().is_some_and(|status| {
                let says = |kind: &str| status.conditions.iter().find(|one| one.type_ == kind);
                let held = says(UPGRADE_HELD).and_then(|one| one.reason.as_deref());
                status.state == SubscriptionState::AtLatestKnown
                    && held == Some(reason)
                    && says(INSTALL_PLAN_PENDING).is_none()
            })
        })
        .await
        .map(drop)
    }

    /// Waits until a Subscription says that there is no solution for it.
    pub(in crate::crash) async fn refused(&self, subscription: &str) -> Result<()> {
        let is_refused = |subscription: &Subscription| {
            let conditions = subscription.status.iter().flat_map(|status| &status.conditions);
            let mut failed = conditions.filter(|one| one.type_ == RESOLUTION_FAILED);
            failed.any(|one| one.status == "True")
        };
        wait::until(&self.api(), subscription, "be refused", is_refused).await.map(drop)
    }

    /// Waits until a Subscription says that something prevents its resolution, such as its catalog.
    pub(in crate::crash) async fn prevented(&self, subscription: &str) -> Result<()> {
        let is_prevented = |subscription: &Subscription| {
            let conditions = subscription.status.iter().flat_map(|status| &status.conditions);
            let mut failed = conditions.filter(|one| one.type_ == RESOLUTION_FAILED);
            failed.any(|one| one.reason.as_deref() == Some(ERROR_PREVENTED_RESOLUTION))
        };
        let what = "say that its resolution is prevented";
        wait::until(&self.api(), subscription, what, is_prevented).await.map(drop)
    }

    /// Waits until a Subscription waits for the approval of a plan that brings this version.
    pub(in crate::crash) async fn waits_for(&self, subscription: &str, csv: &str) -> Result<()> {
        let reason = InstallPlanPhase::RequiresApproval.as_str();
        let waits = |subscription: &Subscription| {
            subscription.status.as_ref().is_some_and(|status| {
                let mut all = status.conditions.iter();
                let pending = all.find(|one| one.type_ == INSTALL_PLAN_PENDING);
                status.current_csv.as_deref() == Some(csv)
                    && pending.and_then(|one| one.reason.as_deref()) == Some(reason)
            })
        };
        let what = format!("wait for the approval of {csv}");
        wait::until(&self.api(), subscription, &what, waits).await.map(drop)
    }

    /// Waits until a ClusterServiceVersion does not exist.
    pub(in crate::crash) async fn csv_gone(&self, csv: &str) -> Result<()> {
        wait::until_gone(&self.api::<ClusterServiceVersion>(), csv).await
    }

    /// Waits until a Deployment does not exist.
    pub(in crate::crash) async fn deployment_gone(&self, name: &str) -> Result<()> {
        wait::until_gone(&self.api::<Deployment>(), name).await
    }
}

fn has_succeeded(csv: &ClusterServiceVersion) -> bool {
    csv.status.as_ref().is_some_and(|status| status.phase == CsvPhase::Succeeded)
}
