//! A namespace whose operators watch all namespaces.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::runtime::watcher;
use kube::{Client, ResourceExt};
use olm_testkit::builders::{self, csv};
use olm_types::api::{ClusterServiceVersion, CsvPhase, InstallModeType};
use olm_types::labels::COPIED_FROM;
use serde_json::json;

use crate::scale::namespaces::{LoadNamespace, Namespaces};

/// Bytes of prose in each CSV; real ones have several thousand.
const PROSE: usize = 8 * 1024;

/// What a changed CSV is called.
const RENAMED: &str = "renamed";

/// The namespace that the CSVs are copied from.
pub(super) struct Origin {
    home: LoadNamespace,
}

impl Origin {
    /// Creates the namespace with its OperatorGroup.
    pub(super) async fn create(client: Client, namespaces: &Namespaces) -> Result<Self> {
        let name = format!("origin-{}", namespaces.names().first().map_or("0", String::as_str));
        let api: Api<Namespace> = Api::all(client);
        let made = api.create(&PostParams::default(), &builders::namespace(&name)).await;
        made.context("cannot create the namespace of the operators")?;
        let origin = Self { home: namespaces.home(&name) };
        origin.home.create(&builders::operator_group(&name, "everywhere", &[])).await?;
        Ok(origin)
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        &self.home.name
    }

    /// Selects the copies of its CSVs.
    pub(super) fn copies(&self) -> watcher::Config {
        watcher::Config::default().labels(&format!("{COPIED_FROM}={}", self.name()))
    }

    /// The namespace, to put things in.
    pub(super) fn home(&self) -> &LoadNamespace {
        &self.home
    }

    /// Creates so many CSVs and waits until they have succeeded.
    pub(super) async fn install(&self, operators: usize) -> Result<()> {
        for number in 0..operators {
            self.home.create(&watchman(number)).await?;
        }
        for number in 0..operators {
            self.succeeded(&name(number)).await?;
        }
        Ok(())
    }

    /// Waits until a CSV has succeeded.
    pub(super) async fn succeeded(&self, name: &str) -> Result<()> {
        let what = "have succeeded";
        olm_testkit::wait::until(&self.csvs(), name, what, |csv: &ClusterServiceVersion| {
            csv.status.as_ref().is_some_and(|status| status.phase == CsvPhase::Succeeded)
        })
        .await
        .map(drop)
    }

    /// Changes the spec of the first CSV.
    pub(super) async fn change(&self) -> Result<()> {
        let patch = Patch::Merge(json!({"spec": {"displayName": RENAMED}}));
        let changed = self.csvs().patch(&name(0), &PatchParams::default(), &patch).await;
        changed.map(drop).context("cannot change a CSV")
    }

    /// Fails unless the change is in every copy.
    pub(super) async fn check_change(&self, namespaces: &Namespaces) -> Result<()> {
        let everywhere: Api<ClusterServiceVersion> = Api::all(namespaces.client());
        let label = format!("{COPIED_FROM}={}", self.name());
        let list =
            ListParams::default().labels(&label).fields(&format!("metadata.name={}", name(0)));
        let copies = everywhere.list(&list).await.context("cannot list copies")?;
        let stale = copies.iter().find(|copy| copy.spec.display_name != RENAMED);
        let stale = stale.and_then(ResourceExt::namespace);
        ensure!(stale.is_none(), "the copy in {} is as before", stale.unwrap_or_default());
        ensure!(
            copies.items.len() >= namespaces.names().len(),
            "there are {} copies",
            copies.items.len()
        );
        Ok(())
    }

    /// How many copies of its CSVs there are.
    pub(super) async fn copies_now(&self) -> Result<usize> {
        let everywhere: Api<ClusterServiceVersion> = Api::all(self.home.client.clone());
        let label = format!("{COPIED_FROM}={}", self.name());
        let copies = everywhere.list_metadata(&ListParams::default().labels(&label)).await;
        Ok(copies.context("cannot list copies")?.items.len())
    }

    /// Lets the cluster remove the namespace.
    pub(super) async fn delete(&self) -> Result<()> {
        let namespaces: Api<Namespace> = Api::all(self.home.client.clone());
        let deleted = namespaces.delete(self.name(), &DeleteParams::background()).await;
        deleted.map(drop).context("cannot delete the namespace of the operators")
    }

    fn csvs(&self) -> Api<ClusterServiceVersion> {
        Api::namespaced(self.home.client.clone(), self.name())
    }
}

fn name(number: usize) -> String {
    format!("watchman-{number}.v1.0.0")
}

fn watchman(number: usize) -> ClusterServiceVersion {
    csv(&name(number), "1.0.0")
        .deployment(&format!("watchman-{number}"), "default")
        .install_modes(&[InstallModeType::AllNamespaces])
        .description("A watchman watches. ".repeat(PROSE / 20))
        .build()
}
