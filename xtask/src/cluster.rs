//! `cargo xtask cluster`: a real Kubernetes API server on this machine, kept until `down`.

use anyhow::{Context, Result};
use clap::{Args, Subcommand, ValueEnum};
use olm_testkit::cluster::ClusterBackend;
use olm_testkit::cluster::current::CurrentCluster;
use olm_testkit::cluster::local::LocalCluster;
use olm_testkit::progress::Progress;

/// Arguments of the command.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
    /// Tells local clusters apart
    #[arg(long, global = true, default_value = "dev")]
    name: String,
    /// What plays the cluster
    #[arg(long, global = true, value_enum, default_value_t)]
    backend: Backend,
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
}

/// What can play a cluster.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Backend {
    /// A control plane on this machine with a simulated node
    #[default]
    Local,
    /// The cluster of the kubeconfig's current context
    Current,
}

impl Backend {
    /// The backend with a name; it stays up until `down`.
    pub fn kept(self, name: &str) -> Result<Box<dyn ClusterBackend>> {
        Ok(match self {
            Self::Local => Box::new(LocalCluster::kept(name, Progress::to_stderr())?),
            Self::Current => Box::new(CurrentCluster),
        })
    }
}

/// Runs the command.
pub fn run(arguments: Arguments) -> Result<()> {
    let cluster = arguments.backend.kept(&arguments.name)?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    runtime.block_on(async {
        match arguments.action {
            Action::Up => up(&*cluster).await,
            Action::Down => cluster.down().await,
            Action::Status => status(&*cluster, &arguments.name).await,
            Action::Kubeconfig => {
                println!("{}", cluster.kubeconfig().await?.display());
                Ok(())
            }
        }
    })
}

async fn up(cluster: &dyn ClusterBackend) -> Result<()> {
    cluster.up().await?;
    println!("export KUBECONFIG={}", cluster.kubeconfig().await?.display());
    Ok(())
}

async fn status(cluster: &dyn ClusterBackend, name: &str) -> Result<()> {
    println!("{name}: {}", cluster.status().await?);
    for (other, up) in LocalCluster::list()?.into_iter().filter(|(other, _)| other != name) {
        println!("{other}: {}", if up { "up" } else { "down" });
    }
    Ok(())
}
