//! The words that scenarios are written in: what they do (`waiting` has what they wait for).

mod waiting;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::api::rbac::v1::RoleBinding;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::{Client, Resource};
use olm_testkit::builders;
use olm_testkit::kubelet::Kubelet;
use olm_testkit::operators::Binaries;
use olm_testkit::stand_in::{Server, StandIn};
use olm_testkit::wait;
use olm_types::api::{
    Approval, CatalogSource, InstallPlan, InstallPlanPhase, OperatorGroup, Subscription,
    SubscriptionState, UpgradeStrategy,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The namespace of every scenario; it is there before a run.
pub(super) const NAMESPACE: &str = "crash";

/// A port at which nothing listens.
const CLOSED: &str = "127.0.0.1:1";

/// What a scenario acts on.
pub(super) struct TestContext {
    pub client: Client,
    /// Where each catalog of the scenario is served.
    pub addresses: BTreeMap<&'static str, String>,
    /// Where the programs are.
    pub binaries: Binaries,
    /// A kubeconfig with the rights of an administrator.
    pub kubeconfig: PathBuf,
    /// What answers in place of Pods, until the next run begins.
    pub servers: Mutex<Vec<StandIn>>,
}

impl TestContext {
    fn api<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    async fn create<K>(&self, object: &K) -> Result<()>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: Clone + Debug + Serialize + DeserializeOwned,
    {
        let made = self.api().create(&PostParams::default(), object).await;
        made.map(drop).with_context(|| format!("the API server refuses a {}", K::kind(&())))
    }

    /// Deletes an object, as `kubectl delete` does.
    pub(super) async fn delete<K>(&self, name: &str) -> Result<()>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: Clone + Debug + DeserializeOwned,
    {
        let deleted = self.api::<K>().delete(name, &DeleteParams::background()).await;
        deleted.map(drop).with_context(|| format!("cannot delete the {} {name}", K::kind(&())))
    }

    async fn change<K>(&self, name: &str, patch: Value) -> Result<()>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: Clone + Debug + DeserializeOwned,
    {
        let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
        let changed = self.api::<K>().patch(name, &params, &patch).await;
        changed.map(drop).with_context(|| format!("cannot change the {} {name}", K::kind(&())))
    }

    /// An OperatorGroup: the namespace targets itself.
    pub(super) async fn operator_group(&self) -> Result<()> {
        self.group_of(&[NAMESPACE]).await
    }

    /// An OperatorGroup with these targets.
    pub(super) async fn group_of(&self, targets: &[&str]) -> Result<()> {
        self.group(&builders::operator_group(NAMESPACE, "group", targets)).await
    }

    /// Creates an OperatorGroup, and waits until its status names its targets: a plan that is made before says that no
    /// group manages the namespace, and whether there is one depends on which operator has started first.
    async fn group(&self, group: &OperatorGroup) -> Result<()> {
        self.create(group).await?;
        wait::until(&self.api(), "group", "name its targets", |group: &OperatorGroup| {
            group.status.as_ref().is_some_and(|status| !status.namespaces.is_empty())
        })
        .await
        .map(drop)
    }

    /// An OperatorGroup under which a version that failed may be left for the next one; the namespace targets itself.
    pub(super) async fn forward_group(&self) -> Result<()> {
        let mut group = builders::operator_group(NAMESPACE, "group", &[NAMESPACE]);
        group.spec.upgrade_strategy = Some(UpgradeStrategy::TechPreviewUnsafeFailForward);
        self.group(&group).await
    }

    /// The OperatorGroup has other targets from now on.
    pub(super) async fn retarget(&self, targets: &[&str]) -> Result<()> {
        let patch = json!({"spec": {"targetNamespaces": targets}});
        self.change::<OperatorGroup>("group", patch).await
    }

    /// An OperatorGroup with an account whose rights are used; the namespace targets itself.
    pub(super) async fn scoped_group(&self, account: &str) -> Result<()> {
        let mut group = builders::operator_group(NAMESPACE, "group", &[NAMESPACE]);
        group.spec.service_account_name = Some(account.to_owned());
        self.create(&group).await
    }

    /// A ServiceAccount without rights.
    pub(super) async fn account(&self, name: &str) -> Result<()> {
        self.create(&builders::service_account(NAMESPACE, name)).await
    }

    /// Lets an account do everything in the namespace.
    pub(super) async fn allow_everything(&self, account: &str) -> Result<()> {
        let binding: RoleBinding = serde_json::from_value(json!({
            "metadata": {"name": account, "namespace": NAMESPACE},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": NAMESPACE}],
        }))?;
        self.create(&binding).await
    }

    /// A ConfigMap that cannot be changed.
    pub(super) async fn immutable_config_map(&self, name: &str) -> Result<()> {
        let map: ConfigMap = serde_json::from_value(json!({
            "metadata": {"name": name, "namespace": NAMESPACE}, "data": {"theirs": "1"}, "immutable": true,
        }))?;
        self.create(&map).await
    }

    /// A CatalogSource with this content.
    pub(super) async fn catalog(&self, name: &str, content: &str) -> Result<()> {
        self.create(&builders::catalog_source(NAMESPACE, name, self.address(content)?)).await
    }

    /// A CatalogSource whose server does not answer, until it is moved to a content.
    pub(super) async fn dead_catalog(&self, name: &str) -> Result<()> {
        self.create(&builders::catalog_source(NAMESPACE, name, CLOSED)).await
    }

    /// The CatalogSource has another content from now on.
    pub(super) async fn move_catalog(&self, name: &str, content: &str) -> Result<()> {
        let patch = json!({"spec": {"address": self.address(content)?}});
        self.change::<CatalogSource>(name, patch).await
    }

    fn address(&self, content: &str) -> Result<&str> {
        let address = self.addresses.get(content).map(String::as_str);
        address.with_context(|| format!("the scenario has no catalog {content}"))
    }

    /// A Subscription to the channel `stable`, of the same name as the package.
    pub(super) async fn subscribe(&self, package: &str, catalog: &str) -> Result<()> {
        self.create(&builders::subscription(NAMESPACE, package, "stable", catalog)).await
    }

    /// The same, with InstallPlans that a person approves.
    pub(super) async fn subscribe_manually(&self, package: &str, catalog: &str) -> Result<()> {
        let mut subscription = builders::subscription(NAMESPACE, package, "stable", catalog);
        subscription.spec.install_plan_approval = Some(Approval::Manual);
        self.create(&subscription).await
    }

    /// The same with these fields besides.
    pub(super) async fn subscribe_with(
        &self,
        package: &str,
        catalog: &str,
        fields: Value,
    ) -> Result<()> {
        let subscription = builders::subscription(NAMESPACE, package, "stable", catalog);
        let mut object = serde_json::to_value(subscription).context("a malformed Subscription")?;
        for part in ["metadata", "spec"] {
            let own = fields.get(part).and_then(Value::as_object).into_iter().flatten();
            for (name, value) in own {
                object[part][name] = value.clone();
            }
        }
        let subscription: Subscription = serde_json::from_value(object)?;
        self.create(&subscription).await
    }

    /// The name of the Subscription that is made for a dependency.
    pub(super) fn generated(&self, package: &str, catalog: &str) -> String {
        format!("{package}-stable-{catalog}-{NAMESPACE}")
    }

    /// A Subscription has this value in an annotation from now on, or none.
    pub(super) async fn annotate(
        &self,
        subscription: &str,
        key: &str,
        value: Option<&str>,
    ) -> Result<()> {
        let patch = json!({"metadata": {"annotations": {key: value}}});
        self.change::<Subscription>(subscription, patch).await
    }

    /// A Subscription names this version in `startingCSV` from now on.
    pub(super) async fn pin_to(&self, subscription: &str, csv: &str) -> Result<()> {
        let patch = json!({"spec": {"startingCSV": csv}});
        self.change::<Subscription>(subscription, patch).await
    }

    /// Waits for the plan of a Subscription to require approval, and approves it.
    pub(super) async fn approve(&self, subscription: &str) -> Result<()> {
        let name = self.waiting_plan(subscription).await?;
        self.change::<InstallPlan>(&name, json!({"spec": {"approved": true}})).await
    }

    /// Waits for the plan of a Subscription to require approval; its name.
    pub(super) async fn waiting_plan(&self, subscription: &str) -> Result<String> {
        let plan = |subscription: &Subscription| {
            let status = subscription.status.as_ref()?;
            let pending = status.state == SubscriptionState::UpgradePending;
            status.install_plan_ref.as_ref()?.name.clone().filter(|_| pending)
        };
        let subscriptions = self.api();
        let subscription =
            wait::until(&subscriptions, subscription, "have a plan", |subscription| {
                plan(subscription).is_some()
            })
            .await?;
        let name = plan(&subscription).context("the Subscription has no plan any more")?;
        wait::until(&self.api(), &name, "require approval", |plan: &InstallPlan| {
            let phase = plan.status.as_ref().map(|status| &status.phase);
            phase == Some(&InstallPlanPhase::RequiresApproval)
        })
        .await?;
        Ok(name)
    }

    /// Lets something answer the API server in place of a Deployment's Pods, until the run has been
    /// looked at.
    pub(super) async fn stand_in(&self, server: &Server) -> Result<()> {
        let server = StandIn::start(&self.client, &self.binaries, server).await?;
        self.servers().push(server);
        Ok(())
    }

    /// Ends what the run before left.
    pub(super) fn clear(&self) {
        self.servers().clear();
    }

    fn servers(&self) -> MutexGuard<'_, Vec<StandIn>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Plays the Pods that unpack bundles from now on.
    pub(super) async fn kubelet(&self) -> Result<Kubelet> {
        let program = self.binaries.program("olm-registry");
        Kubelet::begin(&self.client, NAMESPACE, self.kubeconfig.clone(), program).await
    }
}
