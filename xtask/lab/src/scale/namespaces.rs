//! Namespaces by the thousand.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use kube::core::NamespaceResourceScope;
use kube::{Client, Resource, ResourceExt};
use olm_testkit::builders;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep};
use xtask::progress::{Progress, Task};

use super::setup::Setup;

/// Namespaces that are worked on at the same time.
const SIDE_BY_SIDE: usize = 16;

/// What the cluster's own controllers may take for a namespace, once they have begun.
const PER_NAMESPACE: Duration = Duration::from_millis(500);

/// What they may take to begin.
const BEGINNING: Duration = Duration::from_secs(30);

/// Pause between two looks at them.
const PAUSE: Duration = Duration::from_secs(1);

/// Namespaces of one run.
#[derive(Clone)]
pub(super) struct Namespaces {
    client: Client,
    progress: Progress,
    names: Vec<String>,
}

impl Namespaces {
    /// So many namespaces; nothing is created yet.
    pub(super) fn new(setup: &Setup, count: usize) -> Self {
        let run = std::process::id();
        let names = (0..count).map(|number| format!("scale-{run}-{number}")).collect();
        Self { client: setup.client.clone(), progress: setup.progress.clone(), names }
    }

    /// The names.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// One of them.
    pub(super) fn home(&self, name: &str) -> LoadNamespace {
        LoadNamespace { client: self.client(), name: name.to_owned() }
    }

    /// Begins something that takes a while, for whoever waits.
    pub(super) fn begin(&self, name: &str) -> Task {
        self.progress.begin(name)
    }

    /// A client for the cluster.
    pub(super) fn client(&self) -> Client {
        self.client.clone()
    }

    /// Creates every namespace and fills it.
    pub(super) async fn fill<F, Filled>(&self, fill: F) -> Result<()>
    where
        F: Fn(LoadNamespace) -> Filled,
        Filled: Future<Output = Result<()>>,
    {
        self.each(|home| async {
            let name = home.name.clone();
            let namespaces: Api<Namespace> = Api::all(home.client.clone());
            let made = namespaces.create(&PostParams::default(), &builders::namespace(&name)).await;
            made.with_context(|| format!("cannot create namespace {name}"))?;
            fill(home).await.with_context(|| format!("cannot fill namespace {name}"))
        })
        .await?;
        self.until_ready().await
    }

    /// Waits until every namespace has its first ServiceAccount. The cluster's own controller makes
    /// them one after the other, and without it no Pod starts.
    async fn until_ready(&self) -> Result<()> {
        let accounts: Api<ServiceAccount> = Api::all(self.client());
        let first = ListParams::default().fields("metadata.name=default");
        let task = self.begin("the first ServiceAccount of each namespace");
        let deadline =
            Instant::now() + BEGINNING + PER_NAMESPACE * u32::try_from(self.names.len())?;
        loop {
            let found = accounts.list_metadata(&first).await?.items.into_iter();
            let found: BTreeSet<_> = found.filter_map(|account| account.namespace()).collect();
            let missing = self.names.iter().filter(|name| !found.contains(*name)).count();
            if missing == 0 {
                return Ok(());
            }
            task.far(format!("{missing} are missing, "));
            ensure!(Instant::now() < deadline, "{missing} namespaces have no ServiceAccount yet");
            sleep(PAUSE).await;
        }
    }

    /// Does something in every namespace, in several at the same time.
    pub(super) async fn each<F, Done>(&self, act: F) -> Result<()>
    where
        F: Fn(LoadNamespace) -> Done,
        Done: Future<Output = Result<()>>,
    {
        let task = self.begin("requests for each namespace");
        let homes = self.names.iter().map(|name| self.home(name));
        let done = stream::iter(homes).map(act).buffer_unordered(SIDE_BY_SIDE);
        let counted = done.enumerate().map(|(number, done)| {
            task.far(format!("{} of {}, ", number + 1, self.names.len()));
            done
        });
        counted.try_collect::<()>().await
    }

    /// Lets the cluster remove every namespace, and does not wait for it.
    pub(super) async fn dissolve(&self) -> Result<()> {
        self.each(|home| async move {
            let namespaces: Api<Namespace> = Api::all(home.client);
            match namespaces.delete(&home.name, &DeleteParams::background()).await {
                Err(error) if !matches!(&error, kube::Error::Api(status) if status.code == 404) => {
                    Err(error).with_context(|| format!("cannot delete namespace {}", home.name))
                }
                _ => Ok(()),
            }
        })
        .await
    }
}

/// One of the namespaces.
#[derive(Clone)]
pub(super) struct LoadNamespace {
    pub client: Client,
    pub name: String,
}

impl LoadNamespace {
    /// Creates an object in it.
    pub(super) async fn create<K>(&self, object: &K) -> Result<()>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
        K: Clone + Debug + DeserializeOwned + Serialize,
    {
        let api: Api<K> = Api::namespaced(self.client.clone(), &self.name);
        let made = api.create(&PostParams::default(), object).await;
        made.with_context(|| format!("cannot create a {}", K::kind(&())))?;
        Ok(())
    }
}
