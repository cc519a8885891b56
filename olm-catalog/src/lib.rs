//! Catalogs: what they hold, how they are served and how a resolver sees them.
//!
//! * [`fbc`] reads and validates file-based catalogs,
//! * [`index`] answers the questions of the registry protocol from a valid catalog,
//! * [`registry`] is that protocol: generated messages, a client and a server,
//! * [`snapshot`] keeps what a resolver needs of a served catalog and implements
//!   [`olm_types::bundle::Universe`],
//! * [`connection`] is the port through which a controller uses a catalog,
//! * `image`, behind features `image` and `pull`, reads layers and pulls images,
//! * [`bundle`] turns a bundle folder into a blob of a file-based catalog, and into a ConfigMap.
//!
//! Behind features are the programs of the image: `server`, `copy` and `tools`. Only the last knows
//! Kubernetes' client. Feature `load` is a program that measures servers. Everything that is read comes from strangers: sizes, counts and depths are
//! bounded, and errors name the blob.

#![forbid(unsafe_code)]

pub mod bundle;
pub mod connection;
#[cfg(feature = "copy")]
pub mod copy;
pub mod fbc;
#[cfg(feature = "image")]
pub mod image;
pub mod index;
#[cfg(feature = "load")]
pub mod load;
pub mod packages;
pub mod registry;
#[cfg(feature = "server")]
pub mod server;
pub mod snapshot;
#[cfg(feature = "tools")]
pub mod tools;
