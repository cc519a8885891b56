//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::connection::{Connection, duration};

/// Everything that was asked for.
#[derive(Debug, Parser)]
#[command(name = "kubectl-olm", bin_name = "kubectl olm", version, about, max_term_width = 100)]
pub struct Cli {
    /// Where the cluster is and as whom to ask.
    #[command(flatten)]
    pub connection: Connection,
    /// What is looked at and how it is printed.
    #[command(flatten)]
    pub view: View,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What is looked at and how it is printed.
#[derive(Args, Clone, Copy, Debug)]
pub struct View {
    /// Look at every namespace
    #[arg(short = 'A', long, global = true)]
    pub all_namespaces: bool,
    /// How the result is printed
    #[arg(short, long, global = true, value_enum, default_value_t = Format::Table)]
    pub output: Format,
}

/// A form of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Columns for a reader
    Table,
    /// More columns
    Wide,
    /// One JSON object
    Json,
    /// The same as YAML
    Yaml,
    /// KIND/NAME, one a line
    Name,
    /// JUnit's XML, of doctor only
    Junit,
}

/// A command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// What is installed: Subscriptions with version, channel, approval and health
    #[command(visible_alias = "ls")]
    List,
    /// A Subscription, its InstallPlan, CSV, Deployments and Pods, each with its health
    #[command(visible_alias = "tree")]
    Status(Status),
    /// What happened to a Subscription and to all that came of it, oldest first
    Events(Named),
    /// The custom resources of the kinds that an operator owns
    Operands(Named),
    /// Approve the InstallPlan that waits with a version of a package
    Approve(Approve),
    /// What an installation, an upgrade or a removal would do; nothing is written
    Plan(Plan),
    /// Install a package: shows the plan, asks, and follows it until the operator has succeeded
    Install(Installing),
    /// Upgrade an operator: shows the plan, asks, approves its InstallPlans and follows them
    Upgrade(Upgrading),
    /// Remove an operator: shows the plan, asks, and deletes the Subscription and its CSV
    Uninstall(Uninstalling),
    /// Before OLM v0 takes a cluster back: remove from statuses what v0 would never bring up to date
    HandBack,
    /// What is wrong, with evidence and what to do about it
    #[command(visible_alias = "check")]
    Doctor(Doctor),
    /// What a code of the doctor means; all of them without a code
    Explain {
        /// Such as OLM012
        code: Option<String>,
    },
    /// Versions of this program, of the API server and of OLM
    Version {
        /// Ask no cluster
        #[arg(long)]
        client: bool,
    },
    /// A script that completes commands and flags
    Completion {
        /// For which shell; `kubectl` is the program kubectl_complete-olm
        #[arg(value_enum)]
        shell: Shell,
    },
    /// What completes a command line, in cobra's protocol
    #[command(name = "__complete", hide = true)]
    Complete {
        /// The words of the line; the last one is completed
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
}

/// A Subscription.
#[derive(Args, Debug)]
pub struct Named {
    /// Name of the Subscription, or of its package
    pub name: String,
}

/// A Subscription, and what its health does to the exit code.
#[derive(Args, Debug)]
pub struct Status {
    /// Name of the Subscription, or of its package
    pub name: String,
    /// Exit with 2 when anything of the tree is not healthy
    #[arg(long)]
    pub detailed_exitcode: bool,
}

/// An examination.
#[derive(Args, Debug)]
pub struct Doctor {
    /// Exit with 2 when there are findings
    #[arg(long)]
    pub detailed_exitcode: bool,
}

/// An installation.
#[derive(Args, Debug)]
pub struct Installing {
    /// The package
    pub package: String,
    /// Of the Subscription
    #[command(flatten)]
    pub subscribing: Subscribing,
    /// How it is done
    #[command(flatten)]
    pub acting: Acting,
    /// Where things are read
    #[command(flatten)]
    pub reading: Reading,
}

/// An upgrade.
#[derive(Args, Debug)]
pub struct Upgrading {
    /// Name of the Subscription, or of its package
    pub operator: String,
    /// A version, or the name of a CSV; otherwise as far as one approval leads
    #[arg(long, value_name = "VERSION")]
    pub to: Option<String>,
    /// Another channel to follow
    #[arg(long, value_name = "NAME")]
    pub channel: Option<String>,
    /// How it is done
    #[command(flatten)]
    pub acting: Acting,
    /// Where things are read
    #[command(flatten)]
    pub reading: Reading,
}

/// A removal.
#[derive(Args, Debug)]
pub struct Uninstalling {
    /// Name of the Subscription, or of its package
    pub operator: String,
    /// What becomes of the custom resources of the operator
    #[arg(long, value_enum, default_value_t = Operands::Keep)]
    pub operands: Operands,
    /// How it is done
    #[command(flatten)]
    pub acting: Acting,
    /// Where things are read
    #[command(flatten)]
    pub reading: Reading,
}

/// What becomes of custom resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Operands {
    /// They stay
    Keep,
    /// Nothing is removed when there are any
    Abort,
    /// They are deleted first, in all namespaces, while the operator still runs
    Delete,
}

/// How a command writes.
#[derive(Args, Debug)]
pub struct Acting {
    /// Ask no question
    #[arg(short, long)]
    pub yes: bool,
    /// Go on only if the plan has this hash, which is printed with it
    #[arg(long, value_name = "HASH")]
    pub plan_hash: Option<String>,
    /// Write nothing, after the plan or as the API server would have it
    #[arg(long, value_enum, default_value_t = DryRun::None)]
    pub dry_run: DryRun,
    /// How long is waited for the end, such as 30s or 5m
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "5m")]
    pub timeout: std::time::Duration,
    /// Do not wait for the end
    #[arg(long)]
    pub no_wait: bool,
}

