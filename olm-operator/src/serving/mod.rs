//! What the operator knows about servers that the API server calls, and the certificates that it
//! issues for them.

mod issue;
mod observe;
mod stores;
mod strip;

pub use issue::issue;
pub use observe::{cluster_owned, observe};
pub use stores::{ServingStores, ServingWatches};
