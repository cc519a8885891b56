//! Programs that are built from a Go module of ours: once per machine, and again when the module
//! changes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use sha2::{Digest, Sha256};

use crate::cluster::tools::{cache_dir, go, lock};
use crate::process::tail;
use crate::progress::Progress;

/// Arguments of each build. The tag leaves out what would need a C library.
const BUILD: [&str; 6] =
    ["build", "-trimpath", "-tags", "containers_image_openpgp", "-ldflags", "-s -w"];

/// What is built, and from what.
#[derive(Clone, Copy, Debug)]
pub(super) struct GoModule {
    /// Name of its folder in the cache.
    pub name: &'static str,
    /// Name and content of each of its files.
    pub files: [(&'static str, &'static str); 3],
    /// The module that it requires.
    pub requires: &'static str,
    /// The programs, as folders of that module.
    pub programs: &'static [&'static str],
    /// A folder of that module that is kept beside the programs, if one is wanted.
    pub keeps: Option<&'static str>,
    /// What the build takes, for whoever waits for it.
    pub takes: &'static str,
}

impl GoModule {
    /// The folder with the programs, and with `kept` where something is kept.
    ///
    /// # Errors
    /// There is no Go, or the build fails; the error ends with what Go says.
    pub(super) fn ensure(&self, progress: &Progress) -> Result<PathBuf> {
        let tools = cache_dir()?.join("tools");
        let dir = tools.join(format!("{}-{}", self.name, self.fingerprint()));
        if dir.is_dir() {
            return Ok(dir);
        }
        fs::create_dir_all(&tools).with_context(|| format!("cannot create {}", tools.display()))?;
        let lock = lock(&dir.with_extension("lock"), progress)?;
        if !dir.is_dir() {
            self.build(&dir, progress)?;
        }
        drop(lock);
        Ok(dir)
    }

    fn build(&self, dir: &Path, progress: &Progress) -> Result<()> {
        let go = go(progress)?;
        let (source, partial) = (dir.with_extension("source"), dir.with_extension("partial"));
        for fresh in [&source, &partial] {
            let _ = fs::remove_dir_all(fresh);
            fs::create_dir_all(fresh).context("cannot create the build directory")?;
        }
        for (name, content) in self.files {
            fs::write(source.join(name), content).context("cannot write the Go module")?;
        }
        let (name, takes) = (self.name, self.takes);
        progress.step(format!("building {name} from its Go module ({takes}, once per machine)"));
        let log = dir.with_extension("log");
        // A folder as output takes each program under its own name.
        let mut command = in_module(&go, &source);
        command.args(BUILD).arg("-o").arg(partial.join("")).args(self.packages());
        let output = File::create(&log).context("cannot write the log of the build")?;
        command.stdout(output.try_clone().context("cannot share the log")?).stderr(output);
        let status = command.status().context("cannot run go")?;
        if !status.success() {
            bail!("{name} cannot be built ({status}):\n{}", tail(&log, 20));
        }
        self.keep(&go, &source, &partial.join("kept"))?;
        fs::remove_dir_all(&source).context("cannot remove the build directory")?;
        fs::rename(&partial, dir).with_context(|| format!("cannot move {name} into place"))
    }

    /// Copies the files of the folder that is wanted.
    fn keep(&self, go: &Path, source: &Path, kept: &Path) -> Result<()> {
        let Some(folder) = self.keeps else { return Ok(()) };
        let mut command = in_module(go, source);
        let listed = command.args(["list", "-m", "-f", "{{.Dir}}", self.requires]).output();
        let listed = listed.context("cannot run go")?;
        ensure!(listed.status.success(), "go list: {}", String::from_utf8_lossy(&listed.stderr));
        let module = PathBuf::from(String::from_utf8_lossy(&listed.stdout).trim());
        fs::create_dir_all(kept).context("cannot create a folder")?;
        let entries = fs::read_dir(module.join(folder));
        for entry in entries.with_context(|| format!("{} has no {folder}", self.requires))? {
            let entry = entry.context("cannot list a folder")?;
            let text = fs::read(entry.path()).context("cannot read a file")?;
            // Files of the module cache are read-only, and a copy would be, too.
            fs::write(kept.join(entry.file_name()), text).context("cannot write a file")?;
        }
        Ok(())
    }

    /// The programs as Go names them.
    fn packages(&self) -> impl Iterator<Item = String> {
        self.programs.iter().map(|path| format!("{}/{path}", self.requires))
    }

    /// Changes whenever a build would give something else.
    fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        let programs: Vec<String> = self.packages().collect();
        let texts = self.files.iter().map(|(_, content)| *content).chain(BUILD);
        let texts = texts.chain(programs.iter().map(String::as_str)).chain(self.keeps);
        texts.for_each(|text| {
            hash.update(text.len().to_le_bytes());
            hash.update(text);
        });
        hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }
}

fn in_module(go: &Path, source: &Path) -> Command {
    let mut command = Command::new(go);
    command.current_dir(source).stdin(Stdio::null());
    command.env("CGO_ENABLED", "0").env("GOFLAGS", "-buildvcs=false");
    command
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::{olm_v0, opm};
    use super::GoModule;

    #[rstest]
    #[case(opm::MODULE)]
    #[case(olm_v0::MODULE)]
    fn the_module_requires_the_programs(#[case] module: GoModule) {
        let [(_, go_mod), (_, go_sum), (_, tools)] = module.files;
        assert!(go_mod.contains(&format!("require {} v", module.requires)));
        assert!(go_sum.contains(&format!("{} v", module.requires)));
        for program in module.programs {
            assert!(tools.contains(&format!("\"{}/{program}\"", module.requires)), "{program}");
        }
    }
}