/// Whether anything is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DryRun {
    /// It is
    None,
    /// The plan is shown, and that is all
    Client,
    /// The API server is asked as if, and writes nothing
    Server,
}

/// A preview.
#[derive(Args, Debug)]
pub struct Plan {
    /// Of what
    #[command(subcommand)]
    pub planned: Planned,
}

/// What is previewed.
#[derive(Debug, Subcommand)]
pub enum Planned {
    /// What the installation of a package would do
    Install {
        /// The package
        package: String,
        /// Of the Subscription
        #[command(flatten)]
        subscribing: Subscribing,
        /// Where things are read
        #[command(flatten)]
        reading: Reading,
    },
    /// What the upgrade of an operator would do
    Upgrade {
        /// Name of the Subscription, or of its package
        operator: String,
        /// A version, or the name of a CSV; otherwise as far as one approval leads
        #[arg(long, value_name = "VERSION")]
        to: Option<String>,
        /// Another channel to follow
        #[arg(long, value_name = "NAME")]
        channel: Option<String>,
        /// Where things are read
        #[command(flatten)]
        reading: Reading,
    },
    /// What the removal of an operator would do
    Uninstall {
        /// Name of the Subscription, or of its package
        operator: String,
        /// Where things are read
        #[command(flatten)]
        reading: Reading,
    },
}

impl Planned {
    /// Where things are read.
    pub fn reading(&self) -> &Reading {
        match self {
            Self::Install { reading, .. }
            | Self::Upgrade { reading, .. }
            | Self::Uninstall { reading, .. } => reading,
        }
    }
}

/// A Subscription to come.
#[derive(Args, Debug)]
pub struct Subscribing {
    /// The channel; otherwise the default one of the package
    #[arg(long, value_name = "NAME")]
    pub channel: Option<String>,
    /// A version, or the name of a CSV, to start with
    #[arg(long, value_name = "VERSION")]
    pub version: Option<String>,
    /// The catalog, NAME or NAMESPACE/NAME; otherwise the one of highest priority with the package
    #[arg(long, value_name = "CATALOG")]
    pub source: Option<String>,
    /// Namespace of the catalog, otherwise that of global catalogs
    #[arg(long, value_name = "NAME")]
    pub source_namespace: Option<String>,
    /// Whether InstallPlans wait for a user
    #[arg(long, value_enum, default_value_t = Approving::Automatic)]
    pub approval: Approving,
    /// For the OperatorGroup, where there is none: otherwise all namespaces if the operator supports it
    #[arg(long, value_enum)]
    pub install_mode: Option<Mode>,
}

/// Whether InstallPlans wait for a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "PascalCase")]
pub enum Approving {
    /// They do not
    Automatic,
    /// They do
    Manual,
}

/// Namespaces that an OperatorGroup selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "PascalCase")]
pub enum Mode {
    /// All of them
    AllNamespaces,
    /// That of the Subscription
    OwnNamespace,
}

/// Where a preview reads.
#[derive(Args, Debug)]
pub struct Reading {
    /// Ask no cluster: --catalog and --state are all there is
    #[arg(long)]
    pub offline: bool,
    /// [NAMESPACE/]NAME=HOST:PORT or =FOLDER, or a folder with folders NAMESPACE/NAME; repeatable
    #[arg(long, value_name = "CATALOG")]
    pub catalog: Vec<String>,
    /// Objects as `kubectl get -o yaml` prints them, with --offline; repeatable
    #[arg(long, value_name = "FILE")]
    pub state: Vec<std::path::PathBuf>,
    /// A folder with bundles, for those whose image is not read
    #[arg(long, value_name = "FOLDER")]
    pub bundles: Option<std::path::PathBuf>,
    /// Namespace of OLM, where global catalogs are
    #[arg(long, value_name = "NAME", default_value = "olm")]
    pub olm_namespace: String,
    /// Exit with 2 when there are changes
    #[arg(long)]
    pub detailed_exitcode: bool,
}

/// An approval.
#[derive(Args, Debug)]
pub struct Approve {
    /// The package
    pub package: String,
    /// Its version, or the name of the CSV
    pub version: String,
    /// Ask no question
    #[arg(short, long)]
    pub yes: bool,
    /// Show what would be approved and its hash, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Approve only what has this hash, which is printed with the plan
    #[arg(long, value_name = "HASH")]
    pub plan_hash: Option<String>,
}

/// A shell for which there is a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// bash
    Bash,
    /// zsh
    Zsh,
    /// fish
    Fish,
    /// kubectl's own completion
    Kubectl,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use rstest::rstest;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[rstest]
    #[case(&["list", "-A", "-o", "json"])]
    #[case(&["-n", "ns", "tree", "kettle"])]
    #[case(&["list", "--kubeconfig", "f", "--context", "c", "--cluster", "d", "--user", "u"])]
    #[case(&["list", "-s", "https://h", "--token", "t", "--as", "a", "--as-group", "g", "--as-group", "h"])]
    #[case(&["list", "--request-timeout=5s", "--insecure-skip-tls-verify", "--certificate-authority=f"])]
    #[case(&["approve", "kettle", "1.0.0", "--yes", "--plan-hash", "0"])]
    #[case(&["__complete", "list", "--o"])]
    fn kubectls_flags_are_understood(#[case] words: &[&str]) {
        let parsed = Cli::try_parse_from(["kubectl-olm"].iter().chain(words));
        assert!(parsed.is_ok(), "{parsed:?}");
    }
}
