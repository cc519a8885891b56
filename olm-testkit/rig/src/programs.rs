//! Everything of others that a cluster with a real node runs and Debian does not have.

use anyhow::Result;

use super::images::Images;
use olm_testkit::cluster::tools::{NodePrograms, Tools};
use olm_testkit::progress::Progress;

/// The programs, and images of those that run in containers.
pub(super) struct Programs {
    pub kubernetes: Tools,
    pub node: NodePrograms,
    pub images: Images,
}

impl Programs {
    /// Finds them, building what is missing.
    pub(super) fn ensure(progress: &Progress) -> Result<Self> {
        let kubernetes = Tools::ensure(progress)?;
        let node = NodePrograms::ensure(progress)?;
        let images = Images::build(&node)?;
        Ok(Self { kubernetes, node, images })
    }
}
