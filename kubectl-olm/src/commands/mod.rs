//! The commands, one file each: read, ask the pure crates, print.

mod act;
mod approve;
mod authors;
mod completion;
mod console;
mod doctor;
mod events;
mod follow;
mod graph;
mod hand_back;
mod install;
mod list;
mod logs;
mod operands;
mod permissions;
mod plan;
mod search;
mod show;
mod status;
mod uninstall;
mod version;
mod why;

use anyhow::{Result, bail, ensure};
use olm_client::Cluster;
use olm_client::cluster::{ONE_NAMESPACE, one_namespace};
use olm_client::listing::Listing;
use olm_plan::Observed;

use crate::Outcome;
use crate::args::{Cli, Command};
use crate::output::Output;

pub use act::NotInTime;
pub use doctor::Doctor;

/// Does what the command line says.
///
/// # Errors
/// In the words of the command.
pub async fn run(cli: &Cli) -> Result<Outcome> {
    let output = Output::new(cli.view.output);
    if cli.view.all_namespaces {
        refuse_all_namespaces(&cli.command)?;
    }
    match &cli.command {
        Command::Completion { shell, install } => completion::script(output, *shell, *install),
        Command::Complete { words } => completion::complete(output, words, cli).await,
        Command::Explain { code } => doctor::explain(code.as_deref(), output),
        Command::Version { client: true } => version::of_client(output),
        Command::Plan(asked) if asked.planned.reading().sources.offline => {
            plan::run_offline(cli.connection.namespace(), asked, output).await
        }
        Command::Search(asked) if asked.sources.offline => {
            let home = cli.connection.namespace();
            let listing = Listing::of_flags(home, &asked.sources, None, &Output::notices()).await?;
            search::print(asked, &listing, output)
        }
        Command::Show(asked) if asked.reading.sources.offline => {
            show::offline(cli.connection.namespace(), asked, output).await
        }
        Command::Graph(asked) if asked.sources.offline => {
            graph::offline(cli.connection.namespace(), asked, output).await
        }
        Command::Why(asked) if asked.sources.offline => {
            why::offline(cli.connection.namespace(), asked, output).await
        }
        command => {
            refuse_files(command)?;
            let cluster = cli.connection.connect().await?;
            let flags = cli.connection.flags();
            in_cluster(command, &cluster, flags, cli.view.all_namespaces, output).await
        }
    }
}

/// A command that needs a cluster does not pretend that it has read files instead.
fn refuse_files(command: &Command) -> Result<()> {
    let Some(sources) = command.sources() else { return Ok(()) };
    ensure!(
        !sources.offline,
        "--offline is for plan, search, show, graph and why: this command needs a cluster"
    );
    ensure!(sources.state.is_empty(), "--state is read with --offline only");
    ensure!(sources.flavor.is_none(), "--flavor is read with --offline only");
    ensure!(sources.kube_version.is_none(), "--kube-version is read with --offline only");
    Ok(())
}

/// `-A` is refused where it would say nothing. Commands that ask a cluster look at it themselves.
fn refuse_all_namespaces(command: &Command) -> Result<()> {
    match command {
        Command::Explain { .. }
        | Command::Version { .. }
        | Command::Completion { .. }
        | Command::Console(_) => {
            bail!("this command looks at no namespace of its own: -A says nothing to it")
        }
        command if command.sources().is_some_and(|sources| sources.offline) => {
            bail!(ONE_NAMESPACE)
        }
        _ => Ok(()),
    }
}

