//! What runs in containers on a real node before anybody's pods do: CoreDNS, and the process that
//! holds a pod together. Built only when such a cluster starts, and kept beside the other tools
//! under a name of its own: neither is built again because of the other.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::go::Go;
use super::{cache_dir, fingerprint, lock};
use crate::progress::Progress;

/// The DNS server and its version.
const COREDNS: &str = "github.com/coredns/coredns@v1.12.4";

/// The version, as images are tagged with it.
pub(crate) const COREDNS_VERSION: &str = "v1.12.4";

/// The source of the other program; it needs nothing but the standard library.
const PAUSE: &str = include_str!("../../../../xtask/cluster/pause/main.go");

/// Static programs for images.
#[derive(Clone, Debug)]
pub(crate) struct NodePrograms {
    dir: PathBuf,
}

impl NodePrograms {
    /// Finds them, building what is missing.
    pub(crate) fn ensure(progress: &Progress) -> Result<Self> {
        let root = cache_dir()?.join("tools");
        let found = Self { dir: root.join(format!("node-{}", fingerprint([COREDNS, PAUSE]))) };
        if found.are_complete() {
            return Ok(found);
        }
        fs::create_dir_all(&root).with_context(|| format!("cannot create {}", root.display()))?;
        let lock = lock(&found.dir.with_extension("lock"), progress)?;
        if !found.are_complete() {
            found.build(&root, progress)?;
        }
        drop(lock);
        Ok(found)
    }

    /// The DNS server.
    pub(crate) fn coredns(&self) -> PathBuf {
        self.dir.join("coredns")
    }

    /// The process that holds a pod.
    pub(crate) fn pause(&self) -> PathBuf {
        self.dir.join("pause")
    }

    fn are_complete(&self) -> bool {
        self.coredns().is_file() && self.pause().is_file()
    }

    fn build(&self, root: &Path, progress: &Progress) -> Result<()> {
        let go = Go::ensure(root, progress)?;
        let partial = self.dir.with_extension("partial");
        fs::create_dir_all(&partial).context("cannot create the build directory")?;
        fs::write(partial.join("pause.go"), PAUSE).context("cannot write a Go program")?;
        let build = ["build", "-trimpath", "-ldflags", "-s -w", "-o", "pause", "pause.go"];
        go.run(&partial, &build, progress)?;
        progress.step(format!("building {COREDNS} (about 3 minutes, once per machine)"));
        go.install(&partial, COREDNS, progress)?;
        fs::rename(&partial, &self.dir).context("cannot move the programs of nodes into place")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tag_is_the_version_that_is_built() {
        assert!(COREDNS.ends_with(&format!("@{COREDNS_VERSION}")));
    }
}
