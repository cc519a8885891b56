//! One scenario's view of the cluster: a namespace, and the words scenarios are written in.
//!
//! Everything that a scenario makes lies in its namespace or has the namespace in its name, so
//! scenarios run side by side; what is made for every namespace is labelled with it.

mod catalogs;
mod everywhere;
mod idle;
mod leave;
pub mod plans;
mod waiting;
mod workload;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Client, Resource, ResourceExt};
use olm_types::api::Subscription;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::provider::{Facts, Provider, ServedCatalog};
use crate::builders::{self, Crd};
use crate::stand_in::{Server, StandIn};
use crate::wait;
use plans::ScenarioPlans;

pub use waiting::{conditions, reported, same};

/// What is served for a scenario, by the names of the catalogs.
type Catalogs = BTreeMap<String, Box<dyn ServedCatalog>>;

/// The namespace of a scenario, and what is served for it.
pub struct TestContext {
    /// Asks the API server.
    pub client: Client,
    /// The namespace.
    pub namespace: String,
    provider: Arc<dyn Provider>,
    catalogs: Mutex<Catalogs>,
    /// They answer until the test is over: OLM has to find them when it comes to rest.
    servers: Mutex<Vec<StandIn>>,
    /// So do these.
    kept: Mutex<Vec<Box<dyn Send>>>,
    /// All namespaces of the scenario, its own first. Its parts share them.
    namespaces: Arc<Mutex<Vec<String>>>,
    /// What `kubectl olm plan` has shown in all of them.
    plans: Arc<Mutex<ScenarioPlans>>,
}

impl TestContext {
    /// Makes a namespace that is named after a scenario.
    pub async fn new(provider: Arc<dyn Provider>, name: &str) -> Result<Arc<Self>> {
        Self::among(provider, name, Arc::default(), Arc::default()).await
    }

    /// The same, where a scenario has these namespaces and plans so far.
    async fn among(
        provider: Arc<dyn Provider>,
        name: &str,
        namespaces: Arc<Mutex<Vec<String>>>,
        plans: Arc<Mutex<ScenarioPlans>>,
    ) -> Result<Arc<Self>> {
        let namespace = format!("e2e-{}", name.replace("::", "-").replace('_', "-"));
        let client = provider.client();
        let (catalogs, servers, kept) = <(_, _, _)>::default();
        let ctx = Self { client, namespace, provider, catalogs, servers, kept, namespaces, plans };
        if ctx.facts().stays {
            ctx.remove().await.context("cannot remove what an earlier run has left")?;
        }
        let namespaces: Api<Namespace> = Api::all(ctx.client.clone());
        let object = builders::namespace(&ctx.namespace);
        let made = namespaces.create(&PostParams::default(), &object).await;
        made.context("cannot make a namespace")?;
        ctx.namespaces.lock().await.push(ctx.namespace.clone());
        Ok(Arc::new(ctx))
    }

    /// Another namespace of the same cluster, for a part of the scenario.
    pub async fn beside(&self, name: &str) -> Result<Arc<Self>> {
        let (namespaces, plans) = (Arc::clone(&self.namespaces), Arc::clone(&self.plans));
        Self::among(Arc::clone(&self.provider), name, namespaces, plans).await
    }

    /// What is special about the cluster.
    pub fn facts(&self) -> &Facts {
        self.provider.facts()
    }

    /// A kubeconfig with the rights of an administrator.
    pub async fn kubeconfig(&self) -> Result<PathBuf> {
        self.provider.kubeconfig().await
    }

    /// The objects of a kind in the namespace.
    pub fn api<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// A kind that no other scenario has.
    pub fn kind(&self, kind: &str) -> Crd {
        Crd::new(&self.group(), "v1", kind)
    }

    /// Creates an object in the namespace.
    pub async fn create<K>(&self, object: &K) -> Result<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: Clone + Debug + Serialize + DeserializeOwned,
    {
        let kind = K::kind(&());
        let value = serde_json::to_value(object).with_context(|| format!("a malformed {kind}"))?;
        let value = self.dressed(value);
        self.conclude_done_plans().await?;
        if kind == Subscription::kind(&()) {
            self.foresee_installation(&value).await?;
        }
        let object: K =
            serde_json::from_value(value).with_context(|| format!("a malformed {kind}"))?;
        let made = self.api().create(&PostParams::default(), &object).await;
        made.with_context(|| format!("the API server refuses a {kind}"))
    }

    /// Lets only Pods with the least rights into the namespace, by the pod security standard
    /// `restricted`.
    pub async fn restrict(&self) -> Result<()> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let label = json!({"pod-security.kubernetes.io/enforce": "restricted"});
        let label = Patch::Merge(json!({"metadata": {"labels": label}}));
        let labelled = namespaces.patch(&self.namespace, &PatchParams::default(), &label).await;
        labelled.map(drop).context("cannot restrict the namespace")
    }

    /// Lets something answer the API server in place of a Deployment's Pods, where no container
    /// runs; elsewhere they answer themselves.
    pub async fn stand_in(&self, server: &Server) -> Result<()> {
        let stand_in = self.provider.stand_in(server).await?;
        self.servers.lock().await.extend(stand_in);
        Ok(())
    }

    /// Keeps a server of the scenario until that has come to rest: what the operators ask it until then, it answers.
    pub async fn keep(&self, server: impl Send + 'static) {
        self.kept.lock().await.push(Box::new(server));
    }

    /// Fails, with the end of its log, when one of them has ended.
    pub async fn check_servers(&self) -> Result<()> {
        self.servers.lock().await.iter_mut().try_for_each(StandIn::check)
    }

    /// JSON in which containers have an image that runs, where containers run.
    pub fn dressed(&self, mut value: Value) -> Value {
        if let Some(workload) = &self.facts().workload {
            workload::dress(&mut value, workload);
        }
        value
    }

    /// Removes the namespace, what was served for it, and the kinds that are named after it.
    pub async fn remove(&self) -> Result<()> {
        self.conclude_all_plans().await?;
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        if namespaces.get_opt(&self.namespace).await?.is_some() {
            namespaces.delete(&self.namespace, &DeleteParams::background()).await?;
            wait::until_gone(&namespaces, &self.namespace).await?;
        }
        self.remove_from_everywhere().await?;
        self.catalogs.lock().await.clear();
        self.provider.clear(&self.namespace).await?;
        let crds: Api<CustomResourceDefinition> = Api::all(self.client.clone());
        for crd in crds.list(&ListParams::default()).await? {
            if crd.spec.group == self.group() {
                crds.delete(&crd.name_any(), &DeleteParams::background()).await?;
            }
        }
        Ok(())
    }

    /// The API group of the scenario's kinds.
    fn group(&self) -> String {
        format!("{}.example.com", self.namespace)
    }
}
