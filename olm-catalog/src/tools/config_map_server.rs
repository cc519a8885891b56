//! `configmap-server`: serves the catalog in a ConfigMap, for CatalogSources of the types
//! `configmap` and `internal` (spec catalog-operator 1.7).
//!
//! The ConfigMap is read once; when it changes, catalog-operator makes another Pod.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::Parser;
use k8s_openapi::api::core::v1::ConfigMap;

use super::cluster::ClusterConfigMap;
use super::legacy::{self, LegacyCatalog, Loaded};
use crate::server::{TERMINATION_LOG, log, serve_source, write_termination_log};

/// Name of the program in an image.
const NAME: &str = "configmap-server";

/// Serves the catalog in a ConfigMap over gRPC until SIGTERM or SIGINT.
#[derive(Debug, Parser)]
#[command(name = NAME, version, max_term_width = 100)]
pub struct ConfigMapServer {
    /// Name of the ConfigMap
    #[arg(short = 'c', long = "configMapName")]
    pub config_map_name: String,
    /// Namespace of the ConfigMap
    #[arg(short = 'n', long = "configMapNamespace")]
    pub config_map_namespace: String,
    /// Port to listen on; 0 takes a free one, which is printed
    #[arg(short, long, default_value_t = 50051)]
    pub port: u16,
    /// Address to listen on; by default every address of this machine
    #[arg(long)]
    pub address: Option<IpAddr>,
    /// Kubeconfig of the cluster; without it, the cluster around this process
    #[arg(short, long)]
    pub kubeconfig: Option<PathBuf>,
    /// File that receives the error with which the server ends
    #[arg(short, long, default_value = TERMINATION_LOG)]
    pub termination_log: PathBuf,
    /// Serve what is right when something is wrong
    #[arg(long, num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    #[arg(default_value_t = false)]
    pub permissive: bool,
    /// Accepted as by v0; there is no database
    #[arg(short, long, default_value = "bundles.db", hide = true)]
    pub database: PathBuf,
    /// Log more
    #[arg(long, num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    #[arg(default_value_t = false, hide = true)]
    pub debug: bool,
}

impl ConfigMapServer {
    /// Whether this process was started by the name of the program.
    pub fn is_called() -> bool {
        let called = std::env::args_os().next().unwrap_or_default();
        Path::new(&called).file_name().is_some_and(|name| name == NAME)
    }

    /// Reads the ConfigMap and serves its catalog until a signal comes. An error also goes to the
    /// termination log.
    ///
    /// # Errors
    /// The ConfigMap cannot be read, holds no valid catalog, or the address cannot be listened on.
    pub async fn run(self) -> Result<()> {
        log(self.debug);
        let ended = self.serve().await;
        if let Err(error) = &ended {
            write_termination_log(&self.termination_log, &format!("{error:#}\n"));
        }
        ended
    }

    async fn serve(&self) -> Result<()> {
        let (namespace, name) = (&self.config_map_namespace, &self.config_map_name);
        let place = ClusterConfigMap::open(self.kubeconfig.as_deref(), namespace, name).await?;
        let catalog = catalog(place.read().await?, self.permissive)?;
        let title = format!("the ConfigMap {namespace}/{name}");
        serve_source(Arc::new(catalog), &title, self.address, self.port).await
    }
}

/// The catalog of a ConfigMap.
fn catalog(config_map: ConfigMap, permissive: bool) -> Result<LegacyCatalog> {
    let Loaded { catalog, problems } = legacy::load(&config_map.data.unwrap_or_default());
    for name in catalog.unused() {
        tracing::warn!("no channel leads to the ClusterServiceVersion {name:?}: it is not served");
    }
    if !problems.is_empty() {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let text = format!("error loading manifests from configmap:\n{}", lines.join("\n"));
        if !permissive {
            bail!("{text}");
        }
        tracing::warn!("permissive mode enabled: {text}");
    }
    Ok(catalog)
}
