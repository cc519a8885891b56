//! What the operator knows about servers that the API server calls.

mod observe;
mod stores;
mod strip;

pub use observe::{cluster_owned, observe};
pub use stores::ServingStores;

#[cfg(test)]
mod tests;
