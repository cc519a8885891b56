//! The images that the node itself needs: the sandbox of pods, and CoreDNS.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::configuration::PAUSE;
use olm_testkit::cluster::tools::{COREDNS_VERSION, NodePrograms};
use olm_testkit::oci::{self, Image};

/// Repository of the CoreDNS image; its tag is the version.
const COREDNS: &str = "coredns/coredns";

/// The images, in memory.
pub(super) struct Images {
    pause: Image,
    coredns: Image,
}

impl Images {
    /// Builds them.
    pub(super) fn build(programs: &NodePrograms) -> Result<Self> {
        Ok(Self { pause: image(&programs.pause())?, coredns: image(&programs.coredns())? })
    }

    /// Pushes them to the registry of the cluster.
    pub(super) async fn push(&self, registry: &str) -> Result<()> {
        oci::push(&self.pause, registry, PAUSE.0, PAUSE.1).await?;
        oci::push(&self.coredns, registry, COREDNS, COREDNS_VERSION).await?;
        Ok(())
    }
}

/// The name under which pods find CoreDNS.
pub(super) fn coredns_name() -> String {
    format!("{COREDNS}:{COREDNS_VERSION}")
}

/// An image with nothing but a static program.
fn image(program: &Path) -> Result<Image> {
    let bytes = fs::read(program).with_context(|| format!("cannot read {}", program.display()))?;
    Image::builder().file("/program", bytes, 0o755).entrypoint(["/program"]).build()
}
