//! What an install costs, each on a cluster of its own: how often objects and statuses are written.

mod objects;
mod statuses;

pub use objects::each_object_once;
pub use statuses::for_all_namespaces;
