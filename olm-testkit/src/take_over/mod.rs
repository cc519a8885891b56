//! Clusters that OLM v0 manages, and what becomes of them when somebody else takes over.
//!
//! - [`Files`]: what v0 and we apply, as files for kubectl;
//! - [`install`]: what users of such a cluster have installed;
//! - [`Ours`]: our operators, where those of v0 were;
//! - [`Pods`]: what runs, and what was restarted;
//! - [`State`]: what must stay as it is;
//! - [`recording`]: what v0 leaves in a cluster, written down and put into another cluster.

mod content;
mod files;
mod ours;
mod pods;
pub mod recording;
mod state;
mod writes;

pub use content::{Content, install, serve};
pub use files::{Files, PACKAGE_SERVER, PACKAGES};
pub use ours::{Ground, Ours, package_server};
pub use pods::Pods;
pub use state::State;
pub use writes::needless;
