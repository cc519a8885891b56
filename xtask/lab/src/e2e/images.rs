//! The two images of a run: that of OLM, and the one that test operators run.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use olm_testkit::cluster::kind::KindCluster;
use olm_testkit::e2e::provider::Workload;
use olm_testkit::oci::{self, Image};
use olm_testkit::progress::Progress;
use olm_testkit::workload;
use tokio::task::spawn_blocking;

use super::Arguments;
use crate::image;
use crate::image::linked;
use xtask::workspace;

/// References that the nodes can pull, or have.
#[derive(Clone, Debug)]
pub(super) struct Images {
    /// OLM; in a cluster that has it already, its own is found.
    pub olm: Option<String>,
    /// What test operators run.
    pub workload: String,
}

impl Images {
    /// What test operators run until they are asked to end.
    pub(super) fn waiting(&self) -> Workload {
        Workload { image: self.workload.clone(), waits: vec!["pause".to_owned()] }
    }
}

/// Both images before the nodes know them.
pub(super) struct Sources {
    olm: Source,
    workload: Source,
}

/// An image that the command line names, or one that was built.
enum Source {
    Given(String),
    Built(Image),
}

impl Sources {
    /// Builds what was not named, which takes minutes at first.
    pub(super) async fn gather(arguments: &Arguments) -> Result<Self> {
        let profile = arguments.profile();
        let olm = match &arguments.image {
            Some(given) => Source::Given(given.clone()),
            None => {
                profile.announce();
                built(move |progress| image::build(profile, progress)).await?
            }
        };
        let workload = match &arguments.workload {
            Some(given) => Source::Given(given.clone()),
            None => built(|_| workload_image()).await?,
        };
        Ok(Self { olm, workload })
    }

    /// Pushes what was built to a registry near the node.
    pub(super) async fn push(self, registry: &str) -> Result<Images> {
        let olm = self.olm.push(registry, "olm-rs").await?;
        let workload = self.workload.push(registry, "olm-workload").await?;
        Ok(Images { olm: Some(olm), workload })
    }

    /// Loads what was built into the nodes of kind.
    pub(super) async fn load(self, cluster: &KindCluster) -> Result<Images> {
        let olm = self.olm.load(cluster, image::archive()).await?;
        let workload = self.workload.load(cluster, workload_archive()).await?;
        Ok(Images { olm: Some(olm), workload })
    }
}

impl Source {
    async fn push(self, registry: &str, name: &str) -> Result<String> {
        match self {
            Self::Given(reference) => Ok(reference),
            Self::Built(image) => {
                let pushed = oci::push(&image, registry, name, env!("CARGO_PKG_VERSION")).await?;
                Ok(pushed.reference)
            }
        }
    }

    async fn load(self, cluster: &KindCluster, archive: PathBuf) -> Result<String> {
        match self {
            Self::Given(reference) => Ok(reference),
            Self::Built(image) => {
                image.write_archive(&archive)?;
                cluster.load(&archive).await?;
                let reference = image.reference().context("the image has no name")?;
                Ok(reference.to_string())
            }
        }
    }
}

/// The images in a cluster into which nothing is put from here.
///
/// # Errors
///
/// When no image for test operators is named; the message says where one was written.
pub(super) fn named(arguments: &Arguments) -> Result<Images> {
    if let Some(workload) = arguments.workload.clone() {
        return Ok(Images { olm: arguments.image.clone(), workload });
    }
    let archive = workload_archive();
    workload_image()?.write_archive(&archive)?;
    bail!(
        "test operators need an image that the nodes can pull. It was written to {}: push it to \
         a registry of the cluster, for example with `skopeo copy oci-archive:FILE \
         docker://IMAGE`, and say `--workload IMAGE`",
        archive.display()
    )
}

async fn built(build: impl FnOnce(&Progress) -> Result<Image> + Send + 'static) -> Result<Source> {
    let image = spawn_blocking(move || build(&Progress::to_stderr())).await;
    Ok(Source::Built(image.context("the build of an image was cancelled")??))
}

/// What test operators run does not ship, so it is always what was just built.
fn workload_image() -> Result<Image> {
    let program = linked::programs(&[linked::WORKLOAD])?.pop();
    workload::image_of(program.context("nothing was linked")?)
}

fn workload_archive() -> PathBuf {
    workspace::root().join("target/olm-workload-image.tar")
}
