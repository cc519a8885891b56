//! A read-only API that kube-apiserver aggregates: it proxies requests for a group and version here
//! and stays in charge of who is who.
//!
//! ```text
//! serve         the server: TLS of [`crate::tls`], callers as [`crate::callers`] knows them
//! routes        what is asked for, who asks, and whether they may
//! responder     discovery, objects, tables, subresources, OpenAPI
//! list          lists, item by item
//! ```
//! What is served comes from a [`Resource`]; nothing here knows what it is about.

mod accept;
mod discovery;
mod list;
mod openapi;
mod query;
mod reply;
mod resource;
mod responder;
mod routes;
mod selector;
mod serve;
mod status;
mod table;
#[cfg(test)]
mod tests;

pub use resource::{Column, Item, Kind, Resource, Subresource};
pub use selector::{Selection, SelectorError};
pub use serve::AggregatedApi;
