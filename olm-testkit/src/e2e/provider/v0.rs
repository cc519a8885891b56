//! OLM v0 in a control plane on this machine with a simulated node; its operators are processes.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use async_trait::async_trait;
use kube::Client;

use super::{Facts, Provider, ServedCatalog, local};
use crate::builders::CatalogDir;
use crate::fixture::{Fixture, FixturePaths};
use crate::peer::OlmV0;
use crate::process::Running;
use crate::progress::Progress;
use crate::registry::Registry;
use crate::stand_in::{Server, StandIn};
use crate::take_over::{BesideV0, set_up_v0};

/// A cluster that OLM v0 manages.
pub struct V0 {
    fixture: Fixture,
    facts: Facts,
    operators: Mutex<Vec<Running>>,
    beside: Mutex<BesideV0>,
}

impl V0 {
    /// Starts the cluster and v0 in it. There is no audit log of it: what v0 writes is its business.
    pub async fn start(v0: &OlmV0, places: &FixturePaths, progress: Progress) -> Result<Self> {
        let fixture = Fixture::empty("e2e-v0", places, progress).await?;
        let (operators, beside) = set_up_v0(v0, &fixture, places.logs.as_deref()).await?;
        let facts = Facts { is_v0: true, ..local::facts() };
        let (operators, beside) = (Mutex::new(operators), Mutex::new(beside));
        Ok(Self { fixture, facts, operators, beside })
    }

    /// Ends everything.
    pub async fn end(&self) -> Result<()> {
        let operators =
            std::mem::take(&mut *self.operators.lock().unwrap_or_else(PoisonError::into_inner));
        operators.into_iter().for_each(Running::stop);
        self.fixture.end().await
    }
}

#[async_trait]
impl Provider for V0 {
    fn client(&self) -> Client {
        self.fixture.client.clone()
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
        let unique = format!("{namespace}-{name}");
        Ok(Box::new(Registry::start(&self.fixture.binaries, &unique, content)?))
    }

    async fn stand_in(&self, server: &Server) -> Result<Option<StandIn>> {
        StandIn::start(&self.fixture.client, &self.fixture.binaries, server).await.map(Some)
    }

    async fn kubeconfig(&self) -> Result<PathBuf> {
        Ok(self.fixture.kubeconfig.clone())
    }

    fn check(&self) -> Result<()> {
        let mut operators = self.operators.lock().unwrap_or_else(PoisonError::into_inner);
        operators.iter_mut().try_for_each(Running::check)?;
        self.beside.lock().unwrap_or_else(PoisonError::into_inner).check()
    }

    async fn logs(&self) -> Vec<(String, String)> {
        let operators = self.operators.lock().unwrap_or_else(PoisonError::into_inner);
        let log = |running: &Running| {
            let text = read(running.log()).unwrap_or_else(|error| format!("{error:#}"));
            (running.record().name.clone(), text)
        };
        let beside = self.beside.lock().unwrap_or_else(PoisonError::into_inner);
        operators.iter().chain([beside.package_server()]).map(log).collect()
    }
}

fn read(log: &Path) -> Result<String> {
    std::fs::read_to_string(log).with_context(|| format!("cannot read {}", log.display()))
}
