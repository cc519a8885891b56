//! Tests of the library through its public items, and of its programs.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "only tests use it")]

mod bundle_metadata;
#[cfg(feature = "server")]
mod command_line;
mod connection;
#[cfg(feature = "copy")]
mod copy_programs;
mod corpus;
mod demo_catalog;
#[cfg(feature = "server")]
mod hostile;
mod hostile_registry;
mod index_file;
mod limits;
mod mutation;
mod peer;
mod proxy;
mod registry;
mod registry_order;
#[cfg(feature = "server")]
mod rendered_images;
mod snapshot;
mod support;
#[cfg(feature = "tools")]
mod tool_programs;
