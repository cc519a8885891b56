//! OLM v0's own acceptance suite, and programs for images that its specs use.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::olm_v0::{self, OlmV0};
use crate::cache::{once, tools_dir};
use crate::go::{self, go};
use crate::module::Module;
use crate::patch::{copy_folder, output};
use crate::progress::Progress;
use crate::run::{Reminder, run};

/// The folder of the suite in OLM's module.
const SUITE: &str = "test/e2e";

/// The program of the suite.
const PROGRAM: &str = "e2e.test";

/// What the suite reads while it runs, and bundles of its images.
const DATA: [&str; 2] = ["testdata", "data"];

/// Flags of the build, as those of all programs that are not debugged.
const FLAGS: [&str; 5] = ["test", "-c", "-trimpath", "-gcflags=all=-dwarf=false", "-ldflags=-s -w"];

/// The suite and the programs, built.
#[derive(Clone, Debug)]
pub struct AcceptanceSuite {
    dir: PathBuf,
    stand_ins: PathBuf,
}

impl AcceptanceSuite {
    /// Finds both, building what is missing. The suite is compiled in a copy of OLM's module: only there
    /// the modules are known that its tests need.
    ///
    /// # Errors
    /// There is no Go, or a build fails; the error ends with what Go says.
    pub fn ensure(progress: &Progress) -> Result<Self> {
        let stand_ins = stand_ins().ensure(progress, |_| Ok(()))?.join("acceptance");
        let name = format!("acceptance-suite-{}", OlmV0::version().replace('.', "-"));
        let dir = once(&tools_dir()?, &name, progress, |output| build(output, progress))?;
        Ok(Self { dir, stand_ins })
    }

    /// The program that plays the suite.
    pub fn program(&self) -> PathBuf {
        self.dir.join(PROGRAM)
    }

    /// What the suite reads: its `-test-data-dir`.
    pub fn test_data(&self) -> PathBuf {
        self.dir.join("testdata")
    }

    /// A folder with a bundle of which the suite's specs use an image.
    pub fn bundle(&self, name: &str) -> PathBuf {
        self.dir.join("data").join(name)
    }

    /// The program that stands in for those of images, by the name that it is called by.
    pub fn stand_ins(&self) -> &Path {
        &self.stand_ins
    }
}

fn build(built: &Path, progress: &Progress) -> Result<()> {
    let title = "the acceptance suite of OLM v0";
    progress.step(format!("building {title} from its Go module, once per machine"));
    let (go, source) = (go(progress)?, built.with_extension("source"));
    // What a killed build left.
    let _ = fs::remove_dir_all(&source);
    let copy = source.join("module");
    copy_folder(&fetch(&go, &source.join("pin"))?, &copy)?;
    let mut command = go::command(&go, &copy);
    command.args(FLAGS).arg("-o").arg(built.join(PROGRAM)).arg(format!("./{SUITE}"));
    let line = |_, seconds| format!("{title}: {seconds} s so far");
    run(command, &built.with_extension("log"), progress, &mut Reminder::new(), line)
        .with_context(|| format!("{title}: the build failed"))?;
    for name in DATA {
        copy_folder(&copy.join(SUITE).join(name), &built.join(name))?;
    }
    fs::remove_dir_all(&source).context("cannot remove the build directory")
}

/// Fetches OLM's module as ours pins it, and returns its folder in the module cache.
fn fetch(go: &Path, pin: &Path) -> Result<PathBuf> {
    fs::create_dir_all(pin).context("cannot create the build directory")?;
    for (name, content) in olm_v0::FILES {
        fs::write(pin.join(name), content).context("cannot write the Go module")?;
    }
    output(go::command(go, pin).args(["mod", "download", olm_v0::REQUIRES]))?;
    let listed =
        output(go::command(go, pin).args(["list", "-m", "-f", "{{.Dir}}", olm_v0::REQUIRES]))?;
    Ok(PathBuf::from(listed.trim()))
}

fn stand_ins() -> Module {
    let files = [
        ("go.mod", include_str!("../../../../xtask/acceptance/go.mod")),
        ("go.sum", include_str!("../../../../xtask/acceptance/go.sum")),
        ("main.go", include_str!("../../../../xtask/acceptance/main.go")),
        ("api.go", include_str!("../../../../xtask/acceptance/api.go")),
        ("grpc.go", include_str!("../../../../xtask/acceptance/grpc.go")),
        ("webhooks.go", include_str!("../../../../xtask/acceptance/webhooks.go")),
    ];
    let title = "stand-ins for images of the acceptance suite";
    Module::new("acceptance-stand-ins", title, &files, vec![".".to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_the_stand_ins_is_called_after_their_module() {
        let module = stand_ins();
        let (_, go_mod) = module.files[0];
        assert!(go_mod.starts_with("module olm-rs/acceptance\n"));
    }
}
