//! Command lines of previews, and what describes a Subscription to come.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Args, Command, Subcommand, ValueEnum};
use olm_client::reading::Reading;
use olm_plan::preview::Mode;
use olm_types::api::InstallModeType;

/// A preview.
#[derive(Args, Debug)]
pub struct PlanArgs {
    /// Of what
    #[command(subcommand)]
    pub planned: Planned,
    /// Exit with 2 when there are changes
    #[arg(long, global = true)]
    pub detailed_exitcode: bool,
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
        subscribing: SubscribeArgs,
        /// Where things are read
        #[command(flatten)]
        reading: Reading,
    },
    /// What `kubectl apply -f` of a Subscription would do, be it new or changed
    Apply {
        /// Manifests, among them one Subscription; - reads standard input
        #[arg(short, long, value_name = "FILE")]
        filename: PathBuf,
        /// The manager that applies them server-side, such as argocd-controller; otherwise they are applied as before
        #[arg(long, value_name = "NAME")]
        field_manager: Option<String>,
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
            | Self::Apply { reading, .. }
            | Self::Upgrade { reading, .. }
            | Self::Uninstall { reading, .. } => reading,
        }
    }
}

/// A Subscription to come.
#[derive(Args, Debug)]
pub struct SubscribeArgs {
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
    /// For the OperatorGroup, where there is none; SingleNamespace=NAME, MultiNamespace=NAME,NAME; otherwise all
    /// namespaces if the operator supports it
    #[arg(long, value_name = "MODE", value_parser = Modes)]
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

/// Reads install modes, and knows how they begin.
#[derive(Clone, Copy, Debug)]
pub struct Modes;

impl TypedValueParser for Modes {
    type Value = Mode;

    fn parse_ref(
        &self,
        command: &Command,
        flag: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Mode, clap::Error> {
        let parser = StringValueParser::new().try_map(|text: String| text.parse::<Mode>());
        parser.parse_ref(command, flag, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(
            InstallModeType::ALL.into_iter().map(|mode| PossibleValue::new(mode.as_str())),
        ))
    }
}
