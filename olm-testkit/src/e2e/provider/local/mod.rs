//! A control plane on this machine with a simulated node; operators and registries are processes.

mod operators;

use std::ops::Deref;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use async_trait::async_trait;
use kube::Client;

use super::{Facts, Provider, ServedCatalog};
use crate::builders::CatalogDir;
use crate::faults::{Injector, Proxy};
use crate::fixture::{Fixture, FixturePaths};
use crate::progress::Progress;
use crate::registry::Registry;
use crate::stand_in::{Server, StandIn};

/// Why no container runs.
const SIMULATED: &str = "the node of this cluster is simulated, no container runs on it";

/// How much of a log is evidence, in bytes.
const ENOUGH: usize = 2 << 20;

/// What is true of every such cluster, before it is there, too.
pub fn facts() -> Facts {
    Facts { no_containers: Some(SIMULATED), kubectl: true, ..Facts::default() }
}

/// A cluster with operators, and what is special about them.
pub struct Local {
    fixture: Fixture,
    facts: Facts,
    /// More flags of both operators, and of the catalog operator alone.
    flags: [Vec<String>; 2],
    /// What the operators take for the API server, when that is something in between.
    proxy: Option<Proxy>,
}

impl Deref for Local {
    type Target = Fixture;

    fn deref(&self) -> &Fixture {
        &self.fixture
    }
}

/// What operators are given beside where they find what they need.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flags<'a> {
    /// Both of them.
    pub both: &'a [&'a str],
    /// The catalog operator.
    pub catalog: &'a [&'a str],
    /// They reach the API server through something that makes requests fail on request.
    pub faults: bool,
}

impl Local {
    /// Starts a cluster, which is named after its purpose, and both operators.
    pub async fn start(purpose: &str, places: &FixturePaths, progress: Progress) -> Result<Self> {
        Self::start_with(purpose, places, Flags::default(), progress).await
    }

    /// The same with more flags.
    pub async fn start_with(
        purpose: &str,
        places: &FixturePaths,
        given: Flags<'_>,
        progress: Progress,
    ) -> Result<Self> {
        let fixture = Fixture::start(purpose, places, progress).await?;
        let facts = Facts { audit_log: Some(fixture.cluster().audit_log()), ..facts() };
        let owned = |flags: &[&str]| flags.iter().map(|flag| (*flag).to_owned()).collect();
        let flags = [owned(given.both), owned(given.catalog)];
        let proxy = match given.faults {
            true => Some(Proxy::start(&fixture.kubeconfig, Injector::from_environment()).await?),
            false => None,
        };
        let started = Self { fixture, facts, flags, proxy };
        started.start_both("").await?;
        Ok(started)
    }

    /// What stands between the operators and the API server.
    pub fn proxy(&self) -> Result<&Proxy> {
        self.proxy.as_ref().context("nothing is between operators and API server")
    }
}

#[async_trait]
impl Provider for Local {
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
        self.fixture.check()
    }

    async fn logs(&self) -> Vec<(String, String)> {
        self.fixture.processes(|running| {
            let name = running.record().name.clone();
            (name, end_of(running.log()).unwrap_or_else(|error| format!("{error:#}")))
        })
    }
}

fn end_of(log: &Path) -> Result<String> {
    let bytes = std::fs::read(log).with_context(|| format!("cannot read {}", log.display()))?;
    let start = bytes.len().saturating_sub(ENOUGH);
    Ok(String::from_utf8_lossy(bytes.get(start..).unwrap_or_default()).into_owned())
}