async fn in_cluster(
    command: &Command,
    cluster: &Cluster,
    flags: Vec<String>,
    all: bool,
    output: Output,
) -> Result<Outcome> {
    let home = (!all).then_some(cluster.namespace.as_str());
    match command {
        Command::List => list::run(cluster, home, output).await,
        Command::Search(asked) => {
            one_namespace(cluster, all)?;
            let reading = Listing::of_cluster(cluster, &asked.sources, None);
            let listing = cluster.notices.slow("reading the packages of catalogs", reading).await?;
            search::print(asked, &listing, output)
        }
        Command::Show(asked) => show::run(cluster, all, asked, output).await,
        Command::Graph(asked) => graph::run(cluster, all, asked, output).await,
        Command::Why(asked) => why::run(cluster, all, asked, output).await,
        Command::Logs(asked) => logs::run(cluster, home, asked, output).await,
        Command::Permissions(asked) => permissions::run(cluster, all, asked, output).await,
        Command::Status(named) => status::run(cluster, home, named, output).await,
        Command::Events(named) => events::run(cluster, home, &named.name, output).await,
        Command::Operands(named) => operands::run(cluster, home, &named.name, output).await,
        Command::Doctor(asked) => doctor::run(cluster, home, asked, output).await,
        Command::Plan(asked) => plan::run(cluster, all, asked, output).await,
        Command::Install(asked) => install::run(cluster, all, asked, output).await,
        Command::Upgrade(asked) => install::upgrade(cluster, all, asked, output).await,
        Command::Uninstall(asked) => uninstall::run(cluster, all, asked, output).await,
        Command::Run(asked) => authors::run(cluster, all, asked, output).await,
        Command::Cleanup(asked) => authors::clean_up(cluster, all, asked, output).await,
        Command::Console(asked) => console::run(cluster, flags, asked, output).await,
        Command::Approve(approve) => approve::run(cluster, all, approve, output).await,
        Command::HandBack => hand_back::run(cluster, home, output).await,
        Command::Version { .. } => version::of_all(cluster, output).await,
        Command::Completion { .. } | Command::Complete { .. } | Command::Explain { .. } => {
            bail!("this command needs no cluster")
        }
    }
}

