//! The command line.

mod authors;
mod plan;
mod read;
mod write;

use clap::{Args, Parser, Subcommand, ValueEnum};
use olm_client::reading::Sources;

use crate::commands::Doctor;
use crate::connection::Connection;

pub use authors::{CleanupArgs, Run, RunArgs};
pub use plan::{Approving, PlanArgs, Planned, SubscribeArgs};
pub use read::{
    ConsoleArgs, GraphArgs, LogsArgs, NameArgs, PermissionsArgs, SearchArgs, ShowArgs, StatusArgs,
    WhyArgs,
};
pub use write::{
    ApproveArgs, DryRun, InstallArgs, Operands, UninstallArgs, UpgradeArgs, WriteArgs,
};

/// Everything that was asked for.
#[derive(Debug, Parser)]
#[command(name = "kubectl-olm", bin_name = "kubectl olm", version, about, max_term_width = 100)]
#[command(color = clap::ColorChoice::Never)]
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
    /// Lanes of channels, of graph only
    Text,
    /// A flowchart for Mermaid, of graph only
    Mermaid,
}

impl Format {
    /// As it is written on a command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Wide => "wide",
            Self::Json => "json",
            Self::Yaml => "yaml",
            Self::Name => "name",
            Self::Junit => "junit",
            Self::Text => "text",
            Self::Mermaid => "mermaid",
        }
    }
}

/// A command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// What is installed: Subscriptions with version, channel, approval and health
    #[command(visible_alias = "ls")]
    List,
    /// Packages of the catalogs by words, provided APIs and categories
    Search(SearchArgs),
    /// A package: versions, install modes, permissions, dependencies and images
    Show(ShowArgs),
    /// The upgrade graph of a package: what is installed, what can be reached, what leads nowhere
    Graph(GraphArgs),
    /// A Subscription, its InstallPlan, CSV, Deployments and Pods, each with its health
    #[command(visible_alias = "tree")]
    Status(StatusArgs),
    /// What happened to a Subscription and to all that came of it, oldest first
    Events(NameArgs),
    /// Who needs an operator, and why there is no newer one
    Why(WhyArgs),
    /// What the Pods of an operator have logged
    Logs(LogsArgs),
    /// The custom resources of the kinds that an operator owns
    Operands(NameArgs),
    /// What the accounts of an operator may do, and what another version may do more or less
    Permissions(PermissionsArgs),
    /// Approve the InstallPlan that waits with a version of a package
    Approve(ApproveArgs),
    /// What an installation, an upgrade or a removal would do; nothing is written
    Plan(PlanArgs),
    /// Install a package: shows the plan, asks, and follows it until the operator has succeeded
    Install(InstallArgs),
    /// Upgrade an operator: shows the plan, asks, approves its InstallPlans and follows them
    Upgrade(UpgradeArgs),
    /// Remove an operator: shows the plan, asks, and deletes the Subscription and its CSV
    Uninstall(UninstallArgs),
    /// Before OLM v0 takes a cluster back: remove from statuses what v0 would never bring up to date
    HandBack,
    /// For authors: an operator from a bundle that is in no catalog yet
    Run(RunArgs),
    /// For authors: removes what `run bundle` has made
    Cleanup(CleanupArgs),
    /// What is wrong, with evidence and what to do about it
    #[command(visible_alias = "check")]
    Doctor(Doctor),
    /// Catalogs, what is installed, plans and health in a browser on this machine
    Console(ConsoleArgs),
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
        /// Put the script where its reader looks for it, and print where that is
        #[arg(long)]
        install: bool,
    },
    /// What completes a command line, in cobra's protocol
    #[command(name = "__complete", hide = true)]
    Complete {
        /// The words of the line; the last one is completed
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
}

impl Command {
    /// Where the command reads catalogs and objects, if it has flags for that.
    pub fn sources(&self) -> Option<&Sources> {
        match self {
            Self::Search(asked) => Some(&asked.sources),
            Self::Show(asked) => Some(&asked.reading.sources),
            Self::Graph(asked) => Some(&asked.sources),
            Self::Why(asked) => Some(&asked.sources),
            Self::Permissions(asked) => Some(&asked.reading.sources),
            Self::Plan(asked) => Some(&asked.planned.reading().sources),
            Self::Install(asked) => Some(&asked.reading.sources),
            Self::Upgrade(asked) => Some(&asked.reading.sources),
            Self::Uninstall(asked) => Some(&asked.reading.sources),
            Self::Approve(asked) => Some(&asked.reading.sources),
            Self::Console(asked) => Some(&asked.reading.sources),
            _ => None,
        }
    }
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
    /// PowerShell
    #[value(alias = "pwsh")]
    Powershell,
    /// kubectl's own completion
    Kubectl,
}

