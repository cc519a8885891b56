//! Catalogs that the operator serves itself (`--catalogs=process`): which they are, what of their image
//! is pulled and when, where they are served, and when a Pod serves them all the same.
//!
//! ```text
//! scope      which CatalogSources are served by the operator, as far as flags and annotations say
//! failure    why it is not pulled, as far as later failures do not hide that
//! pulling    what a replica does next about the content of one: resolve, obtain, wait
//! port       at which port it is served
//! serving    which replicas serve it, as far as they say so: clients are sent to no other
//! slice      the EndpointSlice, in which the leader records digest and port for all replicas
//! mode       whether the operator serves it, a Pod does, or nothing yet
//! conditions what the status says about all that
//! ```

pub(super) mod conditions;
mod failure;
mod mode;
mod port;
mod pulling;
mod scope;
mod serving;
pub(super) mod slice;

use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::api::discovery::v1::EndpointSlice;

pub use failure::PullFailure;
use mode::had_success;
pub(super) use mode::{Mode, mode, selects};
pub use mode::{connects_in_process, is_released};
pub use port::{PortRange, PortRangeError, choose as choose_port, taken as taken_ports};
pub use pulling::{NextStep, Pulling, Resolved, Target, next_step, poll_period};
pub use scope::{Namespaces, Scope};
pub use serving::{ReplicaState, content_name, is_listed, listed};
pub use slice::{Record, Replica, is_ours, record, slice_name};

/// What the condition `Ready` says while there is no content yet, and nothing is wrong.
pub const PULLS: &str = "the operator pulls the image";

/// What is known about a catalog that the operator serves, or did.
#[derive(Clone, Debug, Default)]
pub struct Hosting {
    /// Whether flags, namespace and annotation ask for it.
    pub asked: bool,
    /// What this replica serves.
    pub content: Option<HostedContent>,
    /// What went wrong since.
    pub failure: Option<PullFailure>,
    /// The port at which it is served; none when there is no free one.
    pub port: Option<u16>,
    /// The Pods of the operator.
    pub replicas: Vec<Replica>,
    /// Its EndpointSlice.
    pub slice: Option<Arc<EndpointSlice>>,
    /// EndpointSlices of its Service that others made.
    pub foreign: Vec<Arc<EndpointSlice>>,
}

/// The content of a catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostedContent {
    /// The image that the spec named.
    pub image: String,
    /// The digest that it had.
    pub digest: String,
    /// The folder that the spec named, if it did.
    pub folder: Option<String>,
    /// When it was pulled.
    pub pulled_at: Timestamp,
}
