//! Catalogs of a scenario.

use anyhow::{Context, Result, ensure};
use olm_types::api::CatalogSource;

use super::{Catalogs, TestContext};
use crate::builders::{self, CatalogDir, Package};
use crate::e2e::provider::ServedCatalog;
use crate::wait;

impl TestContext {
    /// Serves packages as a catalog of the namespace and waits until it is connected.
    pub async fn catalog(&self, name: &str, packages: &[Package]) -> Result<CatalogSource> {
        self.serve(name, self.content(packages)?).await?;
        wait::until_connected(&self.api(), name).await
    }

    /// Serves a directory as a catalog of the namespace.
    pub async fn serve(&self, name: &str, content: CatalogDir) -> Result<()> {
        self.conclude_done_plans().await?;
        let address = self.registry(name, content).await?;
        let source = builders::catalog_source(&self.namespace, name, &address);
        self.create(&source).await.map(drop)
    }

    /// Serves a directory for a catalog that the caller creates, and returns its address.
    pub async fn registry(&self, name: &str, content: CatalogDir) -> Result<String> {
        let mut catalogs = self.catalogs.lock().await;
        ensure!(!catalogs.contains_key(name), "the catalog {name} is served already");
        let served = self.provider.serve(&self.namespace, name, content).await;
        let served = served.with_context(|| format!("cannot serve the catalog {name}"))?;
        let address = served.address();
        catalogs.insert(name.to_owned(), served);
        Ok(address)
    }

    /// The packages as they lie in a catalog; their operators run, where containers do.
    pub fn content(&self, packages: &[Package]) -> Result<CatalogDir> {
        let mut packages = packages.to_vec();
        for package in &mut packages {
            package.manifests(|manifest| *manifest = self.dressed(manifest.take()));
        }
        CatalogDir::of(&packages)
    }

    /// Replaces the content of a catalog that is served already: its server restarts.
    pub async fn publish(&self, name: &str, packages: &[Package]) -> Result<()> {
        let content = self.content(packages)?;
        let address = one(&mut *self.catalogs.lock().await, name)?.address();
        self.foresee_upgrades(name, &address, content.path()).await?;
        one(&mut *self.catalogs.lock().await, name)?.publish(content).await
    }

    /// Ends the server of a catalog at once.
    pub async fn catalog_dies(&self, name: &str) -> Result<()> {
        self.conclude_done_plans().await?;
        self.catalog_changes().await;
        one(&mut *self.catalogs.lock().await, name)?.die().await
    }

    /// Serves a catalog again after [`Self::catalog_dies`].
    pub async fn catalog_returns(&self, name: &str) -> Result<()> {
        self.conclude_refused_plans().await?;
        self.catalog_changes().await;
        one(&mut *self.catalogs.lock().await, name)?.resume().await
    }
}

fn one<'a>(all: &'a mut Catalogs, name: &str) -> Result<&'a mut Box<dyn ServedCatalog>> {
    all.get_mut(name).with_context(|| format!("no catalog {name} is served"))
}
