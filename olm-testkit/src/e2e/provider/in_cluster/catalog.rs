//! One catalog: a Deployment of one Pod that serves the content of a ConfigMap, and a Service.

use anyhow::{Context, Result};
use async_trait::async_trait;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Service};
use kube::api::{Api, ListParams, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt};

use super::MANAGER;
use super::manifests::{self, Content, PORT};
use crate::builders::CatalogDir;
use crate::deploy::is_available;
use crate::e2e::provider::ServedCatalog;
use crate::wait;

/// A catalog that is served until its namespace is gone.
pub(super) struct CatalogPod {
    client: Client,
    namespace: String,
    name: String,
    image: String,
    content: Content,
}

impl CatalogPod {
    /// Serves a directory. Whether the Pod comes up is not waited for: what cannot be served is
    /// tried, too.
    pub(super) async fn start(
        client: &Client,
        namespace: &str,
        name: &str,
        image: &str,
        directory: &CatalogDir,
    ) -> Result<Self> {
        let content = Content::read(name, 1, directory.path())?;
        let (client, namespace) = (client.clone(), namespace.to_owned());
        let (name, image) = (name.to_owned(), image.to_owned());
        let catalog = Self { client, namespace, name, image, content };
        let services: Api<Service> = Api::namespaced(catalog.client.clone(), &catalog.namespace);
        let service = serde_json::from_value(manifests::service(&catalog.name))?;
        let made = services.create(&PostParams::default(), &service).await;
        made.context("cannot make the Service of a catalog")?;
        catalog.store().await?;
        catalog.scale(1).await?;
        Ok(catalog)
    }

    /// Stores the content where the Pod reads it.
    async fn store(&self) -> Result<()> {
        let config_maps: Api<ConfigMap> = Api::namespaced(self.client.clone(), &self.namespace);
        let config_map = serde_json::from_value(self.content.config_map())?;
        let made = config_maps.create(&PostParams::default(), &config_map).await;
        made.map(drop).context("cannot make the ConfigMap of a catalog")
    }

    /// Wants so many Pods, which serve the present content.
    async fn scale(&self, replicas: u32) -> Result<()> {
        let wanted = manifests::deployment(&self.name, &self.image, &self.content, replicas);
        let params = PatchParams::apply(MANAGER).force();
        let applied = self.deployments().patch(&self.name, &params, &Patch::Apply(&wanted)).await;
        applied.map(drop).context("cannot make the Deployment of a catalog")
    }

    async fn until_gone(&self) -> Result<()> {
        let deployments = self.deployments();
        wait::until(&deployments, &self.name, "have no Pods", is_available).await?;
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), &self.namespace);
        let ours = ListParams::default().labels(&format!("app={}", self.name));
        for pod in pods.list(&ours).await.context("cannot list the Pods of a catalog")? {
            wait::until_gone(&pods, &pod.name_any()).await?;
        }
        Ok(())
    }

    fn deployments(&self) -> Api<Deployment> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }
}

#[async_trait]
impl ServedCatalog for CatalogPod {
    fn address(&self) -> String {
        format!("{}.{}.svc:{PORT}", self.name, self.namespace)
    }

    async fn publish(&mut self, directory: CatalogDir) -> Result<()> {
        self.die().await?;
        let revision = self.content.revision + 1;
        self.content = Content::read(&self.name, revision, directory.path())?;
        self.store().await?;
        self.resume().await
    }

    async fn die(&mut self) -> Result<()> {
        self.scale(0).await?;
        self.until_gone().await
    }

    async fn resume(&mut self) -> Result<()> {
        self.scale(1).await?;
        wait::until(&self.deployments(), &self.name, "serve its catalog", is_available)
            .await
            .map(drop)
    }
}
