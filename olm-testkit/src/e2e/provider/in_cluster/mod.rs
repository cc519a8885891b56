//! A cluster in which OLM runs in Pods. Catalogs are Pods, too, behind a Service each, in a
//! namespace beside that of their scenario: scenarios count what is in theirs.

mod catalog;
mod manifests;

use std::path::PathBuf;

use anyhow::{Context, Result};
use async_trait::async_trait;
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use serde_json::json;

use super::{Facts, Provider, ServedCatalog};
use crate::builders::CatalogDir;
use crate::e2e::evidence;
use crate::wait;
use catalog::CatalogPod;

/// The Pods of both operators, whoever deployed them.
pub const OPERATOR_PODS: &str = "app in (olm-operator, catalog-operator)";

/// Who the API server says has applied what serves catalogs.
const MANAGER: &str = "olm-rs-e2e";

/// A cluster with OLM in it.
pub struct InCluster {
    client: Client,
    image: String,
    facts: Facts,
    kubeconfig: Option<PathBuf>,
}

impl InCluster {
    /// Catalogs are served by `opm` of the image of OLM.
    pub fn new(client: Client, image: &str, facts: Facts) -> Self {
        let facts = Facts { olm_image: Some(image.to_owned()), ..facts };
        Self { client, image: image.to_owned(), facts, kubeconfig: None }
    }

    /// The same with a kubeconfig, which the kubectl of the tests understands.
    #[must_use]
    pub fn with_kubeconfig(mut self, path: PathBuf) -> Self {
        self.facts.kubectl = true;
        self.kubeconfig = Some(path);
        self
    }

    /// The same with a registry near the nodes.
    #[must_use]
    pub fn with_registry(mut self, address: String) -> Self {
        self.facts.registry = Some(address);
        self
    }

    /// Makes the namespace for the catalogs of a scenario; they need the least of rights.
    async fn make_namespace(&self, name: &str) -> Result<()> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let namespace = json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {
                "name": name,
                "labels": {"pod-security.kubernetes.io/enforce": "restricted"},
            },
        });
        let params = PatchParams::apply(MANAGER).force();
        let made = namespaces.patch(name, &params, &Patch::Apply(&namespace)).await;
        made.map(drop).context("cannot make the namespace of the catalogs")
    }
}

#[async_trait]
impl Provider for InCluster {
    fn client(&self) -> Client {
        self.client.clone()
    }

    fn facts(&self) -> &Facts {
        &self.facts
    }

    async fn serve(
        &self,
        namespace: &str,
        name: &str,
        content: CatalogDir,
    ) -> Result<Box<dyn ServedCatalog>> {
        let namespace = beside(namespace);
        self.make_namespace(&namespace).await?;
        let catalog = CatalogPod::start(&self.client, &namespace, name, &self.image, &content);
        Ok(Box::new(catalog.await?))
    }

    async fn kubeconfig(&self) -> Result<PathBuf> {
        self.kubeconfig.clone().context("no kubeconfig of this cluster is known")
    }

    /// Kubernetes starts them again.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    async fn logs(&self) -> Vec<(String, String)> {
        let Some(namespace) = &self.facts.olm_namespace else { return Vec::new() };
        let logs = evidence::pod_logs(&self.client, namespace, OPERATOR_PODS).await;
        logs.unwrap_or_else(|error| vec![("pods".to_owned(), format!("{error:#}\n"))])
    }

    fn beside(&self, namespace: &str) -> Vec<String> {
        vec![beside(namespace)]
    }

    async fn clear(&self, namespace: &str) -> Result<()> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let name = beside(namespace);
        if namespaces.get_opt(&name).await?.is_some() {
            namespaces.delete(&name, &DeleteParams::background()).await?;
            wait::until_gone(&namespaces, &name).await?;
        }
        Ok(())
    }
}

/// The namespace for the catalogs of another one.
fn beside(namespace: &str) -> String {
    format!("{namespace}-catalogs")
}
