//! What a scenario makes for every namespace: objects in OLM's own one.

use std::fmt::Debug;

use anyhow::{Context, Result};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service, ServiceAccount};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use kube::{Resource, ResourceExt};
use olm_types::api::CatalogSource;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::TestContext;
use crate::builders;
use crate::wait::{self, Waitable};

/// A label with the namespace of the scenario that an object was made for.
const MADE_FOR: &str = "olm-rs-e2e/scenario";

impl TestContext {
    /// The namespace with the Pods of OLM, in which catalogs are seen everywhere.
    pub fn olm_namespace(&self) -> Result<&str> {
        let namespace = self.facts().olm_namespace.as_deref();
        namespace.context("it is not known where the Pods of OLM are")
    }

    /// The objects of a kind in OLM's namespace.
    pub fn olm_api<K>(&self) -> Result<Api<K>>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        Ok(Api::namespaced(self.client.clone(), self.olm_namespace()?))
    }

    /// The label, key and value, of what the scenario makes in OLM's namespace; it goes with the scenario.
    pub fn made_for(&self) -> (&'static str, &str) {
        (MADE_FOR, &self.namespace)
    }

    /// Creates an object, given without a namespace, in that of OLM. It goes with the scenario.
    pub async fn create_for_all<K>(&self, mut object: Value) -> Result<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: Clone + Debug + Serialize + DeserializeOwned,
    {
        object["metadata"]["labels"][MADE_FOR] = self.namespace.as_str().into();
        let kind = K::kind(&());
        let object: K = serde_json::from_value(self.dressed(object))
            .with_context(|| format!("a malformed {kind}"))?;
        let made = self.olm_api()?.create(&PostParams::default(), &object).await;
        made.with_context(|| format!("the API server refuses a {kind} for all namespaces"))
    }

    /// Subscribes to the channel `stable` of a package in a catalog that is seen everywhere.
    pub async fn subscribe_to_global(&self, package: &str, catalog: &str) -> Result<()> {
        let mut subscription = builders::subscription(&self.namespace, package, "stable", catalog);
        self.olm_namespace()?.clone_into(&mut subscription.spec.source_namespace);
        self.create(&subscription).await.map(drop)
    }

    /// Removes what the scenario has made for every namespace.
    pub(super) async fn remove_from_everywhere(&self) -> Result<()> {
        if self.facts().olm_namespace.is_none() {
            return Ok(());
        }
        self.remove_made::<CatalogSource>().await?;
        self.remove_made::<ConfigMap>().await?;
        self.remove_made::<Deployment>().await?;
        self.remove_made::<Service>().await?;
        self.remove_made::<ServiceAccount>().await?;
        self.remove_made::<Secret>().await?;
        self.remove_made::<NetworkPolicy>().await
    }

    async fn remove_made<K>(&self) -> Result<()>
    where
        K: Waitable + Resource<Scope = NamespaceResourceScope>,
    {
        let api: Api<K> = self.olm_api()?;
        let ours = ListParams::default().labels(&format!("{MADE_FOR}={}", self.namespace));
        let left = api.list(&ours).await.context("cannot list what was made for all namespaces")?;
        for name in left.iter().map(ResourceExt::name_any) {
            api.delete(&name, &DeleteParams::background()).await?;
            wait::until_gone(&api, &name).await?;
        }
        Ok(())
    }
}