/// Subscriptions and what comes of them, in a namespace or in all; a progress line says so when it takes long.
async fn observe(cluster: &Cluster, home: Option<&str>, workloads: bool) -> Result<Observed> {
    let reading = match home {
        Some(home) => format!("reading what is installed in namespace {home}"),
        None => "reading what is installed in all namespaces".to_owned(),
    };
    cluster.notices.slow(&reading, cluster.observe(home, workloads)).await
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use rstest::rstest;

    use super::*;
    use crate::connection::kubeconfig;

    const OFFLINE: &str = "--offline is for plan, search, show, graph and why";
    const STATE: &str = "--state is read with --offline only";
    const FLAVOR: &str = "--flavor is read with --offline only";
    const KUBE: &str = "--kube-version is read with --offline only";
    const CONNECTS: &str = "cannot read the kubeconfig";

    /// There is no such kubeconfig: whoever goes on to connect complains of it.
    #[rstest]
    #[case(&["install", "kettle", "--yes", "--offline"], OFFLINE)]
    #[case(&["upgrade", "kettle", "--yes", "--offline", "--state", "f"], OFFLINE)]
    #[case(&["uninstall", "kettle", "--yes", "--offline"], OFFLINE)]
    #[case(&["permissions", "kettle", "--offline"], OFFLINE)]
    #[case(&["install", "kettle", "--yes", "--flavor", "v0"], FLAVOR)]
    #[case(&["install", "kettle", "--yes", "--state", "f"], STATE)]
    #[case(&["upgrade", "kettle", "--yes", "--state", "f"], STATE)]
    #[case(&["uninstall", "kettle", "--yes", "--state", "f"], STATE)]
    #[case(&["approve", "kettle", "1.0.0", "--yes", "--state", "f"], STATE)]
    #[case(&["permissions", "kettle", "--state", "f"], STATE)]
    #[case(&["search", "kettle", "--state", "f"], STATE)]
    #[case(&["show", "kettle", "--state", "f"], STATE)]
    #[case(&["graph", "kettle", "--state", "f"], STATE)]
    #[case(&["why", "kettle", "--state", "f"], STATE)]
    #[case(&["plan", "install", "kettle", "--state", "f"], STATE)]
    #[case(&["plan", "install", "kettle", "--kube-version", "1.33"], KUBE)]
    #[case(&["console", "--offline"], OFFLINE)]
    #[case(&["install", "kettle", "--yes"], CONNECTS)]
    #[case(&["list"], CONNECTS)]
    fn files_are_refused_before_a_cluster_is_asked(#[case] words: &[&str], #[case] expected: &str) {
        let words = [&["kubectl-olm", "--kubeconfig", "/dev/null/none"], words].concat();
        let cli = Cli::try_parse_from(words).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let error = runtime.block_on(run(&cli)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }

    /// No server is asked: what a namespace sees is not the same in all of them.
    #[rstest]
    #[case(&["search", "kettle", "-A"])]
    #[case(&["show", "kettle", "-A"])]
    #[case(&["graph", "kettle", "-A"])]
    #[case(&["why", "kettle", "-A"])]
    #[case(&["plan", "install", "kettle", "-A"])]
    #[case(&["install", "kettle", "--yes", "-A"])]
    fn what_looks_at_one_namespace_refuses_all(#[case] words: &[&str]) {
        let kubeconfig = kubeconfig(&serde_json::json!({"server": "http://127.0.0.1:1"}));
        let file = kubeconfig.path().display().to_string();
        let words = [&["kubectl-olm", "--kubeconfig", &file], words].concat();
        let cli = Cli::try_parse_from(words).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let error = runtime.block_on(run(&cli)).unwrap_err().to_string();
        assert_eq!(error, ONE_NAMESPACE);
    }

    /// Neither a file nor a server is asked before.
    #[rstest]
    #[case(&["search", "kettle", "--offline", "-A"], ONE_NAMESPACE)]
    #[case(&["show", "kettle", "--offline", "-A"], ONE_NAMESPACE)]
    #[case(&["graph", "kettle", "--offline", "-A"], ONE_NAMESPACE)]
    #[case(&["why", "kettle", "--offline", "-A"], ONE_NAMESPACE)]
    #[case(&["plan", "install", "kettle", "--offline", "-A"], ONE_NAMESPACE)]
    #[case(&["console", "-A"], "-A says nothing")]
    #[case(&["version", "-A"], "-A says nothing")]
    #[case(&["version", "--client", "-A"], "-A says nothing")]
    #[case(&["explain", "-A"], "-A says nothing")]
    #[case(&["completion", "bash", "-A"], "-A says nothing")]
    fn all_namespaces_are_not_ignored(#[case] words: &[&str], #[case] expected: &str) {
        let words = [&["kubectl-olm", "--kubeconfig", "/dev/null/none"], words].concat();
        let cli = Cli::try_parse_from(words).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let error = runtime.block_on(run(&cli)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }

    /// There is no such kubeconfig: whoever looks for it fails.
    #[rstest]
    #[case(&["explain", "OLM012"])]
    #[case(&["explain"])]
    #[case(&["version", "--client"])]
    #[case(&["completion", "bash"])]
    #[case(&["__complete", "--", "list", "--o"])]
    fn what_needs_no_cluster_looks_for_none(#[case] words: &[&str]) {
        let words = [&["kubectl-olm", "--kubeconfig", "/dev/null/none"], words].concat();
        let cli = Cli::try_parse_from(words).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        assert_eq!(runtime.block_on(run(&cli)).unwrap(), Outcome::Fine);
    }

    /// A port that was just given back has no listener.
    #[rstest]
    #[case(&["list"])]
    #[case(&["doctor"])]
    #[case(&["version"])]
    #[case(&["plan", "install", "kettle"])]
    fn an_api_server_that_is_away_is_named(#[case] words: &[&str]) {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let server = format!("http://{}", listener.local_addr().unwrap());
        drop(listener);
        let kubeconfig = kubeconfig(&serde_json::json!({"server": server}));
        let file = kubeconfig.path().display().to_string();
        let words = [&["kubectl-olm", "--kubeconfig", &file], words].concat();
        let cli = Cli::try_parse_from(words).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let error = format!("{:#}", runtime.block_on(run(&cli)).unwrap_err());
        assert!(
            error.contains(&format!("the API server at {server} cannot be reached")),
            "{error}"
        );
    }
}
