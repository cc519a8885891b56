//! InstallPlans, Deployments and Pods of namespaces in which something is not as it should be.

use anyhow::Result;
use futures::stream::{self, StreamExt};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use kube::api::Api;
use olm_plan::Observed;
use olm_plan::doctor::PackageReads;
use olm_types::api::InstallPlan;
use olm_types::labels::OWNER_KIND;

use super::lists::size;
use super::pages::{FEW, MANY};
use super::{AT_ONCE, Reading, slim};

impl Reading<'_> {
    /// Adds them, several namespaces at a time. What cannot be read is noted.
    pub(super) async fn details(&self, wanted: &PackageReads, observed: &mut Observed) {
        let read = stream::iter(&wanted.plans).map(|home| self.plans(home));
        let mut read = read.buffered(AT_ONCE);
        while let Some(found) = read.next().await {
            for (plan, bytes) in self.noted(found, "installplans", observed) {
                observed.sizes.push(size(InstallPlan::KIND, &plan.metadata, bytes));
                observed.install_plans.push(plan);
            }
        }
        let read = stream::iter(&wanted.workloads).map(|home| self.workloads(home));
        let mut read = read.buffered(AT_ONCE);
        while let Some((deployments, pods)) = read.next().await {
            let deployments = self.noted(deployments, "deployments", observed);
            let pods = self.noted(pods, "pods", observed);
            observed.deployments.extend(deployments);
            observed.pods.extend(pods);
        }
    }

    async fn plans(&self, home: &str) -> Result<Vec<(InstallPlan, usize)>> {
        let api: Api<InstallPlan> = self.cluster.api(Some(home));
        self.cluster.kept(&api, (FEW, None), |plan, bytes| (plan, bytes)).await
    }

    async fn workloads(&self, home: &str) -> (Result<Vec<Deployment>>, Result<Vec<Pod>>) {
        let of_csvs = format!("{OWNER_KIND}=ClusterServiceVersion");
        let deployments = self.cluster.api(Some(home));
        let pods = self.cluster.api(Some(home));
        tokio::join!(
            self.cluster.kept(&deployments, (FEW, Some(&of_csvs)), |it, _| slim::deployment(it)),
            self.cluster.kept(&pods, (MANY, None), |it, _| slim::pod(it)),
        )
    }
}
