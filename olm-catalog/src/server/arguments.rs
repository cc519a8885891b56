//! Arguments, spelled as `opm` spells them: images of catalogs call it by these.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use crate::bundle::{ImageTemplate, Migration};

/// Validates, shows and serves file-based catalogs.
#[derive(Debug, Parser)]
#[command(name = "olm-registry", version, max_term_width = 100)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// How registries are spoken to.
    #[command(flatten)]
    pub registries: Registries,
}

/// How registries are spoken to when an image is pulled.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Registries {
    /// The older name of --skip-tls-verify
    #[arg(long, global = true, hide = true, num_args = 0..=1, default_missing_value = "true")]
    #[arg(require_equals = true, default_value_t = false)]
    pub skip_tls: bool,
    /// Pull images from registries whatever their certificates: what comes may come from any server
    #[arg(long, global = true, hide = cfg!(not(feature = "pull")), num_args = 0..=1)]
    #[arg(default_missing_value = "true", require_equals = true, default_value_t = false)]
    pub skip_tls_verify: bool,
    /// Speak HTTP with registries, not HTTPS
    #[arg(long, global = true, hide = cfg!(not(feature = "pull")), num_args = 0..=1)]
    #[arg(default_missing_value = "true", require_equals = true, default_value_t = false)]
    pub use_http: bool,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve a catalog over gRPC until SIGTERM or SIGINT
    Serve(Serve),
    /// Say everything that is wrong with a catalog
    Validate(Validate),
    /// Print the blobs of catalogs as one stream, in a fixed order
    Render(Render),
    /// Print packages, channels or bundles as a table
    List(List),
    /// Print the upgrade graph of channels
    Graph(Graph),
    /// Commands that Jobs use
    #[cfg(feature = "tools")]
    Alpha(crate::tools::Alpha),
    /// Print the version
    Version,
}

/// Arguments of `serve`.
#[derive(Debug, clap::Args)]
pub struct Serve {
    /// Folder with the file-based catalog
    pub directory: PathBuf,
    /// Port to listen on; 0 takes a free one, which is printed
    #[arg(short, long, default_value_t = 50051)]
    pub port: u16,
    /// Address to listen on; by default every address of this machine
    #[arg(long)]
    pub address: Option<IpAddr>,
    /// Log more
    #[arg(long, num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    #[arg(default_value_t = false)]
    pub debug: bool,
    /// Folder in which the index is kept; without it, the index is made anew at each start
    #[arg(long, default_value = "", hide_default_value = true)]
    pub cache_dir: String,
    /// Bring the index in --cache-dir up to date and end
    #[arg(long, num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    #[arg(default_value_t = false)]
    pub cache_only: bool,
    /// End with an error when the index is missing or wrong, instead of making it anew [default:
    /// true with --cache-dir and without --cache-only]
    #[arg(long, num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    pub cache_enforce_integrity: Option<bool>,
    /// File that receives the error with which the server ends
    #[arg(short, long, default_value = super::serve::TERMINATION_LOG)]
    pub termination_log: PathBuf,
    /// Accepted as by opm; this server has no profiles to serve
    #[arg(long, default_value = "localhost:6060", hide_default_value = true)]
    pub pprof_addr: String,
    /// Accepted as by opm; this server has no profiles to serve
    #[arg(long, num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    #[arg(default_value_t = false)]
    pub pprof_capture_profiles: bool,
}

/// Arguments of `validate`.
#[derive(Debug, clap::Args)]
pub struct Validate {
    /// Folder with the file-based catalog
    pub directory: PathBuf,
    /// Print the verdict in this form, too
    #[arg(short, long)]
    pub output: Option<BlobForm>,
}

/// Arguments of `render`.
#[derive(Debug, clap::Args)]
pub struct Render {
    /// Folders with file-based catalogs, single files of them, folders with bundles, images of
    /// catalogs or bundles on a disk (OCI image layouts as folders or tar files, what `docker save` writes), or
    /// references to them
    #[arg(required = true)]
    pub references: Vec<PathBuf>,
    /// Form of the output
    #[arg(short, long, default_value = "json")]
    pub output: BlobForm,
    /// Perform every migration
    #[arg(long, num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    #[arg(default_value_t = false, conflicts_with = "migrate_level")]
    pub migrate: bool,
    /// Perform the migrations up to this one
    #[arg(long)]
    pub migrate_level: Option<MigrateLevel>,
    /// Image references of bundles that are rendered from folders, for example
    /// quay.io/org/{{.Package}}:v{{.Version}}; {{.Name}} is that of the ClusterServiceVersion
    #[arg(long)]
    pub alpha_image_ref_template: Option<ImageTemplate>,
}

/// How far blobs are migrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MigrateLevel {
    /// Not at all
    None,
    /// Manifests of bundles with an image give way to olm.csv.metadata
    BundleObjectToCsvMetadata,
    /// Everything there is
    All,
}

impl Render {
    /// What the flags mean.
    pub(super) fn migration(&self) -> Migration {
        match self.migrate_level {
            _ if self.migrate => Migration::BundleObjectToCsvMetadata,
            None | Some(MigrateLevel::None) => Migration::None,
            Some(MigrateLevel::BundleObjectToCsvMetadata | MigrateLevel::All) => {
                Migration::BundleObjectToCsvMetadata
            }
        }
    }
}

/// How blobs are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BlobForm {
    /// Objects, one after the other
    Json,
    /// Documents between lines of dashes
    Yaml,
}

/// Arguments of `list`.
#[derive(Debug, clap::Args)]
pub struct List {
    /// What to list
    pub what: Listed,
    /// Folder with the file-based catalog
    pub directory: PathBuf,
    /// Only this package
    pub package: Option<String>,
}

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Listed {
    /// Packages and their default channels
    Packages,
    /// Channels and their heads
    Channels,
    /// Bundles in channels, with what they replace and skip
    Bundles,
}

/// Arguments of `graph`.
#[derive(Debug, clap::Args)]
pub struct Graph {
    /// Folder with the file-based catalog
    pub directory: PathBuf,
    /// Only this package
    pub package: Option<String>,
    /// Only this channel
    #[arg(long)]
    pub channel: Option<String>,
    /// Form of the output
    #[arg(short, long, default_value = "mermaid")]
    pub output: GraphForm,
}

/// How a graph is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphForm {
    /// For pages that render Mermaid
    Mermaid,
    /// For Graphviz
    Dot,
}
