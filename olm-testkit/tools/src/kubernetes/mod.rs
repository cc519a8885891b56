//! Kubernetes: the control plane, what plays or is a node, and kubectl.

mod choice;
pub(crate) mod module;
mod node;
mod part;
mod probe;
mod tools;

pub use module::{COREDNS_VERSION, KUBERNETES};
pub use node::NodePrograms;
pub use part::Part;
pub use tools::{Tools, kubectl};
