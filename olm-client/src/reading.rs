//! Where catalogs, objects and manifests are read.

use std::path::PathBuf;

use clap::Args;

use crate::contents::Pulling;

/// Where catalogs and objects are read.
#[derive(Args, Clone, Debug, Default)]
pub struct Sources {
    /// Ask no cluster: --catalog and --state are all there is
    #[arg(long)]
    pub offline: bool,
    /// [NAMESPACE/]NAME=HOST:PORT or =FOLDER, or a folder with folders NAMESPACE/NAME; repeatable
    #[arg(long, value_name = "CATALOG")]
    pub catalog: Vec<String>,
    /// Objects as `kubectl get -o yaml` prints them, with --offline; repeatable
    #[arg(long, value_name = "FILE")]
    pub state: Vec<PathBuf>,
    /// Namespace of global catalogs; otherwise as the programs of OLM say, or olm
    #[arg(long, value_name = "NAME")]
    pub olm_namespace: Option<String>,
}

/// Where manifests are read, too.
#[derive(Args, Clone, Debug, Default)]
pub struct Reading {
    /// Catalogs and objects
    #[command(flatten)]
    pub sources: Sources,
    /// A folder with bundles, for those whose image is not read
    #[arg(long, value_name = "FOLDER")]
    pub bundles: Option<PathBuf>,
    /// Do not ask the API server what it would make of each object
    #[arg(long)]
    pub no_server_check: bool,
    /// Bundle images
    #[command(flatten)]
    pub pulling: Pulling,
}
