//! Command lines of what writes.

use clap::{Args, ValueEnum};
use olm_client::reading::Reading;

use super::plan::SubscribeArgs;
use crate::connection::duration;

pub use olm_client::acts::Operands;

/// An installation.
#[derive(Args, Debug)]
#[command(mut_args(super::without_files))]
pub struct InstallArgs {
    /// The package
    pub package: String,
    /// Of the Subscription
    #[command(flatten)]
    pub subscribing: SubscribeArgs,
    /// How it is done
    #[command(flatten)]
    pub acting: WriteArgs,
    /// Where things are read
    #[command(flatten)]
    pub reading: Reading,
}

/// An upgrade.
#[derive(Args, Debug)]
#[command(mut_args(super::without_files))]
pub struct UpgradeArgs {
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
    pub acting: WriteArgs,
    /// Where things are read
    #[command(flatten)]
    pub reading: Reading,
}

/// A removal.
#[derive(Args, Debug)]
#[command(mut_args(super::without_files))]
pub struct UninstallArgs {
    /// Name of the Subscription, or of its package
    pub operator: String,
    /// What becomes of the custom resources of the operator
    #[arg(long, value_enum, default_value_t = Operands::Keep)]
    pub operands: Operands,
    /// How it is done
    #[command(flatten)]
    pub acting: WriteArgs,
    /// Where things are read
    #[command(flatten)]
    pub reading: Reading,
}

/// How a command writes.
#[derive(Args, Debug)]
pub struct WriteArgs {
    /// Ask no question
    #[arg(short, long)]
    pub yes: bool,
    /// Go on only if the plan has this hash, which is printed with it
    #[arg(long, value_name = "HASH")]
    pub plan_hash: Option<String>,
    /// Write nothing, after the plan (client, without a value) or as the API server would have it
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_value_t = DryRun::None,
        default_missing_value = "client")]
    pub dry_run: DryRun,
    /// Whether the end is waited for
    #[command(flatten)]
    pub following: FollowArgs,
}

/// Whether and how long what was written is followed.
#[derive(Args, Debug)]
pub struct FollowArgs {
    /// How long is waited, such as 30s or 1m30s
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "5m")]
    pub timeout: std::time::Duration,
    /// Whether the end is waited for
    #[arg(long, visible_alias = "watch", value_name = "BOOL", num_args = 0..=1, require_equals = true,
        default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    pub wait: bool,
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

/// An approval.
#[derive(Args, Debug)]
#[command(mut_args(super::without_files))]
pub struct ApproveArgs {
    /// The package
    pub package: String,
    /// Its version, or the name of the CSV
    pub version: String,
    /// Ask no question
    #[arg(short, long)]
    pub yes: bool,
    /// Write nothing, after what would be approved and its hash (client, without a value) or as the API
    /// server would have it
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_value_t = DryRun::None,
        default_missing_value = "client")]
    pub dry_run: DryRun,
    /// Approve only what has this hash, which is printed with the plan
    #[arg(long, value_name = "HASH")]
    pub plan_hash: Option<String>,
    /// Whether the end is waited for
    #[command(flatten)]
    pub following: FollowArgs,
    /// Where things are read
    #[command(flatten)]
    pub reading: Reading,
}