/// Hides what is read with `--offline` alone.
fn without_files(flag: clap::Arg) -> clap::Arg {
    match flag.get_id().as_str() {
        "offline" | "state" | "flavor" | "kube_version" => flag.hide(true),
        _ => flag,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use rstest::rstest;

    use super::*;

    /// A flag without a value is one for the client, and does not take the next word.
    #[rstest]
    #[case(&[], DryRun::None, true)]
    #[case(&["--dry-run"], DryRun::Client, true)]
    #[case(&["--dry-run", "--yes"], DryRun::Client, true)]
    #[case(&["--dry-run=client"], DryRun::Client, true)]
    #[case(&["--dry-run=server", "--wait=false"], DryRun::Server, false)]
    #[case(&["--dry-run=none", "--wait"], DryRun::None, true)]
    fn what_is_written_may_be_tried(
        #[case] flags: &[&str],
        #[case] expected: DryRun,
        #[case] wait: bool,
    ) {
        let words = [&["kubectl-olm", "approve"], flags, &["kettle", "1.0.0"]].concat();
        let Command::Approve(asked) = Cli::try_parse_from(words).unwrap().command else {
            panic!("another command");
        };
        assert_eq!((asked.dry_run, asked.following.wait), (expected, wait));
        assert_eq!(asked.package, "kettle");
        let words = [&["kubectl-olm", "install"], flags, &["kettle"]].concat();
        let Command::Install(asked) = Cli::try_parse_from(words).unwrap().command else {
            panic!("another command");
        };
        assert_eq!((asked.acting.dry_run, asked.acting.following.wait), (expected, wait));
        assert_eq!(asked.package, "kettle");
    }

    /// They are refused with a reason, so they are known.
    #[rstest]
    #[case("console", false)]
    #[case("install", false)]
    #[case("upgrade", false)]
    #[case("uninstall", false)]
    #[case("approve", false)]
    #[case("permissions", false)]
    #[case("search", true)]
    #[case("show", true)]
    #[case("why", true)]
    fn only_commands_that_read_files_list_their_flags(#[case] name: &str, #[case] expected: bool) {
        let root = Cli::command();
        let command = root.find_subcommand(name).unwrap();
        for flag in ["offline", "state", "flavor", "kube-version"] {
            let found = command.get_arguments().find(|one| one.get_long() == Some(flag)).unwrap();
            assert_eq!(!found.is_hide_set(), expected, "{name} --{flag}");
        }
    }

    #[test]
    fn an_install_mode_says_what_is_wrong_with_it() {
        let words = ["kubectl-olm", "install", "kettle", "--install-mode", "MultiNamespace=a"];
        let error = Cli::try_parse_from(words).unwrap_err().to_string();
        assert!(error.contains("MultiNamespace needs two namespaces"), "{error}");
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
        for format in Format::value_variants() {
            let known = format.to_possible_value().unwrap();
            assert_eq!(known.get_name(), format.as_str());
        }
    }

    /// Whatever the terminal can do.
    #[test]
    fn help_and_errors_have_no_colours() {
        assert_eq!(Cli::command().get_color(), clap::ColorChoice::Never);
    }

    #[rstest]
    #[case(&["list", "-A", "-o", "json"])]
    #[case(&["-n", "ns", "tree", "kettle"])]
    #[case(&["list", "--kubeconfig", "f", "--context", "c", "--cluster", "d", "--user", "u"])]
    #[case(&["list", "-s", "https://h", "--token", "t", "--as", "a", "--as-group", "g", "--as-group", "h"])]
    #[case(&["list", "--request-timeout=5s", "--insecure-skip-tls-verify", "--certificate-authority=f"])]
    #[case(&["approve", "kettle", "1.0.0", "--yes", "--plan-hash", "0"])]
    #[case(&["list", "--as", "a", "--as-uid", "1", "--client-certificate=f", "--client-key=g"])]
    #[case(&["list", "--as", "a", "--as-user-extra=scopes=view", "--request-timeout=1m30s"])]
    #[case(&["list", "--username=u", "--password=p", "--tls-server-name=n", "--disable-compression"])]
    #[case(&["install", "kettle", "--wait=false", "--cache-dir", ""])]
    #[case(&["install", "kettle", "--watch", "--yes"])]
    #[case(&["approve", "kettle", "1.0.0", "--watch", "--timeout=10m"])]
    #[case(&["graph", "kettle", "-o", "mermaid", "--from", "1.0.0"])]
    #[case(&["search", "etcd", "database", "--provides", "Etcd"])]
    #[case(&["console", "--port", "8089", "--no-pull", "--context", "c"])]
    #[case(&["plan", "install", "kettle", "--install-mode", "MultiNamespace=a,b"])]
    #[case(&["plan", "upgrade", "kettle", "--offline", "--flavor", "v0"])]
    #[case(&["why", "kettle", "--offline", "--flavour=olm-rs"])]
    #[case(&["plan", "install", "kettle", "--offline", "--kube-version", "1.33"])]
    #[case(&["run", "bundle", "i", "--install-mode=SingleNamespace=a"])]
    #[case(&["completion", "powershell"])]
    #[case(&["completion", "pwsh", "--install"])]
    #[case(&["__complete", "list", "--o"])]
    fn kubectls_flags_are_understood(#[case] words: &[&str]) {
        let parsed = Cli::try_parse_from(["kubectl-olm"].iter().chain(words));
        assert!(parsed.is_ok(), "{parsed:?}");
    }
}
