//! `helm`, which renders charts: built once per machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::go::Go;
use super::{cache_dir, lock};
use crate::progress::Progress;

/// The version that the chart is tried with.
const VERSION: &str = "v3.19.0";

/// The built program.
#[derive(Clone, Debug)]
pub struct Helm {
    program: PathBuf,
}

impl Helm {
    /// Finds the program, building it when it is missing.
    ///
    /// # Errors
    ///
    /// There is no Go, or the build fails.
    pub fn ensure(progress: &Progress) -> Result<Self> {
        let root = cache_dir()?.join("tools");
        let dir = root.join(format!("helm-{VERSION}"));
        let helm = Self { program: dir.join("helm") };
        if helm.program.is_file() {
            return Ok(helm);
        }
        fs::create_dir_all(&root).with_context(|| format!("cannot create {}", root.display()))?;
        let lock = lock(&root.join(format!("helm-{VERSION}.lock")), progress)?;
        if !helm.program.is_file() {
            build(&root, &dir, progress)?;
        }
        drop(lock);
        Ok(helm)
    }

    /// What a chart gives with these values (`a.b=c`), its definitions included.
    ///
    /// # Errors
    ///
    /// It cannot be run, or refuses the chart.
    pub fn template(&self, chart: &Path, values: &[&str]) -> Result<String> {
        let mut command = Command::new(&self.program);
        command.args(["template", "olm", "--include-crds"]).arg(chart);
        for value in values {
            command.args(["--set", value]);
        }
        self.run(command)
    }

    /// What helm itself finds wrong with a chart.
    ///
    /// # Errors
    ///
    /// It finds something.
    pub fn lint(&self, chart: &Path) -> Result<()> {
        let mut command = Command::new(&self.program);
        command.args(["lint", "--strict"]).arg(chart);
        self.run(command).map(drop)
    }

    fn run(&self, mut command: Command) -> Result<String> {
        let output = command.stdin(Stdio::null()).output().context("cannot run helm")?;
        let printed = String::from_utf8(output.stdout).context("helm printed no text")?;
        if !output.status.success() {
            bail!("helm: {printed}{}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(printed)
    }
}

fn build(root: &Path, dir: &Path, progress: &Progress) -> Result<()> {
    let go = Go::ensure(root, progress)?;
    let partial = root.join(format!("helm-{VERSION}.partial"));
    let _ = fs::remove_dir_all(&partial);
    fs::create_dir_all(&partial).context("cannot create the build directory")?;
    progress.step(format!("building helm {VERSION} (about 2 minutes, once per machine)"));
    go.install(&partial, &format!("helm.sh/helm/v3/cmd/helm@{VERSION}"), progress)?;
    fs::rename(&partial, dir).context("cannot move helm into place")
}
