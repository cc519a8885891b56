//! The two operators of OLM v0, and the definitions that it comes with.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::go_module::GoModule;
use crate::operators::OLM_NAMESPACE;
use crate::process::{Launch, Lifetime, Running};
use crate::progress::Progress;

/// The Go module that pins it.
pub(super) const MODULE: GoModule = GoModule {
    name: "olm-v0",
    files: [
        ("go.mod", include_str!("../../../xtask/olm/go.mod")),
        ("go.sum", include_str!("../../../xtask/olm/go.sum")),
        ("tools.go", include_str!("../../../xtask/olm/tools.go")),
    ],
    requires: "github.com/operator-framework/operator-lifecycle-manager",
    programs: &["cmd/olm", "cmd/catalog"],
    keeps: Some("deploy/chart/crds"),
    takes: "about 8 minutes",
};

/// The programs as the audit log names them.
pub const PROGRAMS: [&str; 2] = ["olm", "catalog"];

/// The built programs.
#[derive(Clone, Debug)]
pub struct OlmV0 {
    dir: PathBuf,
}

impl OlmV0 {
    /// Finds the programs, building them when they are missing.
    ///
    /// # Errors
    /// There is no Go, or the build fails; the error ends with what Go says.
    pub fn ensure(progress: &Progress) -> Result<Self> {
        Ok(Self { dir: MODULE.ensure(progress)? })
    }

    /// The version, as its module says it.
    pub fn version() -> &'static str {
        let (_, go_mod) = MODULE.files[0];
        let line = go_mod.lines().find_map(|line| line.strip_prefix("require "));
        line.and_then(|line| line.split(' ').nth(1)).unwrap_or_default()
    }

    /// The texts of its definitions.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn definitions(&self) -> Result<Vec<String>> {
        let folder = self.dir.join("kept");
        let entries = std::fs::read_dir(&folder);
        let entries = entries.with_context(|| format!("cannot list {}", folder.display()))?;
        let mut files = entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<Vec<_>, _>>()
            .context("cannot list the definitions")?;
        files.sort();
        let text = |file: &PathBuf| std::fs::read_to_string(file).context("cannot read a file");
        files.iter().map(text).collect()
    }

    /// Starts both operators beside a cluster. Their logs are in a folder, under names with this end.
    ///
    /// They serve health and metrics at ports that no flag sets, and go on without when these are
    /// taken.
    ///
    /// # Errors
    /// One cannot be started.
    pub fn start(&self, kubeconfig: &Path, logs: &Path, end: &str) -> Result<Vec<Running>> {
        let start = |program: &&str| {
            let launch = Launch {
                name: format!("v0's {program}"),
                program: self.dir.join(program),
                args: vec!["--namespace".to_owned(), OLM_NAMESPACE.to_owned()],
                env: vec![("KUBECONFIG".to_owned(), kubeconfig.to_string_lossy().into_owned())],
                log: logs.join(format!("v0-{program}{end}.log")),
                lifetime: Lifetime::Command,
            };
            launch.start()
        };
        PROGRAMS.iter().map(start).collect()
    }
}
