//! Static executables of this workspace as they ship: they run in an image that holds nothing else.
//!
//! They are built for the gnu target with the C library linked in, under the target's own folder
//! of the target directory, so that ordinary builds stay untouched. No path of the machine gets
//! into them: the same sources give the same bytes wherever they lie.

mod artifacts;
mod elf;
mod flags;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::{Progress, workspace};
pub use elf::check_static;

/// What executables are built for.
pub const TARGET: &str = "x86_64-unknown-linux-gnu";

/// An executable of this workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binary {
    /// The package.
    pub package: &'static str,
    /// The executable.
    pub name: &'static str,
    /// The package's features that it needs.
    pub features: &'static [&'static str],
}

/// Builds static executables with one call of cargo and returns their paths, in the order asked
/// for.
///
/// # Errors
///
/// When the target is not installed, the sources do not compile, or an executable is not static;
/// the message says what would help.
pub fn build(binaries: &[Binary], progress: &Progress) -> Result<Vec<PathBuf>> {
    check_target()?;
    let names: Vec<&str> = binaries.iter().map(|binary| binary.name).collect();
    progress.step(format!("static build of {}", names.join(", ")));
    let output = cargo_build(binaries)?
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run cargo")?;
    ensure!(output.status.success(), "cargo failed, see above; {}", needs());
    let built = artifacts::executables(&output.stdout)?;
    binaries.iter().map(|binary| find(binary, &built)).collect()
}

/// Runs the unit tests of a package, compiled as programs that ship are.
///
/// # Errors
///
/// They do not compile, or one fails.
pub fn test(package: &str, progress: &Progress) -> Result<()> {
    check_target()?;
    progress.step(format!("tests of {package}, compiled as what ships"));
    let mut command = cargo();
    command.args([
        "test",
        "--release",
        "--locked",
        "--target",
        TARGET,
        "--package",
        package,
        "--lib",
    ]);
    flags::set(&mut command)?;
    let status = command.status().context("cannot run cargo")?;
    ensure!(status.success(), "tests of {package} failed, see above");
    Ok(())
}

fn find(binary: &Binary, built: &[artifacts::Executable]) -> Result<PathBuf> {
    let found = built.iter().find(|built| built.target == binary.name);
    let found = found.with_context(|| format!("cargo has not built {}", binary.name))?;
    check_static(&found.path).with_context(|| format!("not usable in an image; {}", needs()))?;
    Ok(found.path.clone())
}

fn cargo_build(binaries: &[Binary]) -> Result<Command> {
    let mut command = cargo();
    command.args(["build", "--release", "--locked", "--target", TARGET]);
    command.arg("--message-format=json-render-diagnostics");
    for binary in binaries {
        command.args(["--package", binary.package, "--bin", binary.name]);
        for feature in binary.features {
            command.arg("--features").arg(format!("{}/{feature}", binary.package));
        }
    }
    flags::set(&mut command)?;
    Ok(command)
}

/// `cargo`, run in the root of the workspace.
fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace());
    command
}

/// Fails before a long build when the standard library for the target is missing.
fn check_target() -> Result<()> {
    let library = flags::rustc(&["--print", "target-libdir", "--target", TARGET])?;
    let is_there = std::fs::read_dir(&library).is_ok_and(|mut files| files.next().is_some());
    if !is_there {
        bail!("there is no standard library for {TARGET}; run `rustup target add {TARGET}`");
    }
    Ok(())
}

fn needs() -> String {
    format!(
        "a static build needs Linux on x86_64, a C compiler and libc.a \
         (Debian: libc6-dev, Fedora: glibc-static), and the target {TARGET}"
    )
}
