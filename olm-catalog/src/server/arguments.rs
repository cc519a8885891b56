//! Arguments, spelled as `opm` spells them.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Validates and serves file-based catalogs.
#[derive(Debug, Parser)]
#[command(name = "olm-registry", version)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve a catalog over gRPC until SIGTERM or SIGINT.
    Serve(Serve),
}

/// Arguments of `serve`.
#[derive(Debug, clap::Args)]
pub struct Serve {
    /// Folder with the file-based catalog.
    pub directory: PathBuf,
    /// Port to listen on; 0 takes a free one, which is printed.
    #[arg(short, long, default_value_t = 50051)]
    pub port: u16,
    /// Address to listen on.
    #[arg(long, default_value = "0.0.0.0")]
    pub address: IpAddr,
    /// Log more.
    #[arg(long)]
    pub debug: bool,
}
