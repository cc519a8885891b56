//! `opm alpha bundle extract`: from a bundle folder to a ConfigMap, the last step of an unpack Job
//! (spec catalog-operator 5, 6.3).

mod folder;

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Subcommand;

use super::cluster::ClusterConfigMap;
use crate::bundle::config_map::{DATA_BYTES, Encoding, Options, write};
use crate::server::log;

pub use folder::{FolderError, read_folder};

/// In the environment: the image that the bundle comes from.
const IMAGE: &str = "CONTAINER_IMAGE";

/// Arguments of `alpha bundle extract`.
#[derive(Debug, clap::Args)]
pub struct Extract {
    /// Folder with the folders manifests and metadata of a bundle
    #[arg(short, long = "manifestsdir", default_value = "/")]
    pub manifests_dir: PathBuf,
    /// Namespace of the ConfigMap
    #[arg(short, long, default_value = "openshift-operator-lifecycle-manager")]
    pub namespace: String,
    /// Name of the ConfigMap, which must exist
    #[arg(short, long = "configmapname")]
    pub config_map_name: String,
    /// Most bytes of all files as they are stored
    #[arg(short = 'l', long = "datalimit", default_value_t = DATA_BYTES)]
    pub data_limit: u64,
    /// Store the files compressed
    #[arg(short = 'z', long, num_args = 0..=1, default_missing_value = "true")]
    #[arg(require_equals = true, default_value_t = false)]
    pub gzip: bool,
    /// Kubeconfig of the cluster; without it, the cluster around this process
    #[arg(short, long)]
    pub kubeconfig: Option<PathBuf>,
    /// Log more
    #[arg(long, num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    #[arg(default_value_t = false)]
    pub debug: bool,
}

impl Extract {
    /// Reads the folder and writes the ConfigMap.
    ///
    /// # Errors
    /// The folder holds no bundle, it is too large, or the ConfigMap cannot be read or written.
    pub async fn run(self) -> Result<()> {
        log(self.debug);
        self.store().await.context("error loading manifests from directory")
    }

    async fn store(&self) -> Result<()> {
        let bundle = read_folder(&self.manifests_dir)?;
        let options = Options {
            encoding: if self.gzip { Encoding::Gzip } else { Encoding::Plain },
            limit: self.data_limit,
            image: std::env::var(IMAGE).unwrap_or_default(),
        };
        let kubeconfig = self.kubeconfig.as_deref();
        let place =
            ClusterConfigMap::open(kubeconfig, &self.namespace, &self.config_map_name).await?;
        place.change(|config_map| Ok(write(config_map, &bundle, &options)?)).await?;
        println!(
            "{} files of {} are in the ConfigMap {}/{}",
            bundle.files.len(),
            self.manifests_dir.display(),
            self.namespace,
            self.config_map_name
        );
        Ok(())
    }
}

/// Arguments of `alpha`.
#[derive(Debug, clap::Args)]
pub struct Alpha {
    #[command(subcommand)]
    command: AlphaCommand,
}

#[derive(Debug, Subcommand)]
enum AlphaCommand {
    /// Work with bundles
    #[command(subcommand)]
    Bundle(BundleCommand),
}

#[derive(Debug, Subcommand)]
enum BundleCommand {
    /// Put the files of a bundle folder into a ConfigMap
    Extract(Extract),
}

impl Alpha {
    /// Runs the command.
    ///
    /// # Errors
    /// Those of the command.
    pub async fn run(self) -> Result<()> {
        let AlphaCommand::Bundle(BundleCommand::Extract(extract)) = self.command;
        extract.run().await
    }
}
