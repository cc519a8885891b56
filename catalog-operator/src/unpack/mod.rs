//! Gets bundles out of their images (spec catalog-operator 5).
//!
//! Two ways behind one trait: a Job per bundle, as in v0, whose Pod runs inside the bundle image; or
//! this process, which pulls the image itself. Either way the bundle ends in a ConfigMap beside its
//! CatalogSource, from which InstallPlans take their manifests, so that the two can be exchanged.

mod config_map;
mod digest;
mod job;
mod process;

use std::str::FromStr;
use std::time::Duration;

use async_trait::async_trait;
use olm_kit::controller::ReconcileError;
use olm_lifecycle::subscription::resolution::Awaited;
use olm_lifecycle::unpack::{Terms, UnpackedBundle};
use olm_types::api::BundleLookup;

pub use config_map::stored;
pub use digest::RegistryDigests;
pub use job::JobUnpacker;
pub use process::{ProcessUnpacker, Pulls};

/// Gets bundles out of images. Called again and again for a bundle until it is there.
#[async_trait]
pub trait BundleUnpacker: Send + Sync {
    /// Brings the bundle of `lookup` one step nearer, and says where it stands.
    async fn unpack(&self, lookup: BundleLookup, terms: &Terms) -> Result<Progress, UnpackError>;
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
}

/// A step could not be made.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// The API server refuses, or cannot be asked; nothing is told to users, it is tried again.
    #[error(transparent)]
    Cluster(#[from] ReconcileError),
    /// What is in the ConfigMap is no bundle.
    #[error("{0}")]
    Content(String),
}

/// Which of the ways (`--bundle-unpack`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unpacker {
    /// A Job per bundle.
    #[default]
    Job,
    /// This process.
    Process,
}

/// A word that names no way to unpack bundles.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} does not unpack bundles; `job` and `process` do")]
pub struct UnknownUnpacker(String);

impl FromStr for Unpacker {
    type Err = UnknownUnpacker;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "job" => Ok(Self::Job),
            "process" => Ok(Self::Process),
            other => Err(UnknownUnpacker(other.to_owned())),
        }
    }
}
