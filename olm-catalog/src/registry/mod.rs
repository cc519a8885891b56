//! The registry protocol (spec catalog-operator 6.1): messages, client and server.

pub mod client;
pub(crate) mod decoded;
pub mod server;

/// With it begins the name of a service whose health says whether a server serves certain content; the rest is the
/// name of that content.
pub(crate) const CONTENT_SERVICE: &str = "content.olm-rs.dev/";

/// The protocol as an encoded set of file descriptors, made with [`proto`].
pub(crate) const DESCRIPTORS: &[u8] = include_bytes!("descriptors.bin");

/// Messages, client and server stubs, generated from `proto/registry.proto`.
#[rustfmt::skip]
#[allow(missing_docs, unused_qualifications, clippy::all, clippy::too_many_lines)]
#[path = "generated.rs"]
pub mod proto;
