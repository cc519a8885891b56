//! A catalog that is served at one address, with content that can change.

use anyhow::Result;

use crate::builders::CatalogDir;
use crate::operators::{Binaries, free_port};
use crate::process::Running;

/// Serves a catalog until dropped. The address stays the same, whatever happens to the server.
#[derive(Debug)]
pub struct Registry {
    binaries: Binaries,
    name: String,
    port: u16,
    catalog: CatalogDir,
    server: Option<Running>,
}

impl Registry {
    /// Serves a catalog on a free port; `name` is in the name of the log.
    pub fn start(binaries: &Binaries, name: &str, catalog: CatalogDir) -> Result<Self> {
        let (binaries, name, port) = (binaries.clone(), name.to_owned(), free_port()?);
        let mut registry = Self { binaries, name, port, catalog, server: None };
        registry.resume()?;
        Ok(registry)
    }

    /// What a CatalogSource says in `address`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Serves other content from now on, as a new pod behind the same Service does.
    pub fn publish(&mut self, catalog: CatalogDir) -> Result<()> {
        self.die();
        self.catalog = catalog;
        self.resume()
    }

    /// Ends the server at once; no process answers at the address.
    pub fn die(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.kill();
        }
    }

    /// Serves the catalog again after [`Self::die`].
    pub fn resume(&mut self) -> Result<()> {
        let path = self.catalog.path();
        self.server = Some(self.binaries.registry_at(&self.name, path, self.port)?);
        Ok(())
    }

    /// The server, while it should run.
    pub fn server(&mut self) -> Option<&mut Running> {
        self.server.as_mut()
    }

    /// Resident memory of the server in bytes, while it runs.
    pub fn resident_memory(&self) -> Option<u64> {
        self.server.as_ref()?.resident_memory()
    }
}
