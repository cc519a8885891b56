//! Previews: where an installation goes, and how the result reads.

mod describe;
mod in_cluster;
mod suggested;

pub use describe::describe;
pub use in_cluster::in_cluster;
pub use suggested::{Home, Origin, installation, preview};
