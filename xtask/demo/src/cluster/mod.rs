//! `cargo xtask cluster`: a real Kubernetes API server on this machine, kept until `down`.

mod verify;

use anyhow::{Context, Result, ensure};
use clap::{Args, Subcommand, ValueEnum};
use olm_rig::RealCluster;
use olm_testkit::cluster::current::CurrentCluster;
use olm_testkit::cluster::local::LocalCluster;
use olm_testkit::cluster::{self, ClusterBackend};
use olm_testkit::progress::Progress;

/// Arguments of the command.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
    /// Distinguishes clusters on this machine [default: dev, or real with --real]
    #[arg(long, global = true)]
    name: Option<String>,
    /// What plays the cluster
    #[arg(long, global = true, value_enum, default_value_t)]
    backend: Backend,
    /// A real node that runs containers; needs root on Linux
    #[arg(long, global = true, conflicts_with = "backend")]
    real: bool,
    /// Installs Debian packages that a real node needs; so does OLM_INSTALL_PACKAGES=1
    #[arg(long, global = true, requires = "real")]
    install: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Starts the cluster and prints how to use it
    Up,
    /// Ends the cluster and removes its files
    Down,
    /// Says what runs
    Status,
    /// Prints the path of the kubeconfig
    Kubeconfig,
    /// Starts a real node, uses it, kills it, starts it again, ends it, and looks for traces
    Verify,
}

/// What can play a cluster for operators that run as processes beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// A control plane on this machine with a simulated node
    #[default]
    Local,
    /// The cluster of the kubeconfig's current context
    Current,
}

/// Runs the command.
pub fn run(arguments: Arguments) -> Result<()> {
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    if let Action::Verify = arguments.action {
        ensure!(arguments.real, "only a real node can be verified: add --real");
        return runtime.block_on(verify::run(arguments.install));
    }
    let name = arguments.name.as_deref();
    if arguments.real {
        let name = name.unwrap_or("real");
        let cluster = RealCluster::kept(name, Progress::to_stderr())?;
        let cluster = cluster.may_install(arguments.install);
        runtime.block_on(act(&arguments.action, &cluster, name))?;
        if let Action::Up = arguments.action {
            println!("# images: push to {} over HTTP, pull by any name", cluster.registry()?);
        }
        return Ok(());
    }
    let name = name.unwrap_or("dev");
    let cluster: Box<dyn ClusterBackend> = match arguments.backend {
        Backend::Local => Box::new(LocalCluster::kept(name, Progress::to_stderr())?),
        Backend::Current => Box::new(CurrentCluster),
    };
    runtime.block_on(act(&arguments.action, &*cluster, name))
}

async fn act(action: &Action, cluster: &dyn ClusterBackend, name: &str) -> Result<()> {
    match action {
        Action::Up => up(cluster).await,
        Action::Down => cluster.down().await,
        Action::Status => status(cluster, name).await,
        Action::Kubeconfig => {
            println!("{}", cluster.kubeconfig().await?.display());
            Ok(())
        }
        Action::Verify => Ok(()),
    }
}

async fn up(cluster: &dyn ClusterBackend) -> Result<()> {
    cluster.up().await?;
    println!("export KUBECONFIG={}", cluster.kubeconfig().await?.display());
    Ok(())
}

async fn status(cluster: &dyn ClusterBackend, name: &str) -> Result<()> {
    println!("{name}: {}", cluster.status().await?);
    for (other, kind, up) in cluster::list()?.into_iter().filter(|(other, ..)| other != name) {
        println!("{other}: {} ({kind})", if up { "up" } else { "down" });
    }
    Ok(())
}
