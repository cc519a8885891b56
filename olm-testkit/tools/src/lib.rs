//! The programs of others that tests and developer commands need: Kubernetes and kwok, the programs
//! of a node, kubectl, helm, and programs of OLM v0 that ours are compared with.
//!
//! Parts of a control plane that the machine has in a right version are used ([`Tools`]). All others
//! are built from Go modules, once per machine: sources are embedded, the result lies in the user's
//! cache directory under a name made from everything that determines it, so that a fresh checkout
//! never builds again. A build is locked and takes its place by one rename: no process sees half of
//! one.
//!
//! [`static_build`] makes the programs that ship, of this workspace.
//!
//! This crate depends on next to nothing, so that a command can start such a build while the rest of
//! the workspace still compiles. Nothing here is global: everything may be called from any thread.

mod axe;
mod cache;
mod compile;
mod go;
mod helm;
mod kubernetes;
mod module;
mod patch;
mod peers;
mod progress;
mod run;
pub mod static_build;
pub mod times;
mod workspace;

pub use axe::AxeCore;
pub use cache::{cache_dir, lock};
pub use go::go;
pub use helm::Helm;
pub use kubernetes::{COREDNS_VERSION, KUBERNETES, NodePrograms, Part, Tools, kubectl};
pub use peers::{AcceptanceSuite, ConfigMapServer, KStatus, OlmV0, Opm};
pub use progress::{ALONE_BEGIN, Progress};
pub use run::tail;
pub use workspace::{built_programs, workspace};
