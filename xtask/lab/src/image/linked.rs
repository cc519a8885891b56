//! Static executables of what was just built: the same compiled code as in every other program and
//! test of this checkout, linked once more with the C library inside, so that it runs in an image that
//! holds nothing else. Only the few lines of `main` are compiled for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use olm_testkit::static_build::check_static;
use xtask::build::{self, Built};
use xtask::progress::Progress;
use xtask::workspace::{root, succeed, target};

/// A program whose `main` calls a function of one library of ours, and nothing else.
#[derive(Clone, Copy, Debug)]
pub struct Linked {
    /// The executable.
    pub name: &'static str,
    /// The library.
    pub library: &'static str,
    /// The file with `main`, from the root of the checkout.
    pub main: &'static str,
}

/// What test operators run.
pub const WORKLOAD: Linked = Linked {
    name: "olm-workload",
    library: "olm_workload",
    main: "olm-testkit/workload/src/main.rs",
};

/// The edition of the workspace.
const EDITION: &str = "--edition=2024";

/// Links programs and returns the bytes of each, in the order asked for.
///
/// # Errors
/// The workspace does not compile, or a program cannot be linked or is not static.
pub fn programs(wanted: &[Linked]) -> Result<Vec<Vec<u8>>> {
    let built = build::build("libraries and programs", &["--lib", "--bins"], &Progress::new())?;
    let folder = target().join("linked");
    fs::create_dir_all(&folder).context("cannot create a folder for static programs")?;
    wanted.iter().map(|program| link(program, &built, &folder)).collect()
}

fn link(program: &Linked, built: &Built, folder: &Path) -> Result<Vec<u8>> {
    let library = library(program, built)?;
    let file = folder.join(program.name);
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.current_dir(root()).args([EDITION, "--crate-type=bin", "--crate-name"]);
    rustc.arg(program.name.replace('-', "_")).arg(program.main);
    rustc.arg("--extern").arg(format!("{}={}", program.library, library.display()));
    rustc.arg("-L").arg(format!("dependency={}", target().join("debug/deps").display()));
    rustc.args(["-Ctarget-feature=+crt-static", "-Cstrip=symbols", "-o"]).arg(&file);
    succeed(rustc).with_context(|| format!("cannot link {}", program.name))?;
    check_static(&file)?;
    fs::read(&file).with_context(|| format!("cannot read {}", file.display()))
}

fn library<'a>(program: &Linked, built: &'a Built) -> Result<&'a PathBuf> {
    let library = built.libraries.get(program.library);
    library.with_context(|| format!("cargo has not built {}", program.library))
}
