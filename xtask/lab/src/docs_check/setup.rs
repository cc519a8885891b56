//! The cluster and the folder in which the commands of a page run.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use anyhow::{Context, Result};
use olm_testkit::cluster::tools::kubectl;
use olm_testkit::e2e::provider::local::Local;
use olm_testkit::fixture::{Fixture, FixturePaths};
use olm_testkit::process::{Launch, Lifetime, Running};
use olm_testkit::progress::Progress;
use tempfile::TempDir;

use xtask::workspace;

/// What commands name in the checkout.
const CHECKOUT: [&str; 3] = ["demo", "deploy", "target"];

/// The folder with programs.
const OWN: &str = ".bin";

/// Programs of ours.
const OURS: [&str; 2] = ["olm-registry", "kubectl-olm"];

/// A folder with what commands need, and a cluster.
pub(super) struct Setup {
    cluster: Played,
    folder: TempDir,
    kubeconfig: PathBuf,
    /// What runs beside the commands that follow.
    beside: Mutex<Vec<Running>>,
}

/// With OLM in it, or without.
enum Played {
    WithOlm(Local),
    Empty(Fixture),
}

impl Played {
    fn fixture(&self) -> &Fixture {
        match self {
            Self::WithOlm(local) => local,
            Self::Empty(fixture) => fixture,
        }
    }
}

impl Setup {
    /// Starts the cluster.
    pub(super) async fn set(binaries: &Path, is_empty: bool) -> Result<Self> {
        let silent = Progress::new(|_| {});
        let places = FixturePaths::of(binaries, None);
        let cluster = if is_empty {
            Played::Empty(Fixture::empty("docs", &places, silent).await?)
        } else {
            Played::WithOlm(Local::start("docs", &places, silent).await?)
        };
        let kubeconfig = cluster.fixture().kubeconfig.clone();
        let folder = tempfile::tempdir().context("cannot create a directory")?;
        prepare_folder(folder.path(), binaries)?;
        Ok(Self { cluster, folder, kubeconfig, beside: Mutex::default() })
    }

    /// Where the commands run.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a command to its end: whether it succeeded, and everything that it printed. One with `&`
    /// at its end runs until the page ends.
    pub(super) fn run(&self, command: &str) -> Result<(bool, String)> {
        if let Some(command) = command.strip_suffix('&') {
            return self.run_beside(command);
        }
        let run = Command::new("sh")
            .args(["-c", &format!("{{ {command}\n}} 2>&1")])
            .current_dir(self.folder())
            .envs(self.environment())
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot run {command}"))?;
        Ok((run.status.success(), String::from_utf8_lossy(&run.stdout).into_owned()))
    }

    fn run_beside(&self, command: &str) -> Result<(bool, String)> {
        let folder = self.folder().display();
        let launch = Launch {
            name: command.to_owned(),
            program: PathBuf::from("sh"),
            args: vec!["-c".to_owned(), format!("cd {folder} && exec {command}")],
            env: self.environment().into(),
            log: self.folder().join(".log"),
            lifetime: Lifetime::Command,
        };
        let running = launch.start()?;
        if let Ok(mut beside) = self.beside.lock() {
            beside.push(running);
        }
        Ok((true, String::new()))
    }

    fn environment(&self) -> [(String, String); 3] {
        let path = std::env::var("PATH").unwrap_or_default();
        let own = self.folder().join(OWN);
        [
            ("PATH".to_owned(), format!("{}:{path}", own.display())),
            ("KUBECONFIG".to_owned(), self.kubeconfig.to_string_lossy().into_owned()),
            // kubectl keeps what it learns there.
            ("KUBECACHEDIR".to_owned(), self.folder().join(".kube").to_string_lossy().into_owned()),
        ]
    }

    /// Ends the cluster.
    pub(super) async fn tear_down(self) -> Result<()> {
        self.cluster.fixture().end().await
    }
}

/// Puts names for everything that commands use into the folder.
fn prepare_folder(folder: &Path, binaries: &Path) -> Result<()> {
    let link = |from: &Path, to: &Path| {
        symlink(from, to).with_context(|| format!("cannot make {}", to.display()))
    };
    let (root, own) = (workspace::root(), folder.join(OWN));
    for name in CHECKOUT {
        link(&root.join(name), &folder.join(name))?;
    }
    std::fs::create_dir(&own).context("cannot create a directory")?;
    link(&kubectl(&Progress::to_stderr())?, &own.join("kubectl"))?;
    for name in OURS {
        link(&binaries.join(name), &own.join(name))?;
    }
    let cargo = own.join("cargo");
    std::fs::write(&cargo, cargo_of(&root)?).context("cannot write a program")?;
    std::fs::set_permissions(&cargo, Permissions::from_mode(0o755))
        .context("cannot allow it to run")
}

/// `cargo xtask` in the checkout: this program, which is built already.
fn cargo_of(root: &Path) -> Result<String> {
    let xtask = workspace::xtask();
    let (root, xtask) = (root.display(), xtask.display());
    Ok(format!("#!/bin/sh\nshift\ncd '{root}' && exec '{xtask}' \"$@\"\n"))
}
