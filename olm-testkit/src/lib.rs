//! Support for tests and developer commands.
//!
//! Nothing here ships: only tests and `xtask` may depend on this crate.
//!
//! - [`cluster`]: a real Kubernetes API server, started here or found through a kubeconfig;
//! - [`fixture`]: a cluster with OLM's definitions, the operators and a catalog beside it;
//! - [`operators`]: the real binaries of this workspace as child processes of a test;
//! - [`plan_check`]: what `kubectl olm plan` has shown beside what was done;
//! - [`peer`]: programs of OLM v0 that ours are compared with;
//! - [`registry`]: catalogs that are served, and change;
//! - [`refusal`]: CSVs that the API server refuses, and plans that fail for that;
//! - [`catalog_reader`]: a client that reads a catalog meanwhile;
//! - [`kubectl`]: the real kubectl;
//! - [`browser`]: a real browser, for pages;
//! - [`packages`]: the packages API of an operator beside the cluster;
//! - [`stand_in`]: servers of test operators where no container runs;
//! - [`take_over`]: clusters that OLM v0 manages, and whoever takes over;
//! - [`builders`]: catalogs, bundles and API objects in a few words;
//! - [`audit`]: who wrote what, from the log of the API server;
//! - [`static_build`], [`oci`]: static executables, and images made of them;
//! - [`workload`]: what the pods of test operators run;
//! - [`wait`]: waiting for a condition with a deadline and a failure that explains itself;
//! - [`history`]: everything that happened to the objects of a kind, in order;
//! - [`deploy`]: what `deploy/` puts into a cluster;
//! - [`rights`]: what the operators may do there, and why;
//! - [`collector`]: takes the spans that a program sends;
//! - [`faults`]: what can go wrong between a program and the API server, on purpose;
//! - [`e2e`]: scenarios that know a cluster only through its API;
//! - [`dump`]: objects in a normal form, for comparisons, and everything that a cluster holds.

pub mod audit;
pub mod browser;
pub mod builders;
pub mod catalog_reader;
pub mod cluster;
pub mod collector;
pub mod deploy;
pub mod dump;
pub mod e2e;
pub mod faults;
pub mod fixture;
pub mod history;
pub mod kubectl;
pub mod kubelet;
mod mounted_certificate;
pub mod not_run;
pub mod oci;
pub mod operators;
pub mod packages;
pub mod peer;
pub mod plan_check;
pub mod process;
pub mod progress;
pub mod refusal;
pub mod registry;
pub mod rights;
pub mod stand_in;
pub mod take_over;
pub mod wait;
pub mod workload;

pub use olm_tools::{built_programs, static_build};
