//! The real binaries of this workspace, as child processes.
//!
//! They run outside the cluster with its kubeconfig, on loopback ports, with their output in
//! files, and end when dropped or when this process ends in any way. Operators act as their
//! ServiceAccounts, with the rights that `deploy/` gives them.

mod account;
mod admin;

use std::fmt;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, bail};
use olm_tools::built_programs;

pub use admin::Admin;

use crate::process::{Launch, Lifetime, Running};

/// The namespace that OLM regards as its own; catalogs in it are seen everywhere.
pub const OLM_NAMESPACE: &str = "operator-lifecycle-manager";

/// What `deploy/` has catalog-operator do, and is off without the flag.
const WORKLOAD_USER: &str = "--set-workload-user-id=true";

/// One of the two operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operator {
    /// Looks after ClusterServiceVersions and OperatorGroups.
    Olm,
    /// Looks after CatalogSources, Subscriptions and InstallPlans.
    Catalog,
}

impl Operator {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Olm, Self::Catalog];

    /// The names of both.
    pub const NAMES: [&str; 2] = [Self::Olm.name(), Self::Catalog.name()];

    /// The name of the binary, by which audit logs know it, too.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Olm => "olm-operator",
            Self::Catalog => "catalog-operator",
        }
    }

    /// Its ServiceAccount in [`OLM_NAMESPACE`].
    pub const fn account(self) -> &'static str {
        match self {
            Self::Olm => "olm-operator-serviceaccount",
            Self::Catalog => "catalog-operator-serviceaccount",
        }
    }

    /// Bytes of memory that its Deployment lets it have.
    pub const fn memory_limit(self) -> u64 {
        let mebibytes = match self {
            Self::Olm => 512,
            Self::Catalog => 1536,
        };
        mebibytes << 20
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What is special about one start of an operator.
#[derive(Clone, Debug, Default)]
pub struct StartOptions {
    /// The name of its log; that of the binary when empty. A second start under the same name
    /// begins the log anew.
    pub log: String,
    /// More flags.
    pub args: Vec<String>,
    /// More variables in its environment.
    pub env: Vec<(String, String)>,
    /// URL of what it takes for the API server, when that is something in between.
    pub server: Option<String>,
}

/// Names the folder of operators that are played instead of those beside the running executable.
const OPERATORS: &str = "OLM_OPERATORS";

/// Where the binaries are and how they are started.
#[derive(Clone, Debug)]
pub struct Binaries {
    dir: PathBuf,
    operators: PathBuf,
    logs: PathBuf,
    lifetime: Lifetime,
}

impl Binaries {
    /// Binaries beside the running executable: the target directory that cargo built it into.
    pub fn beside_this_executable(logs: &Path) -> Result<Self> {
        let dir = built_programs().context("cannot find the running executable")?;
        let operators = std::env::var_os(OPERATORS).map(PathBuf::from);
        let all = Self::in_dir(&dir, logs);
        Ok(Self { operators: operators.unwrap_or(dir), ..all })
    }

    /// Binaries in a directory.
    pub fn in_dir(dir: &Path, logs: &Path) -> Self {
        let (operators, logs) = (dir.to_owned(), logs.to_owned());
        Self { dir: dir.to_owned(), operators, logs, lifetime: Lifetime::Command }
    }

    /// Processes outlive this one.
    #[must_use]
    pub fn kept(self) -> Self {
        Self { lifetime: Lifetime::Kept, ..self }
    }

    /// Where a program is.
    pub fn program(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Starts the operator of ClusterServiceVersions and OperatorGroups.
    pub async fn olm_operator(&self, kubeconfig: &Path) -> Result<Running> {
        let started = self.operator(Operator::Olm, kubeconfig, StartOptions::default()).await?;
        Ok(started.0)
    }

    /// Starts the operator of CatalogSources, Subscriptions and InstallPlans.
    pub async fn catalog_operator(&self, kubeconfig: &Path) -> Result<Running> {
        let started = self.operator(Operator::Catalog, kubeconfig, StartOptions::default()).await?;
        Ok(started.0)
    }

    /// Serves a file-based catalog on a free port and returns its address.
    pub fn registry(&self, name: &str, catalog: &Path) -> Result<(Running, String)> {
        let port = free_port()?;
        Ok((self.registry_at(name, catalog, port)?, format!("127.0.0.1:{port}")))
    }

    /// Serves a file-based catalog on a port of the loopback address.
    pub fn registry_at(&self, name: &str, catalog: &Path, port: u16) -> Result<Running> {
        self.registry_on(name, catalog, SocketAddr::from(([127, 0, 0, 1], port)))
    }

    /// Serves a file-based catalog at an address of this machine.
    pub fn registry_on(&self, name: &str, catalog: &Path, address: SocketAddr) -> Result<Running> {
        let (catalog, port) = (catalog.to_string_lossy(), address.port().to_string());
        let ip = address.ip().to_string();
        let args = ["serve", &*catalog, "--port", &*port, "--address", &*ip];
        let args = args.map(str::to_owned).into();
        let program = self.program("olm-registry");
        self.launch(program, &format!("olm-registry-{name}"), args)?.start()
    }

    /// Starts the program of test operators; `name` is in the name of the log.
    pub fn workload(&self, name: &str, args: Vec<String>) -> Result<Running> {
        let program = self.program("olm-workload");
        self.launch(program, &format!("olm-workload-{name}"), args)?.start()
    }

    /// Starts an operator in a special way; the second value serves its health and readiness. The
    /// kubeconfig is an administrator's, with which the operator gets one of its account.
    pub async fn operator(
        &self,
        operator: Operator,
        kubeconfig: &Path,
        special: StartOptions,
    ) -> Result<(Running, Admin)> {
        let name = operator.name();
        let log = if special.log.is_empty() { name } else { &special.log };
        let own = account::kubeconfig(kubeconfig, operator, log, special.server.as_deref()).await?;
        let kubeconfig = own.to_string_lossy().into_owned();
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()?));
        let (admin, address) = (Admin::at(address), address.to_string());
        let flags = [
            ("--kubeconfig", kubeconfig.as_str()),
            ("--namespace", OLM_NAMESPACE),
            ("--admin-address", address.as_str()),
        ];
        let args = flags.iter().flat_map(|(flag, value)| [*flag, *value].map(str::to_owned));
        let shipped = (operator == Operator::Catalog).then(|| WORKLOAD_USER.to_owned());
        let args = args.chain(shipped).chain(special.args).collect();
        let program = self.operators.join(name);
        let launch = Launch { env: special.env, ..self.launch(program, log, args)? };
        Ok((launch.start()?.limited(name, operator.memory_limit()), admin))
    }

    fn launch(&self, program: PathBuf, name: &str, args: Vec<String>) -> Result<Launch> {
        if !program.is_file() {
            bail!(
                "{} is not built; `cargo xtask` builds what a command starts, and \
                 `cargo xtask test --scenarios NAME` plays scenarios",
                program.display()
            );
        }
        Ok(Launch {
            name: name.to_owned(),
            program,
            args,
            env: Vec::new(),
            log: self.logs.join(format!("{name}.log")),
            lifetime: self.lifetime,
        })
    }
}

/// Where the search for free ports starts: above the blocks of local clusters, and below the
/// ports that the kernel gives to outgoing connections.
const PORTS: std::ops::Range<u16> = 23_000..32_000;

/// A port that no process listens on. Each call gives another one, and other processes start their
/// search elsewhere.
pub fn free_port() -> Result<u16> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_limited_as_the_manifests_say() {
        for operator in Operator::ALL {
            let manifest = format!("../deploy/base/{operator}.yaml");
            let manifest = std::fs::read_to_string(manifest).unwrap();
            let (_, limits) = manifest.split_once("limits:").unwrap();
            let expected = format!("memory: {}Mi", operator.memory_limit() >> 20);
            assert_eq!(limits.trim_start().lines().next(), Some(expected.as_str()), "{operator}");
        }
    }
}
