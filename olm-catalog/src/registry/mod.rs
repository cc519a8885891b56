//! The registry protocol (spec catalog-operator 6.1): messages, client and server.

pub mod client;
pub(crate) mod decoded;
pub mod server;

/// The protocol as an encoded set of file descriptors, made with [`proto`].
pub(crate) const DESCRIPTORS: &[u8] = include_bytes!("descriptors.bin");

/// Messages, client and server stubs, generated from `proto/registry.proto`.
#[rustfmt::skip]
#[allow(missing_docs, unused_qualifications, clippy::all, clippy::too_many_lines)]
#[path = "generated.rs"]
pub mod proto;
