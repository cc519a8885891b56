//! `opm`, which validates file-based catalogs and serves them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::go_module::GoModule;
use crate::progress::Progress;

/// The Go module that pins it.
pub(super) const MODULE: GoModule = GoModule {
    name: "opm",
    files: [
        ("go.mod", include_str!("../../../xtask/opm/go.mod")),
        ("go.sum", include_str!("../../../xtask/opm/go.sum")),
        ("tools.go", include_str!("../../../xtask/opm/tools.go")),
    ],
    requires: "github.com/operator-framework/operator-registry",
    programs: &["cmd/opm"],
    keeps: None,
    takes: "about 2 minutes",
};

/// The built program.
#[derive(Clone, Debug)]
pub struct Opm {
    program: PathBuf,
}

impl Opm {
    /// Finds the program, building it when it is missing.
    ///
    /// # Errors
    /// There is no Go, or the build fails; the error ends with what Go says.
    pub fn ensure(progress: &Progress) -> Result<Self> {
        Ok(Self { program: MODULE.ensure(progress)?.join("opm") })
    }

    /// The executable.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// What it says about a catalog: nothing when it is valid, else the message.
    ///
    /// # Errors
    /// It cannot be run.
    pub fn validate(&self, catalog: &Path) -> Result<Option<String>> {
        let mut command = Command::new(&self.program);
        let output = command
            .arg("validate")
            .arg(catalog)
            .stdin(Stdio::null())
            .output()
            .context("cannot run opm")?;
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        Ok((!output.status.success()).then_some(message))
    }

    /// The blobs of a catalog or bundle as it renders them with the flags, as JSON texts one after
    /// the other.
    ///
    /// # Errors
    /// It cannot be run, or refuses what it shall render.
    pub fn render(&self, reference: &Path, flags: &[&str]) -> Result<Vec<u8>> {
        let mut command = Command::new(&self.program);
        let output = command
            .arg("render")
            .args(flags)
            .arg(reference)
            .stdin(Stdio::null())
            .output()
            .context("cannot run opm")?;
        if !output.status.success() {
            bail!("opm render: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(output.stdout)
    }
}
