//! Command lines of what only looks.

use clap::Args;
use olm_client::reading::{Reading, Sources};

use crate::connection::duration;

/// A Subscription.
#[derive(Args, Debug)]
pub struct NameArgs {
    /// Name of the Subscription, or of its package
    pub name: String,
}

/// A Subscription, and what its health does to the exit code.
#[derive(Args, Debug)]
pub struct StatusArgs {
    /// Name of the Subscription, or of its package
    pub name: String,
    /// Exit with 2 when anything of the tree is not healthy
    #[arg(long)]
    pub detailed_exitcode: bool,
}

/// A search.
#[derive(Args, Debug)]
pub struct SearchArgs {
    /// Words in names, keywords and descriptions; all of them have to be there
    pub words: Vec<String>,
    /// Only packages that provide an API: a kind, or KIND.GROUP, such as Etcd.etcd.database.coreos.com
    #[arg(long, value_name = "API")]
    pub provides: Option<String>,
    /// Only packages of a category
    #[arg(long, value_name = "NAME")]
    pub category: Option<String>,
    /// Only packages of a capability level, such as 'Seamless Upgrades'
    #[arg(long, value_name = "LEVEL")]
    pub capability: Option<String>,
    /// Only packages of a catalog
    #[arg(long, value_name = "CATALOG")]
    pub source: Option<String>,
    /// Where things are read
    #[command(flatten)]
    pub sources: Sources,
}

/// A package.
#[derive(Args, Debug)]
pub struct ShowArgs {
    /// The package
    pub package: String,
    /// A version, or the name of a CSV; otherwise the head of the channel
    #[arg(long, value_name = "VERSION")]
    pub version: Option<String>,
    /// The channel; otherwise the default one
    #[arg(long, value_name = "NAME")]
    pub channel: Option<String>,
    /// The catalog, NAME or NAMESPACE/NAME
    #[arg(long, value_name = "CATALOG")]
    pub source: Option<String>,
    /// Where things are read
    #[command(flatten)]
    pub reading: Reading,
}

/// A graph.
#[derive(Args, Debug)]
pub struct GraphArgs {
    /// The package
    pub package: String,
    /// Only this channel
    #[arg(long, value_name = "NAME")]
    pub channel: Option<String>,
    /// The catalog, NAME or NAMESPACE/NAME
    #[arg(long, value_name = "CATALOG")]
    pub source: Option<String>,
    /// As if this version, or CSV, were installed
    #[arg(long, value_name = "VERSION")]
    pub from: Option<String>,
    /// Where things are read
    #[command(flatten)]
    pub sources: Sources,
}

/// A question about an operator.
#[derive(Args, Debug)]
pub struct WhyArgs {
    /// Name of the Subscription, or of its package
    pub operator: String,
    /// Where things are read
    #[command(flatten)]
    pub sources: Sources,
}

/// Rights.
#[derive(Args, Debug)]
#[command(mut_args(super::without_files))]
pub struct PermissionsArgs {
    /// Name of a Subscription or of its package; or a package that is not installed
    pub operator: String,
    /// Another version, or the name of its CSV, to compare with
    #[arg(long, value_name = "VERSION")]
    pub to: Option<String>,
    /// Where things are read
    #[command(flatten)]
    pub reading: Reading,
}

/// Logs.
#[derive(Args, Debug)]
pub struct LogsArgs {
    /// Name of the Subscription, or of its package
    pub name: String,
    /// Go on until interrupted
    #[arg(short, long)]
    pub follow: bool,
    /// Lines from the end of each container's log
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    pub tail: u32,
    /// Only what is not older, such as 5m
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub since: Option<std::time::Duration>,
    /// Only containers of this name
    #[arg(short, long, value_name = "NAME")]
    pub container: Option<String>,
    /// Of containers that have ended before those that run
    #[arg(short, long)]
    pub previous: bool,
}

/// The console.
#[derive(Args, Debug)]
#[command(mut_args(super::without_files))]
pub struct ConsoleArgs {
    /// Port of 127.0.0.1; otherwise one that is free
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub port: u16,
    /// Where things are read
    #[command(flatten)]
    pub reading: Reading,
}
