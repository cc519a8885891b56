//! Serves a [`Source`], such as an [`Index`](crate::index::Index), over the registry protocol.
//!
//! Content never changes while a server runs, as with `opm`. Errors have the code Unknown, which
//! clients of v0 expect.

mod body;
mod calls;
mod chunk;
mod experimental;
mod health;
mod serve;
mod source;
mod streams;

pub use serve::{ServeError, ServerOptions, serve};
pub use source::Source;
