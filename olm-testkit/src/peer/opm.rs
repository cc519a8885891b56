//! `opm`, which validates file-based catalogs and serves them: built once per machine.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::cluster::tools::{cache_dir, go, lock};
use crate::process::tail;
use crate::progress::Progress;

/// The Go module that pins it: name and content of each file.
const MODULE: [(&str, &str); 3] = [
    ("go.mod", include_str!("../../../xtask/opm/go.mod")),
    ("go.sum", include_str!("../../../xtask/opm/go.sum")),
    ("tools.go", include_str!("../../../xtask/opm/tools.go")),
];

/// The program.
const PACKAGE: &str = "github.com/operator-framework/operator-registry/cmd/opm";

/// Arguments of the build. The tag leaves out what would need a C library.
const BUILD: [&str; 6] =
    ["build", "-trimpath", "-tags", "containers_image_openpgp", "-ldflags", "-s -w"];

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
        let tools = cache_dir()?.join("tools");
        let dir = tools.join(format!("opm-{}", fingerprint()));
        let opm = Self { program: dir.join("opm") };
        if opm.program.is_file() {
            return Ok(opm);
        }
        fs::create_dir_all(&tools).with_context(|| format!("cannot create {}", tools.display()))?;
        let lock = lock(&dir.with_extension("lock"), progress)?;
        if !opm.program.is_file() {
            build(&dir, progress)?;
        }
        drop(lock);
        Ok(opm)
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

fn build(dir: &Path, progress: &Progress) -> Result<()> {
    let go = go(progress)?;
    let (source, partial) = (dir.with_extension("source"), dir.with_extension("partial"));
    for fresh in [&source, &partial] {
        let _ = fs::remove_dir_all(fresh);
        fs::create_dir_all(fresh).context("cannot create the build directory")?;
    }
    for (name, content) in MODULE {
        fs::write(source.join(name), content).context("cannot write the Go module")?;
    }
    progress.step("building opm from its Go module (about 2 minutes, once per machine)");
    let log = dir.with_extension("log");
    let output = File::create(&log).context("cannot write the log of the build")?;
    let mut command = Command::new(go);
    command.current_dir(&source).args(BUILD).arg("-o").arg(partial.join("opm")).arg(PACKAGE);
    command.env("CGO_ENABLED", "0").env("GOFLAGS", "-buildvcs=false").stdin(Stdio::null());
    command.stdout(output.try_clone().context("cannot share the log")?).stderr(output);
    let status = command.status().context("cannot run go")?;
    if !status.success() {
        bail!("opm cannot be built ({status}):\n{}", tail(&log, 20));
    }
    fs::remove_dir_all(&source).context("cannot remove the build directory")?;
    fs::rename(&partial, dir).context("cannot move opm into place")
}

/// Changes whenever a build would give something else.
fn fingerprint() -> String {
    let mut hash = Sha256::new();
    let texts = MODULE.iter().map(|(_, content)| *content).chain(BUILD).chain([PACKAGE]);
    texts.for_each(|text| {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    });
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_requires_the_program() {
        let module = PACKAGE.strip_suffix("/cmd/opm").unwrap();
        assert!(MODULE[0].1.contains(&format!("require {module} v")));
        assert!(MODULE[1].1.contains(&format!("{module} v")));
        assert!(MODULE[2].1.contains(PACKAGE));
    }
}
