//! Previews: where an installation goes, and how the result reads.

mod describe;
mod live;
mod suggested;

pub use describe::describe;
pub use live::in_cluster;
pub use suggested::{Home, installation};
