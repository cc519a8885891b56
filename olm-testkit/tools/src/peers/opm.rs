//! `opm`, which validates file-based catalogs and serves them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::module::Module;
use crate::progress::Progress;

/// Leaves out what would need a C library.
const TAG: &str = "containers_image_openpgp";

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
        Ok(Self { program: module().ensure(progress, |_| Ok(()))?.join("opm") })
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

/// The Go module that pins it, and holds a smaller main function than its own.
fn module() -> Module {
    let files = [
        ("go.mod", include_str!("../../../../xtask/opm/go.mod")),
        ("go.sum", include_str!("../../../../xtask/opm/go.sum")),
        ("main.go", include_str!("../../../../xtask/opm/main.go")),
    ];
    let tags = vec![TAG.to_owned()];
    Module { tags, ..Module::new("opm", "opm v1.73.0", &files, vec![".".to_owned()]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_commands_are_those_of_the_version_that_is_reported() {
        let [(_, go_mod), (_, go_sum), (_, main)] = module().files[..] else { unreachable!() };
        let version = module().title.strip_prefix("opm ").unwrap();
        let registry = "github.com/operator-framework/operator-registry";
        assert!(go_mod.contains("module olm-rs/opm\n"), "the program has another name");
        assert!(go_mod.contains(&format!("{registry} {version}\n")));
        assert!(go_sum.contains(&format!("{registry} {version} ")));
        for command in ["serve", "render", "validate"] {
            assert!(main.contains(&format!("\"{registry}/cmd/opm/{command}\"")), "{command}");
        }
    }
}
