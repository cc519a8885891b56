//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::connection::Connection;

/// Everything that was asked for.
#[derive(Debug, Parser)]
#[command(name = "kubectl-olm", bin_name = "kubectl olm", version, about, max_term_width = 100)]
#[command(subcommand_required = true, arg_required_else_help = true)]
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
