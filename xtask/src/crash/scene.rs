//! The words that scenarios are written in.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::batch::v1::Job;
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
    Approval, CatalogSource, ClusterServiceVersion, CsvPhase, InstallPlan, InstallPlanPhase,
    OperatorGroup, Subscription, SubscriptionState,
};
use olm_types::hash::unpack_name;
use olm_types::labels::OWNER;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

/// The namespace of every scenario; it is there before a run.
pub(super) const NAMESPACE: &str = "crash";

/// What a scenario acts on.
pub(super) struct Scene {
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

impl Scene {
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

    /// An OperatorGroup: the namespace targets itself.
    pub(super) async fn operator_group(&self) -> Result<()> {
        self.group_of(&[NAMESPACE]).await
    }

    /// An OperatorGroup with these targets.
    pub(super) async fn group_of(&self, targets: &[&str]) -> Result<()> {
        self.create(&builders::operator_group(NAMESPACE, "group", targets)).await
    }

    /// The OperatorGroup has other targets from now on.
    pub(super) async fn retarget(&self, targets: &[&str]) -> Result<()> {
        let patch = Patch::Merge(json!({"spec": {"targetNamespaces": targets}}));
        let groups: Api<OperatorGroup> = self.api();
        let changed = groups.patch("group", &PatchParams::default(), &patch).await;
        changed.map(drop).context("cannot change the OperatorGroup")
    }

    /// Waits for a copy that shows its original as succeeded, with the rights that go with it.
    pub(super) async fn copied_to(&self, namespace: &str, csv: &str) -> Result<()> {
        let copies: Api<ClusterServiceVersion> = Api::namespaced(self.client.clone(), namespace);
        let done = |copy: &ClusterServiceVersion| {
            copy.status.as_ref().is_some_and(|status| status.phase == CsvPhase::Succeeded)
        };
        wait::until(&copies, csv, "show its original", done).await?;
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
    pub(super) async fn copy_gone(&self, namespace: &str, csv: &str) -> Result<()> {
        let copies: Api<ClusterServiceVersion> = Api::namespaced(self.client.clone(), namespace);
        wait::until_gone(&copies, csv).await
    }

    /// The same with an account whose rights are used.
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

    /// A ConfigMap that nobody can change.
    pub(super) async fn immutable_config_map(&self, name: &str) -> Result<()> {
        let map: ConfigMap = serde_json::from_value(json!({
            "metadata": {"name": name, "namespace": NAMESPACE}, "data": {"theirs": "1"}, "immutable": true,
        }))?;
        self.create(&map).await
    }

    /// Waits until a plan of the namespace says something, in its message or a condition.
    pub(super) async fn some_plan(&self, what: &str, wanted: impl Fn(&str) -> bool) -> Result<()> {
        let says = |plan: &InstallPlan| {
            let Some(status) = &plan.status else { return false };
            let conditions = status.conditions.iter().filter_map(|one| one.message.as_deref());
            conditions.chain(status.message.as_deref()).any(&wanted)
        };
        wait::until_some(&self.api::<InstallPlan>(), "", what, says).await.map(drop)
    }

    /// A CatalogSource with this content.
    pub(super) async fn catalog(&self, name: &str, content: &str) -> Result<()> {
        self.create(&builders::catalog_source(NAMESPACE, name, self.address(content)?)).await
    }

    /// The CatalogSource has another content from now on.
    pub(super) async fn move_catalog(&self, name: &str, content: &str) -> Result<()> {
        let patch = Patch::Merge(json!({"spec": {"address": self.address(content)?}}));
        let catalogs: Api<CatalogSource> = self.api();
        let moved = catalogs.patch(name, &PatchParams::default(), &patch).await;
        moved.map(drop).context("cannot change the CatalogSource")
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
        let mut wish = builders::subscription(NAMESPACE, package, "stable", catalog);
        wish.spec.install_plan_approval = Some(Approval::Manual);
        self.create(&wish).await
    }

    /// The name of the Subscription that is made for a dependency.
    pub(super) fn generated(&self, package: &str, catalog: &str) -> String {
        format!("{package}-stable-{catalog}-{NAMESPACE}")
    }

    /// Waits for the plan of a Subscription to require approval, and approves it.
    pub(super) async fn approve(&self, subscription: &str) -> Result<()> {
        let plan = |wish: &Subscription| {
            let status = wish.status.as_ref()?;
            let pending = status.state == SubscriptionState::UpgradePending;
            status.install_plan_ref.as_ref()?.name.clone().filter(|_| pending)
        };
        let wishes = self.api();
        let wish =
            wait::until(&wishes, subscription, "have a plan", |wish| plan(wish).is_some()).await?;
        let name = plan(&wish).context("the Subscription has no plan any more")?;
        let plans: Api<InstallPlan> = self.api();
        wait::until(&plans, &name, "require approval", |plan: &InstallPlan| {
            let phase = plan.status.as_ref().map(|status| &status.phase);
            phase == Some(&InstallPlanPhase::RequiresApproval)
        })
        .await?;
        let approve = Patch::Merge(json!({"spec": {"approved": true}}));
        let approved = plans.patch(&name, &PatchParams::default(), &approve).await;
        approved.map(drop).context("cannot approve the InstallPlan")
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

    /// Waits for the Job that unpacks an image.
    pub(super) async fn unpack_job(&self, image: &str) -> Result<Job> {
        wait::until(&self.api(), &unpack_name(image), "be made", |_: &Job| true).await
    }

    /// Waits until a ClusterServiceVersion has succeeded.
    pub(super) async fn succeeded(&self, csv: &str) -> Result<()> {
        let done = |csv: &ClusterServiceVersion| {
            csv.status.as_ref().is_some_and(|status| status.phase == CsvPhase::Succeeded)
        };
        wait::until(&self.api(), csv, "be Succeeded", done).await.map(drop)
    }

    /// Waits until a Subscription has this version installed and wants no other.
    pub(super) async fn at_latest(&self, subscription: &str, csv: &str) -> Result<()> {
        let what = format!("be at {csv}, the latest version");
        wait::until(&self.api(), subscription, &what, |wish: &Subscription| {
            wish.status.as_ref().is_some_and(|status| {
                status.state == SubscriptionState::AtLatestKnown
                    && status.installed_csv.as_deref() == Some(csv)
            })
        })
        .await
        .map(drop)
    }

    /// Waits until a ClusterServiceVersion does not exist.
    pub(super) async fn csv_gone(&self, csv: &str) -> Result<()> {
        wait::until_gone(&self.api::<ClusterServiceVersion>(), csv).await
    }

    /// Waits until a Deployment does not exist.
    pub(super) async fn deployment_gone(&self, name: &str) -> Result<()> {
        wait::until_gone(&self.api::<Deployment>(), name).await
    }
}
