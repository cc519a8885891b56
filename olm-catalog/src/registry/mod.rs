//! The registry protocol (spec catalog-operator 6.1): messages, client and server.

pub mod client;
pub mod server;

/// Messages, client and server stubs, generated from `proto/registry.proto`.
#[rustfmt::skip]
#[allow(missing_docs, unused_qualifications, clippy::all, clippy::too_many_lines)]
#[path = "generated.rs"]
pub mod proto;
