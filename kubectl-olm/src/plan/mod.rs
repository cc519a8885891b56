//! Previews: where an installation goes, and how the result reads.

mod describe;
mod suggested;

pub use describe::describe;
pub use suggested::{Home, installation};
