//! What a user writes: namespaces, groups, Subscriptions, approvals, deletions.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::core::NamespaceResourceScope;
use kube::{Client, Resource};
use olm_testkit::operators::OLM_NAMESPACE;
use olm_testkit::{builders, wait};
use olm_types::api::{
    Approval, ClusterServiceVersion, InstallModeType, InstallPlan, OperatorGroup, Subscription,
};
use serde_json::json;

/// The name of the catalog.
pub(super) const CATALOG: &str = "soak";

/// The namespaces of one package.
pub(super) struct PackageNamespaces {
    client: Client,
    /// Where the operator is installed.
    pub namespace: String,
}

impl PackageNamespaces {
    /// Names them; nothing is created yet.
    pub(super) fn of(client: &Client, package: &str) -> Self {
        Self { client: client.clone(), namespace: format!("soak-{package}") }
    }

    /// A second namespace, for operators that watch another one than their own.
    fn target(&self) -> String {
        format!("{}-target", self.namespace)
    }

    /// Both names.
    pub(super) fn namespaces(&self) -> [String; 2] {
        [self.namespace.clone(), self.target()]
    }

    /// Creates both namespaces.
    pub(super) async fn build(&self) -> Result<()> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        for name in self.namespaces() {
            let namespace = builders::namespace(&name);
            let made = namespaces.create(&PostParams::default(), &namespace).await;
            made.with_context(|| format!("cannot create namespace {name}"))?;
        }
        Ok(())
    }

    /// Deletes both namespaces and waits until they are gone.
    pub(super) async fn delete_namespaces(&self) -> Result<()> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        for name in self.namespaces() {
            let deleted = namespaces.delete(&name, &DeleteParams::background()).await;
            deleted.with_context(|| format!("cannot delete namespace {name}"))?;
        }
        for name in self.namespaces() {
            wait::until_gone(&namespaces, &name).await?;
        }
        Ok(())
    }

    /// Creates a group that fits one of the modes: the widest that webhooks and CRDs allow first.
    pub(super) async fn group(&self, modes: &BTreeSet<InstallModeType>) -> Result<()> {
        let (own, target) = (self.namespace.as_str(), self.target());
        let targets: Vec<&str> = match () {
            () if modes.contains(&InstallModeType::AllNamespaces) => Vec::new(),
            () if modes.contains(&InstallModeType::OwnNamespace) => vec![own],
            () if modes.contains(&InstallModeType::SingleNamespace) => vec![&target],
            () => vec![own, &target],
        };
        let group = builders::operator_group(own, "soak", &targets);
        let groups = self.api::<OperatorGroup>();
        groups.create(&PostParams::default(), &group).await.context("cannot create the group")?;
        Ok(())
    }

    /// Subscribes; a manual Subscription installs `first` and goes no further.
    pub(super) async fn subscribe(
        &self,
        package: &str,
        channel: &str,
        first: &str,
        approval: Approval,
    ) -> Result<()> {
        let mut subscription = builders::subscription(&self.namespace, package, channel, CATALOG);
        subscription.spec.source_namespace = OLM_NAMESPACE.to_owned();
        subscription.spec.starting_csv = Some(first.to_owned());
        subscription.spec.install_plan_approval = Some(approval);
        let subscriptions = self.api::<Subscription>();
        subscriptions
            .create(&PostParams::default(), &subscription)
            .await
            .context("cannot subscribe")?;
        Ok(())
    }

    /// Approves the first plan once it is there.
    pub(super) async fn approve(&self) -> Result<()> {
        let plans = self.api::<InstallPlan>();
        let unapproved = |plan: &InstallPlan| !plan.spec.approved;
        let plan = wait::until_some(&plans, "", "wait for approval", unapproved).await?;
        let patch = Patch::Merge(json!({"spec": {"approved": true}}));
        let name = plan.metadata.name.unwrap_or_default();
        plans.patch(&name, &PatchParams::default(), &patch).await.context("cannot approve")?;
        Ok(())
    }

    /// Deletes Subscriptions, then CSVs, then the group, as a person uninstalls.
    pub(super) async fn uninstall(&self) -> Result<()> {
        self.delete_all::<Subscription>().await?;
        self.delete_all::<ClusterServiceVersion>().await?;
        self.delete_all::<OperatorGroup>().await
    }

    /// An API of the operator's namespace.
    pub(super) fn api<K>(&self) -> Api<K>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    async fn delete_all<K>(&self) -> Result<()>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()> + wait::Waitable,
    {
        let api = self.api::<K>();
        let list = api.list(&ListParams::default()).await.context("cannot list")?;
        for object in &list {
            let name = object.meta().name.as_deref().unwrap_or_default();
            let deleted = api.delete(name, &DeleteParams::background()).await;
            if !matches!(&deleted, Err(kube::Error::Api(status)) if status.code == 404) {
                deleted.with_context(|| format!("cannot delete {} {name}", K::kind(&())))?;
            }
        }
        for object in &list {
            wait::until_gone(&api, object.meta().name.as_deref().unwrap_or_default()).await?;
        }
        Ok(())
    }
}
