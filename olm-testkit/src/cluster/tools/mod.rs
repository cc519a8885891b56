//! The programs of a control plane and of a node, built once per machine.
//!
//! Sources are embedded, the result lies in the user's cache directory under a name made from
//! everything that determines it, so a fresh checkout or a second user task never builds again.
//! A build is locked and takes its place by one rename: nobody sees half of one.

mod go;
mod helm;
mod node;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::progress::Progress;
use go::Go;
pub use helm::Helm;
pub(super) use node::{COREDNS_VERSION, NodePrograms};

/// The Go module of the control plane: name and content of each file.
const MODULE: [(&str, &str); 3] = [
    ("go.mod", include_str!("../../../../xtask/cluster/go.mod")),
    ("go.sum", include_str!("../../../../xtask/cluster/go.sum")),
    ("main.go", include_str!("../../../../xtask/cluster/main.go")),
];

/// What the API server says its version is; the version of `go.mod`.
pub const KUBERNETES: &str = "v1.34.4";

/// What plays the node. A module of its own: it is built against another version of Kubernetes.
const KWOK: &str = "sigs.k8s.io/kwok/cmd/kwok@v0.7.0";

/// Linker flags of the control plane: small, and aware of its version.
const LINK: &str = "-s -w -X k8s.io/component-base/version.gitVersion=v1.34.4 \
    -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=34";

/// The built programs.
#[derive(Clone, Debug)]
pub struct Tools {
    dir: PathBuf,
}

impl Tools {
    /// Finds the programs, building what is missing.
    pub fn ensure(progress: &Progress) -> Result<Self> {
        let tools = Self::expected()?;
        if tools.are_complete() {
            return Ok(tools);
        }
        let root = cache_dir()?.join("tools");
        fs::create_dir_all(&root).with_context(|| format!("cannot create {}", root.display()))?;
        let lock = lock(&tools.dir.with_extension("lock"), progress)?;
        if !tools.are_complete() {
            tools.build(&root, progress)?;
        }
        drop(lock);
        Ok(tools)
    }

    /// Where the programs are, or would be.
    pub fn expected() -> Result<Self> {
        Ok(Self { dir: cache_dir()?.join("tools").join(fingerprint(inputs())) })
    }

    /// Whether everything is built.
    pub fn are_complete(&self) -> bool {
        self.control_plane().is_file() && self.kwok().is_file()
    }

    /// etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubelet, kube-proxy and
    /// kubectl in one binary.
    pub fn control_plane(&self) -> PathBuf {
        self.dir.join("olm-control-plane")
    }

    /// The simulated kubelet.
    pub fn kwok(&self) -> PathBuf {
        self.dir.join("kwok")
    }

    fn build(&self, root: &Path, progress: &Progress) -> Result<()> {
        let go = Go::ensure(root, progress)?;
        let partial = self.dir.with_extension("partial");
        let source = partial.join("source");
        fs::create_dir_all(&source).context("cannot create the build directory")?;
        for (name, content) in MODULE {
            fs::write(source.join(name), content).context("cannot write the Go module")?;
        }
        let control_plane = partial.join("olm-control-plane");
        progress.step(format!(
            "building Kubernetes {KUBERNETES} and etcd from Go modules \
             (about 5 minutes, once per machine)"
        ));
        let output = control_plane.to_string_lossy();
        go.run(&source, &["build", "-trimpath", "-ldflags", LINK, "-o", &output, "."], progress)?;
        progress.step(format!("building {KWOK} (about 2 minutes, once per machine)"));
        go.install(&partial, KWOK, progress)?;
        fs::remove_dir_all(&source).context("cannot remove the build directory")?;
        fs::rename(&partial, &self.dir).context("cannot move the tools into place")
    }
}

/// A `go` command of a version that builds the modules, installed when there is none.
pub fn go(progress: &Progress) -> Result<PathBuf> {
    let root = cache_dir()?.join("tools");
    fs::create_dir_all(&root).with_context(|| format!("cannot create {}", root.display()))?;
    let lock = lock(&root.join("go.lock"), progress)?;
    let go = Go::ensure(&root, progress)?;
    drop(lock);
    Ok(go.program().to_owned())
}

/// A directory of the user's cache that belongs to this project.
pub fn cache_dir() -> Result<PathBuf> {
    let named = std::env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty());
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    match named.map(PathBuf::from).or_else(home) {
        Some(dir) => Ok(dir.join("olm-rs")),
        None => bail!("there is no place for built tools: set HOME or XDG_CACHE_HOME"),
    }
}

/// Everything that determines the tools of a control plane.
fn inputs() -> impl Iterator<Item = &'static str> {
    MODULE.iter().map(|(_, content)| *content).chain([LINK, KWOK])
}

/// Changes whenever a build would give something else.
fn fingerprint(inputs: impl IntoIterator<Item = &'static str>) -> String {
    let mut hash = Sha256::new();
    inputs.into_iter().for_each(|text| {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    });
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Holds a lock file until the result is dropped, or until this process ends.
pub(crate) fn lock(path: &Path, progress: &Progress) -> Result<File> {
    let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
    if file.try_lock().is_err() {
        progress.step(format!("waiting for another command that holds {}", path.display()));
        file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_versions_in_the_flags_are_those_of_the_module() {
        let (_, go_mod) = MODULE[0];
        assert!(go_mod.contains(&format!("k8s.io/kubernetes {KUBERNETES}")));
        assert!(LINK.contains(&format!("gitVersion={KUBERNETES}")));
    }

    #[test]
    fn the_fingerprint_is_a_file_name() {
        let name = fingerprint(inputs());
        assert_eq!(name.len(), 16);
        assert!(name.chars().all(|c| c.is_ascii_hexdigit()));
    }
}
