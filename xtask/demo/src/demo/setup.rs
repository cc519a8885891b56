//! What the demo needs around it: a cluster, the operators, a served catalog.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use kube::Client;
use olm_testkit::builders::CatalogDir;
use olm_testkit::cluster::{ClusterBackend, current::CurrentCluster, local::LocalCluster};
use olm_testkit::deploy;
use olm_testkit::fixture::Fixture;
use olm_testkit::operators::{Binaries, Operator, StartOptions};
use olm_testkit::packages;
use olm_testkit::progress::Progress;
use tempfile::TempDir;

use super::Arguments;
use super::summary;
use super::timeline::Timeline;
use crate::cluster::Backend;
use crate::demo_catalog::{self, Edition};

/// The name of the local cluster, for `cargo xtask cluster --name`.
pub(super) const CLUSTER: &str = "demo";

/// The cluster with everything that runs for the demo.
pub(super) struct Setup {
    pub client: Client,
    pub fixture: Fixture<dyn ClusterBackend>,
    /// Where catalogs and logs are.
    root: PathBuf,
    /// Whether the packages API is served.
    pub has_packages: bool,
    /// Removed at the end.
    _files: TempDir,
}

impl Setup {
    /// Starts everything.
    pub(super) async fn set(
        timeline: &Timeline,
        arguments: &Arguments,
        binaries: &Path,
    ) -> Result<Self> {
        timeline.chapter("Starting Kubernetes and the operators");
        let files = tempfile::tempdir().context("cannot create a directory")?;
        let (cluster, root) = choose(timeline, arguments, files.path())?;
        // What an earlier `--keep` left would be in the way.
        cluster.down().await?;
        let binaries = Binaries::in_dir(binaries, &root);
        let binaries = if arguments.keep { binaries.kept() } else { binaries };
        let fixture = Fixture::on(cluster, binaries).await?;
        fixture.define().await?;
        let kinds = deploy::definitions()?.len();
        timeline.event("deploy", format!("{kinds} kinds of OLM are served"));
        fixture.serve("demo", catalog(&root, Edition::First)?)?;
        start_operators(&fixture, arguments.cluster).await?;
        fixture.adopt()?;
        timeline.event("operators", "olm-operator, catalog-operator and olm-registry run");
        let (client, has_packages) = (fixture.client.clone(), arguments.cluster == Backend::Local);
        Ok(Self { client, fixture, root, has_packages, _files: files })
    }

    /// Serves another edition of the catalog at the same address.
    pub(super) fn publish(&self, edition: Edition) -> Result<()> {
        self.fixture.publish(catalog(&self.root, edition)?)?;
        self.fixture.adopt()
    }

    /// Ends everything, or says how to go on.
    pub(super) async fn leave(self, timeline: &Timeline, keep: bool) -> Result<()> {
        if keep {
            summary::how_to_go_on(timeline, &self);
            return Ok(());
        }
        timeline.chapter("Cleaning up");
        summary::remove_objects(&self.client, self.fixture.cluster()).await?;
        self.fixture.end().await?;
        timeline.event("cluster", "everything that was started has ended");
        Ok(())
    }
}

/// Starts both. The API server of the local cluster reaches the packages API, which the doctor asks; that of another
/// one knows no way to a process of this machine.
async fn start_operators(fixture: &Fixture<dyn ClusterBackend>, backend: Backend) -> Result<()> {
    if backend == Backend::Current {
        return fixture.start_operators().await;
    }
    packages::announce(&fixture.client).await?;
    let address = packages::address(&fixture.client).await?.to_string();
    fixture.start_operator(Operator::Olm, StartOptions::default()).await?;
    let args = vec!["--packages-address".to_owned(), address];
    fixture
        .start_operator(Operator::Catalog, StartOptions { args, ..StartOptions::default() })
        .await?;
    packages::until_available(&fixture.client).await
}

/// An edition of the catalog, in a folder of its own.
fn catalog(root: &Path, edition: Edition) -> Result<CatalogDir> {
    let folder = root.join(format!("demo-catalog-{}", edition.name()));
    demo_catalog::write(edition, &folder)?;
    Ok(CatalogDir::existing(folder))
}

/// The cluster, and the folder for catalogs and logs.
fn choose(
    timeline: &Timeline,
    arguments: &Arguments,
    files: &Path,
) -> Result<(Box<dyn ClusterBackend>, PathBuf)> {
    let clock = *timeline;
    let progress = Progress::new(move |line| clock.event("cluster", line));
    Ok(match arguments.cluster {
        Backend::Current => {
            ensure!(!arguments.keep, "--keep needs the local cluster: its files hold the catalog");
            (Box::new(CurrentCluster), files.to_owned())
        }
        Backend::Local if arguments.keep => {
            let cluster = LocalCluster::kept(CLUSTER, progress)?;
            // What stays must not lie in a temporary folder.
            let root = cluster.scratch();
            (Box::new(cluster), root)
        }
        Backend::Local => {
            (Box::new(LocalCluster::for_this_command(CLUSTER, progress)?), files.to_owned())
        }
    })
}
