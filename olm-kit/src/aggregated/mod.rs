//! A read-only API that kube-apiserver aggregates: it proxies requests for a group and version here
//! and stays in charge of who is who.
//!
//! ```text
//! listen        TLS, with certificates that can be exchanged while it serves
//! authorities   which certificates of callers count, as the cluster says
//! identity      who asks: through the front proxy, with a certificate, with a token, nobody
//! authorize     whether they may: the API server is asked, and its answer kept for seconds
//! routes        discovery, objects, tables, subresources, OpenAPI
//! ```
//! What is served comes from a [`Resource`]; nothing here knows what it is about.

mod accept;
mod authorities;
mod authorize;
mod discovery;
mod identity;
mod listen;
mod openapi;
mod query;
mod reply;
mod resource;
mod routes;
mod selector;
mod serve;
mod status;
mod table;

pub use authorities::{Authorities, AuthoritiesError};
pub use authorize::Authorizer;
pub use identity::User;
pub use listen::{ListenError, ServingIdentity};
pub use resource::{Column, Item, Kind, Resource, Subresource};
pub use selector::{Selection, SelectorError};
pub use serve::AggregatedApi;
