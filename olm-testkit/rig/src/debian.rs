//! Programs of Debian packages: found, or installed where that is allowed.
//!
//! One attempt with the package lists as they are, and one more after `apt-get update`. Services
//! that a package starts by itself are ended again: only its programs are wanted.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use olm_testkit::browser;
use olm_testkit::progress::Progress;

/// Set to 1, it allows what `--install` allows.
const ALLOWED: &str = "OLM_INSTALL_PACKAGES";

/// Services that come with the packages and start by themselves.
const SERVICES: [&str; 3] = ["containerd", "docker-registry", "prometheus"];

/// Seconds to wait for another program that installs, and for a mirror that is slow.
const OPTIONS: [&str; 5] = [
    "--option=DPkg::Lock::Timeout=120",
    "--option=Acquire::Retries=2",
    "--option=Acquire::http::Timeout=30",
    "--option=Acquire::https::Timeout=30",
    "--option=Dpkg::Use-Pty=0",
];

/// The longest time that apt may take altogether, in seconds.
const LIMIT: &str = "900";

/// Whether a program is on PATH.
pub fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

/// Whether this process may install at all.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether the environment allows to install packages.
pub fn allowed() -> bool {
    std::env::var_os(ALLOWED).is_some_and(|value| value == "1")
}

/// Installs packages.
///
/// # Errors
///
/// When this is no Debian, or apt fails; the message says what would help.
pub fn install(packages: &[&str], progress: &Progress) -> Result<()> {
    if !is_on_path("apt-get") {
        bail!("packages can be installed on Debian and its relatives only: there is no apt-get");
    }
    progress.step(format!("installing {}", packages.join(" ")));
    let before: Vec<&str> = SERVICES.into_iter().filter(|name| runs(name)).collect();
    if apt("install", packages).is_err() {
        progress.step("the package lists may be old: apt-get update");
        apt("update", &[])?;
        apt("install", packages)?;
    }
    let started = SERVICES.into_iter().filter(|name| !before.contains(name));
    started.filter(|name| packages.contains(name)).for_each(|name| end(name, progress));
    Ok(())
}

/// Installs the browser of scenarios, where there is none and this process may install one.
///
/// # Errors
///
/// Those of [`install`].
pub fn install_browser(progress: &Progress) -> Result<()> {
    let packages = browser::missing_packages();
    match allowed() && is_root() && !packages.is_empty() {
        true => install(&packages, progress),
        false => Ok(()),
    }
}

fn apt(action: &str, packages: &[&str]) -> Result<()> {
    let mut words = Command::new("timeout");
    words.args(["--kill-after=30", LIMIT, "apt-get", "--yes", "--quiet"]);
    words.args(OPTIONS).arg(action).env("DEBIAN_FRONTEND", "noninteractive");
    if action == "install" {
        words.arg("--no-install-recommends").args(packages);
    }
    let output = words.stdin(Stdio::null()).output().context("cannot run apt-get")?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    bail!("`apt-get {action}` failed: {}\n{}", explain(&said), last_lines(&said))
}

/// What the messages of apt mean for a person who wants to go on.
fn explain(said: &str) -> &'static str {
    let has = |part: &str| said.contains(part);
    if has("Could not get lock") || has("Unable to acquire the dpkg") {
        "another program is installing packages; try again when it has ended"
    } else if has("Unable to locate package") || has("has no installation candidate") {
        "the package is in no list; see /etc/apt/sources.list, it needs Debian's `main`"
    } else if has("Failed to fetch")
        || has("Temporary failure resolving")
        || has("Unable to connect")
    {
        "the mirror does not answer; try again later, or see /etc/apt/sources.list"
    } else if has("dpkg was interrupted") {
        "an earlier installation was interrupted; run `dpkg --configure -a`"
    } else if said.trim().is_empty() {
        "it did not end in time"
    } else {
        "see what it said"
    }
}

fn last_lines(said: &str) -> String {
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    lines.iter().skip(lines.len().saturating_sub(8)).map(|line| format!("  {line}\n")).collect()
}

fn runs(service: &str) -> bool {
    succeeds(&["service", service, "status"])
}

/// Ends a service that was not there before, and keeps it from starting with the machine.
fn end(service: &str, progress: &Progress) {
    if runs(service) && succeeds(&["service", service, "stop"]) {
        progress.step(format!("ended the service {service} that its package had started"));
    }
    if Path::new("/run/systemd/system").is_dir() {
        succeeds(&["systemctl", "disable", service]);
    }
}

fn succeeds(words: &[&str]) -> bool {
    let Some((program, args)) = words.split_first() else { return false };
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 7", "another")]
    #[case("E: Unable to locate package socat", "the package is in no list")]
    #[case("W: Failed to fetch http://deb.example/x  Temporary failure resolving", "the mirror")]
    #[case("E: dpkg was interrupted, you must manually run", "an earlier")]
    #[case("", "it did not end")]
    #[case("E: something new", "see what")]
    fn the_words_of_apt_are_explained(#[case] said: &str, #[case] start: &str) {
        assert!(explain(said).starts_with(start), "{}", explain(said));
    }

    #[test]
    fn a_program_that_does_not_exist_is_not_found() {
        assert!(is_on_path("sh") && !is_on_path("no-such-program"));
    }

    #[test]
    fn only_the_end_of_a_long_complaint_is_shown() {
        let said: String = (0..100).map(|n| format!("line {n}\n\n")).collect();
        assert_eq!(last_lines(&said).lines().count(), 8);
        assert!(last_lines(&said).ends_with("  line 99\n"));
    }
}
