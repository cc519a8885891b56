//! What is printed as JSON and YAML is what docs/schemas says.

mod tests;

pub use tests::assert_described;
