//! The real binaries of this workspace, as child processes.
//!
//! They run outside the cluster with its kubeconfig, on loopback ports, with their output in
//! files, and end when dropped or when this process ends in any way.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, bail};

use crate::process::{Launch, Lifetime, Running};

/// The namespace that OLM regards as its own; catalogs in it are seen everywhere.
pub const OLM_NAMESPACE: &str = "operator-lifecycle-manager";

/// Where the binaries are and how they are started.
#[derive(Clone, Debug)]
pub struct Binaries {
    dir: PathBuf,
    logs: PathBuf,
    lifetime: Lifetime,
}

impl Binaries {
    /// Binaries beside the running executable: the target directory that cargo built it into.
    pub fn beside_this_executable(logs: &Path) -> Result<Self> {
        let executable = std::env::current_exe().context("cannot find the running executable")?;
        let mut dir = executable.parent().context("the executable has no directory")?;
        // Test executables are one level deeper than binaries.
        if dir.ends_with("deps") {
            dir = dir.parent().unwrap_or(dir);
        }
        Ok(Self::in_dir(dir, logs))
    }

    /// Binaries in a directory.
    pub fn in_dir(dir: &Path, logs: &Path) -> Self {
        Self { dir: dir.to_owned(), logs: logs.to_owned(), lifetime: Lifetime::Command }
    }

    /// Processes outlive this one.
    #[must_use]
    pub fn kept(self) -> Self {
        Self { lifetime: Lifetime::Kept, ..self }
    }

    /// Starts the operator of ClusterServiceVersions and OperatorGroups.
    pub fn olm_operator(&self, kubeconfig: &Path) -> Result<Running> {
        self.operator("olm-operator", kubeconfig)
    }

    /// Starts the operator of CatalogSources, Subscriptions and InstallPlans.
    pub fn catalog_operator(&self, kubeconfig: &Path) -> Result<Running> {
        self.operator("catalog-operator", kubeconfig)
    }

    /// Serves a file-based catalog on a free port and returns its address.
    pub fn registry(&self, name: &str, catalog: &Path) -> Result<(Running, String)> {
        let port = free_port()?;
        let catalog = catalog.to_string_lossy().into_owned();
        let args = vec![
            "serve".into(),
            catalog,
            "--port".into(),
            port.to_string(),
            "--address".into(),
            "127.0.0.1".into(),
        ];
        let running = self.start("olm-registry", &format!("olm-registry-{name}"), args)?;
        Ok((running, format!("127.0.0.1:{port}")))
    }

    fn operator(&self, name: &str, kubeconfig: &Path) -> Result<Running> {
        let kubeconfig = kubeconfig.to_string_lossy().into_owned();
        let flags = [
            ("--kubeconfig", kubeconfig.as_str()),
            ("--namespace", OLM_NAMESPACE),
            ("--admin-address", "127.0.0.1:0"),
        ];
        let args = flags.iter().flat_map(|(flag, value)| [*flag, *value].map(str::to_owned));
        self.start(name, name, args.collect())
    }

    fn start(&self, binary: &str, name: &str, args: Vec<String>) -> Result<Running> {
        let program = self.dir.join(binary);
        if !program.is_file() {
            bail!(
                "{} is not built; run `cargo build --workspace --all-features` first \
                 (`cargo xtask test` and `cargo xtask demo` do that themselves)",
                program.display()
            );
        }
        let launch = Launch {
            name: name.to_owned(),
            program,
            args,
            env: Vec::new(),
            log: self.logs.join(format!("{name}.log")),
            lifetime: self.lifetime,
        };
        launch.start()
    }
}

/// Where the search for free ports starts: above the blocks of local clusters, and below the
/// ports that the kernel gives to outgoing connections.
const PORTS: std::ops::Range<u16> = 23_000..32_000;

/// A port that nobody listens on. Each call gives another one, and other processes start their
/// search elsewhere.
fn free_port() -> Result<u16> {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let count = u32::from(PORTS.end - PORTS.start);
    for _ in 0..count {
        let call = CALLS.fetch_add(1, Ordering::Relaxed);
        let offset = std::process::id().wrapping_mul(97).wrapping_add(call) % count;
        let port = PORTS.start + u16::try_from(offset).unwrap_or_default();
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    bail!("no port of {PORTS:?} is free")
}
