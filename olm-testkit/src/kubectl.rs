//! The real kubectl.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use olm_tools::{Progress, kubectl};
use serde_json::Value;
use tempfile::NamedTempFile;

/// A file with a manifest, for programs that read it as kubectl does.
///
/// # Errors
/// There is no place for it.
pub fn manifest_file(manifest: &Value) -> Result<NamedTempFile> {
    let file = NamedTempFile::new().context("cannot make a file")?;
    serde_json::to_writer(file.as_file(), manifest).context("cannot write a manifest")?;
    Ok(file)
}

/// kubectl for a cluster, or for none.
#[derive(Debug)]
pub struct Kubectl {
    program: PathBuf,
    /// Where it keeps what it learns about the API server.
    cache: tempfile::TempDir,
    kubeconfig: Option<PathBuf>,
}

impl Kubectl {
    /// For what needs no cluster. Builds the program when it is missing.
    ///
    /// # Errors
    /// The build fails, or there is no place for what it keeps.
    pub fn alone() -> Result<Self> {
        let cache = tempfile::tempdir().context("cannot create a directory")?;
        Ok(Self { program: kubectl(&Progress::to_stderr())?, cache, kubeconfig: None })
    }

    /// For the cluster of a kubeconfig.
    ///
    /// # Errors
    /// As [`Self::alone`].
    pub fn of(kubeconfig: &Path) -> Result<Self> {
        Ok(Self { kubeconfig: Some(kubeconfig.to_owned()), ..Self::alone()? })
    }

    /// The folder that the program is in.
    ///
    /// # Errors
    /// It has none.
    pub fn folder(&self) -> Result<&Path> {
        self.program.parent().context("kubectl has no folder")
    }

    /// What a command prints.
    ///
    /// # Errors
    /// It cannot be run, or fails; the error holds what it complains of.
    pub fn run(&self, args: &[&str]) -> Result<String> {
        let mut command = Command::new(&self.program);
        command.args(args).arg("--cache-dir").arg(self.cache.path());
        if let Some(kubeconfig) = &self.kubeconfig {
            command.arg("--kubeconfig").arg(kubeconfig);
        }
        let output = command.output().context("cannot run kubectl")?;
        if !output.status.success() {
            let complaint = String::from_utf8_lossy(&output.stderr);
            bail!("kubectl {} failed:\n{complaint}", args.join(" "));
        }
        String::from_utf8(output.stdout).context("kubectl printed something that is not text")
    }
}
