//! Gets bundles out of their images (spec catalog-operator 5).
//!
//! Two ways behind one trait: a Job per bundle, as in v0, whose Pod runs inside the bundle image; or
//! this process, which pulls the image itself. Either way the bundle ends in a ConfigMap beside its
//! CatalogSource, from which InstallPlans take their manifests, so that the two can be exchanged.

mod bundles;
mod cluster;
mod config_map;
mod job;
mod process;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use clap::ValueEnum;
use olm_kit::controller::ReconcileError;
use olm_lifecycle::subscription::resolution::Awaited;
use olm_lifecycle::unpack::{AttemptState, UnpackLimits, UnpackedBundle};
use olm_types::api::{BundleLookup, CatalogSource};

pub use bundles::Bundles;
pub use cluster::Cluster;
pub use config_map::{Reader, stored};
pub use job::JobUnpacker;
pub use process::{Account, NamespacedName, ProcessUnpacker, PullSecrets, Pulls};

/// A way to get bundles out of images. Called again and again for a bundle until it is there.
#[async_trait]
pub trait BundleUnpacker: Send + Sync {
    /// Whether the image of a catalog's bundle is being unpacked, as far as is known without a request.
    fn attempt(&self, cluster: &Cluster, catalog: &CatalogSource, image: &str) -> AttemptState;

    /// Brings the bundle of the order one step nearer, and says where it stands.
    async fn unpack(&self, cluster: &Cluster, order: Order) -> Result<Progress, UnpackError>;
}

/// One bundle that is wanted.
#[derive(Debug)]
pub struct Order {
    /// The record of it, which names its image.
    pub lookup: BundleLookup,
    /// The catalog that names it.
    pub catalog: Arc<CatalogSource>,
    /// How long attempts may take, and how they follow each other.
    pub limits: UnpackLimits,
    /// Whether another attempt may begin; one that has begun goes on.
    pub may_start: bool,
}

/// Where a bundle stands.
#[derive(Debug)]
pub enum Progress {
    /// It is there.
    Unpacked(BundleLookup, UnpackedBundle),
    /// It is not; what is recorded about it says why.
    Awaited {
        /// The record.
        awaited: Awaited,
        /// When to look again, even if nothing that is watched changes.
        look_again: Option<Duration>,
    },
    /// Its attempt waits until those of other bundles have ended.
    Held,
}

impl Progress {
    /// Not there, for this reason if it is known.
    fn awaited(lookup: BundleLookup, cause: Option<String>, look_again: Duration) -> Self {
        Self::Awaited { awaited: Awaited { lookup, cause }, look_again: Some(look_again) }
    }
}

/// How long a bundle is left alone when nothing is heard of it. What is watched is heard of at once.
const QUIET: Duration = Duration::from_secs(30);

/// A step could not be made.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// The API server refuses, or cannot be asked; nothing is reported to users, it is tried again.
    #[error(transparent)]
    Cluster(#[from] ReconcileError),
    /// What is in the ConfigMap is no bundle.
    #[error("{0}")]
    Content(String),
}

/// Which of the ways (`--bundle-unpack`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Unpacker {
    /// A Job per bundle.
    #[default]
    Job,
    /// This process.
    Process,
}
