//! How a cluster and its catalogs are read, and changed as was shown, with the rights of a user: what `kubectl olm`
//! and the console share.
//!
//! ```text
//! connect    clients of the API server, and how often a busy one is asked again
//! cluster    lists in pages, each answer with a deadline
//! observe    what is in a namespace or in all, and what may not be read noted as unread
//! discovery  how the API server serves a kind
//! catalogs   in folders, at addresses, in their Pods, and as far as the packages API presents them
//! contents   the manifests of bundles
//! listing    packages of catalogs, with what a namespace has of them
//! package    one package: its bundles in detail, and its upgrade graph
//! operator   one operator: what it waits for, what happened, why there is no newer one
//! examined   what the doctor looks at
//! installed  what is installed in all namespaces
//! plan       what a preview asks for
//! acts       what is written
//! notices    where is said what is waited for and what could not be read
//! clean      text of others without what acts on a terminal or turns the direction of writing
//! ```
//! Nothing here decides: rules are those of olm-plan and the crates below it. Errors are those of programs, with
//! a chain of causes for a reader.

pub mod acts;
pub mod catalogs;
pub mod clean;
pub mod cluster;
pub mod connect;
pub mod contents;
mod discovery;
pub mod examined;
mod installed;
pub mod listing;
pub mod notices;
mod observe;
pub mod operator;
pub mod package;
pub mod plan;
pub mod reading;
#[cfg(test)]
mod stub;

pub use cluster::{Cluster, Remembered, TimedOut, cause};
pub use notices::Notices;
