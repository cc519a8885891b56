//! What a real node runs: the kubelet and kube-proxy, and, in containers, CoreDNS and the process that
//! holds a pod together. Built only when such a cluster starts.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::module;
use crate::progress::Progress;

/// The parts of the program `node`.
const PARTS: [&str; 2] = ["kubelet", "kube-proxy"];

/// The programs of a node, all of them static.
#[derive(Clone, Debug)]
pub struct NodePrograms {
    dir: PathBuf,
}

impl NodePrograms {
    /// Finds them, building what is missing.
    ///
    /// # Errors
    /// There is no Go, or the build fails.
    pub fn ensure(progress: &Progress) -> Result<Self> {
        let title = "the programs of a node of Kubernetes v1.34.4";
        let module = module::of("node", title, module::NODE.to_vec());
        Ok(Self { dir: module.ensure(progress, |workshop| link(workshop.output))? })
    }

    /// Turns pods into containers.
    pub fn kubelet(&self) -> PathBuf {
        self.dir.join("kubelet")
    }

    /// Turns Services into rules of the packet filter.
    pub fn kube_proxy(&self) -> PathBuf {
        self.dir.join("kube-proxy")
    }

    /// The DNS server.
    pub fn coredns(&self) -> PathBuf {
        self.dir.join("dns")
    }

    /// The process that holds a pod.
    pub fn pause(&self) -> PathBuf {
        self.dir.join("pause")
    }
}

/// Gives the one program the names of its parts: it is the part that it is called.
fn link(output: &Path) -> Result<()> {
    PARTS
        .iter()
        .try_for_each(|part| symlink("node", output.join(part)).context("cannot make a link"))
}
