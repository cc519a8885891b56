//! `helm`, which renders charts.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::kubernetes::module;
use crate::module::Module;
use crate::progress::Progress;

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
        let dir = programs().ensure(progress, |_| Ok(()))?;
        Ok(Self { program: dir.join("helm") })
    }

    /// What a chart gives with these values (`a.b=c`), its definitions included.
    ///
    /// # Errors
    ///
    /// It cannot be run, or refuses the chart.
    pub fn template(&self, chart: &Path, values: &[&str]) -> Result<String> {
        self.render(&["olm", "--include-crds"], chart, values)
    }

    /// What a chart gives as a release of this name in this namespace, with these values (`a.b=c`).
    ///
    /// # Errors
    ///
    /// As [`Self::template`].
    pub fn release(
        &self,
        name: &str,
        namespace: &str,
        chart: &Path,
        values: &[&str],
    ) -> Result<String> {
        self.render(&[name, "--namespace", namespace], chart, values)
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

    fn render(&self, what: &[&str], chart: &Path, values: &[&str]) -> Result<String> {
        let mut command = Command::new(&self.program);
        command.arg("template").args(what).arg(chart);
        for value in values {
            command.args(["--set", value]);
        }
        self.run(command)
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

/// Built from the module of the clusters: most of what it needs is compiled there already.
fn programs() -> Module {
    let packages = vec!["helm.sh/helm/v3/cmd/helm".to_owned()];
    Module { packages, ..module::of("helm", "helm v3.19.0", Vec::new()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_that_is_reported_is_the_one_that_is_built() {
        let module = programs();
        let (_, go_mod) = module.files[0];
        let version = module.title.strip_prefix("helm ").unwrap();
        assert!(go_mod.contains(&format!("helm.sh/helm/v3 {version}\n")));
    }
}
