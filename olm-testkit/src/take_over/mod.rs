//! Clusters that OLM v0 manages, and what becomes of them when another implementation takes over.
//!
//! - [`Files`]: what v0 and we apply, as files for kubectl;
//! - [`set_up_v0`]: v0 at work in a cluster, and [`start_v0`], its programs alone, the [`PackageServer`]
//!   among them;
//! - [`install`]: what users of such a cluster have installed;
//! - [`Ours`]: our operators, where those of v0 were;
//! - [`Pods`]: what runs, and what was restarted;
//! - [`ImageCatalog`]: a catalog that is served by a Pod of OLM, and [`ServiceProxy`], by which v0
//!   reaches it;
//! - [`State`]: what is there, and [`Changes`] of it with their reasons;
//! - [`recording`]: what v0 leaves in a cluster, written down and put into another cluster.

mod accepted;
mod content;
mod files;
mod image_catalog;
mod ours;
mod package_server;
mod pods;
pub mod recording;
mod running_v0;
mod service_proxy;
mod state;
mod writes;

pub use accepted::{Accepted, Changes};
pub use content::{Content, install, serve};
pub use files::{Files, PACKAGE_SERVER, PACKAGES};
pub use image_catalog::{ImageCatalog, install_from_image};
pub use ours::{Ours, TakeOverCluster};
pub use package_server::PackageServer;
pub use pods::Pods;
pub use running_v0::{BesideV0, set_up_v0, start_v0};
pub use service_proxy::ServiceProxy;
pub use state::State;
pub use writes::needless;
