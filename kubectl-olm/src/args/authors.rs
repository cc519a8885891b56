//! Command lines for authors of operators.

use clap::{Args, Subcommand};
use olm_client::contents::Pulling;
use olm_plan::preview::Mode;

use super::plan::Modes;
use super::write::WriteArgs;

/// What is run.
#[derive(Args, Debug)]
pub struct RunArgs {
    /// Of what
    #[command(subcommand)]
    pub run: Run,
}

/// What is run.
#[derive(Debug, Subcommand)]
pub enum Run {
    /// An operator from a bundle image, or from the folder of a bundle
    Bundle {
        /// The image, or the folder
        bundle: String,
        /// The image that serves the catalog of the bundle; otherwise that of OLM's own catalogs
        #[arg(long, value_name = "IMAGE")]
        index_image: Option<String>,
        /// For the OperatorGroup, where there is none; SingleNamespace=NAME, MultiNamespace=NAME,NAME; otherwise all
        /// namespaces if the operator supports it
        #[arg(long, value_name = "MODE", value_parser = Modes)]
        install_mode: Option<Mode>,
        /// Secret with credentials for the image; it has to be in the namespace
        #[arg(long, value_name = "NAME")]
        pull_secret_name: Option<String>,
        /// How it is done
        #[command(flatten)]
        acting: WriteArgs,
        /// How the bundle is read
        #[command(flatten)]
        pulling: Pulling,
    },
}

/// What is cleaned up.
#[derive(Args, Debug)]
pub struct CleanupArgs {
    /// The package
    pub package: String,
    /// Whether CRDs go with all their custom resources, and the OperatorGroup where nothing else needs it
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = true,
        default_missing_value = "true", action = clap::ArgAction::Set)]
    pub delete_all: bool,
    /// How it is done
    #[command(flatten)]
    pub acting: WriteArgs,
}
