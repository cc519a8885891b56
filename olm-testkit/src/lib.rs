//! Support for tests and developer commands.
//!
//! Nothing here ships: only tests and `xtask` may depend on this crate.
//!
//! - [`cluster`]: a real Kubernetes API server, started here or found through a kubeconfig;
//! - [`operators`]: the real binaries of this workspace as child processes of a test;
//! - [`registry`]: catalogs that are served, and change;
//! - [`builders`]: catalogs, bundles and API objects in a few words;
//! - [`audit`]: who wrote what, from the log of the API server;
//! - [`wait`]: waiting for a condition with a deadline and a failure that explains itself;
//! - [`history`]: everything that happened to the objects of a kind, in order;
//! - [`crds`]: applying `deploy/`;
//! - [`dump`]: objects in a normal form, for comparisons, and everything that a cluster holds.

pub mod audit;
pub mod builders;
pub mod cluster;
pub mod crds;
pub mod dump;
pub mod history;
pub mod operators;
pub mod process;
pub mod progress;
pub mod registry;
pub mod wait;
