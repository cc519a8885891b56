//! One scenario's view of the cluster: a namespace, and the words scenarios are written in.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use anyhow::{Context, Result, anyhow, ensure};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, PostParams};
use kube::{Client, Resource};
use olm_testkit::builders::{self, CatalogDir, Package};
use olm_testkit::operators::Binaries;
use olm_testkit::registry::Registry;
use olm_testkit::wait;
use olm_types::api::{
    CatalogSource, ClusterServiceVersion, CsvPhase, InstallPlan, Subscription,
    SubscriptionCondition, SubscriptionState,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::environment::Started;

/// The namespace of a scenario, and what it started there.
pub struct Scene {
    pub client: Client,
    pub namespace: String,
    /// The log of the API server.
    pub audit: PathBuf,
    binaries: Binaries,
    registries: Mutex<BTreeMap<String, Registry>>,
}

impl Scene {
    /// Makes the namespace.
    pub async fn new(started: &Started, name: &str) -> Result<Arc<Self>> {
        let namespace = name.replace("::", "-").replace('_', "-");
        let scene = Self {
            client: started.client.clone(),
            namespace,
            audit: started.audit_log(),
            binaries: started.binaries.clone(),
            registries: Mutex::default(),
        };
        let namespaces: Api<Namespace> = Api::all(scene.client.clone());
        let object = builders::namespace(&scene.namespace);
        namespaces
            .create(&PostParams::default(), &object)
            .await
            .context("cannot make a namespace")?;
        Ok(Arc::new(scene))
    }

    /// The objects of a kind in the namespace.
    pub fn api<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Creates an object in the namespace.
    pub async fn create<K>(&self, object: &K) -> Result<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: Clone + Debug + Serialize + DeserializeOwned,
    {
        let made = self.api().create(&PostParams::default(), object).await;
        made.with_context(|| format!("the API server refuses a {}", K::kind(&())))
    }

    /// Makes the OperatorGroup that most scenarios want: the namespace targets itself.
    pub async fn operator_group(&self) -> Result<()> {
        let group = builders::operator_group(&self.namespace, "group", &[&self.namespace]);
        self.create(&group).await.map(drop)
    }

    /// Serves packages as a catalog of the namespace and waits until it is connected.
    pub async fn catalog(&self, name: &str, packages: &[Package]) -> Result<CatalogSource> {
        self.serve(name, CatalogDir::of(packages)?).await?;
        wait::until(&self.api(), name, "be READY", |catalog: &CatalogSource| {
            let state = catalog.status.as_ref().and_then(|status| status.connection_state.as_ref());
            state.is_some_and(|state| state.last_observed_state == "READY")
        })
        .await
    }

    /// Serves a directory as a catalog of the namespace.
    pub async fn serve(&self, name: &str, catalog: CatalogDir) -> Result<()> {
        let address = self.registry(name, catalog)?;
        let source = builders::catalog_source(&self.namespace, name, &address);
        self.create(&source).await.map(drop)
    }

    /// Serves a directory for a catalog that somebody else creates.
    pub fn registry(&self, name: &str, catalog: CatalogDir) -> Result<String> {
        let unique = format!("{}-{name}", self.namespace);
        let registry = Registry::start(&self.binaries, &unique, catalog)?;
        let address = registry.address();
        self.registries()?.insert(name.to_owned(), registry);
        Ok(address)
    }

    /// Replaces the content of a catalog that is served already: its server restarts.
    pub fn publish(&self, name: &str, packages: &[Package]) -> Result<()> {
        let content = CatalogDir::of(packages)?;
        let mut registries = self.registries()?;
        registries.get_mut(name).context("no such catalog is served")?.publish(content)
    }

    /// The servers of the namespace's catalogs, by the catalogs' names.
    pub fn registries(&self) -> Result<MutexGuard<'_, BTreeMap<String, Registry>>> {
        self.registries.lock().map_err(|_| anyhow!("another thread failed"))
    }

    /// Subscribes to the channel `stable` of a package; the Subscription has the package's name.
    pub async fn subscribe(&self, package: &str, catalog: &str) -> Result<()> {
        let wish = builders::subscription(&self.namespace, package, "stable", catalog);
        self.create(&wish).await.map(drop)
    }

    /// Waits until a ClusterServiceVersion has succeeded.
    pub async fn succeeded(&self, name: &str) -> Result<ClusterServiceVersion> {
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
        let wish = wait::until(&self.api(), subscription, &what, |wish: &Subscription| {
            conditions(wish).iter().any(matches)
        })
        .await?;
        conditions(&wish).iter().find(|c| matches(c)).cloned().context("the condition is gone")
    }

    /// Waits until a Subscription has this version installed.
    pub async fn installed(&self, subscription: &str, csv: &str) -> Result<Subscription> {
        let what = format!("have {csv} installed");
        wait::until(&self.api(), subscription, &what, |wish: &Subscription| {
            let installed = wish.status.as_ref().and_then(|s| s.installed_csv.as_deref());
            installed == Some(csv)
        })
        .await
    }

    /// Waits until a Subscription has this version installed, wants no other, and nothing of it is
    /// under way or in trouble.
    pub async fn at_latest(&self, subscription: &str, csv: &str) -> Result<Subscription> {
        let what = format!("be at {csv}, the latest version");
        wait::until(&self.api(), subscription, &what, |wish: &Subscription| {
            let quiet = conditions(wish).iter().all(|condition| condition.status != "True");
            quiet
                && wish.status.as_ref().is_some_and(|status| {
                    status.state == SubscriptionState::AtLatestKnown
                        && status.installed_csv.as_deref() == Some(csv)
                })
        })
        .await
    }

    /// The InstallPlan that a Subscription points at.
    pub async fn plan_of(&self, wish: &Subscription) -> Result<InstallPlan> {
        let reference = wish.status.as_ref().and_then(|status| status.install_plan_ref.as_ref());
        let name = reference.and_then(|reference| reference.name.as_deref());
        let name = name.context("the Subscription points at no InstallPlan")?;
        self.api().get(name).await.with_context(|| format!("cannot read the InstallPlan {name}"))
    }
}

/// The conditions of a Subscription.
pub fn conditions(wish: &Subscription) -> &[SubscriptionCondition] {
    wish.status.as_ref().map_or(&[], |status| &status.conditions)
}

/// Fails unless a text is there and is the expected one.
pub fn same(found: Option<&str>, expected: &str) -> Result<()> {
    ensure!(found == Some(expected), "found    {found:?}\nexpected {expected:?}");
    Ok(())
}
