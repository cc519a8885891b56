//! Catalogs: what they hold, how they are served and how a resolver sees them.
//!
//! * [`fbc`] reads and validates file-based catalogs,
//! * [`index`] answers the questions of the registry protocol from a valid catalog,
//! * [`registry`] is that protocol: generated messages, a client and a server,
//! * [`snapshot`] keeps what a resolver needs of a served catalog and implements
//!   [`olm_types::bundle::Universe`],
//! * [`connection`] is the port through which a controller uses a catalog,
//! * [`packages`] makes PackageManifests, which people see with kubectl, of snapshots,
//! * [`bundle`] turns a bundle, from a folder or an image, into a blob of a file-based catalog, and
//!   into a ConfigMap,
//! * `image`, behind features `image` and `pull`, reads images from a disk and from registries,
//! * `store`, behind feature `store`, keeps catalogs of images on a disk.
//!
//! ```text
//! folder --fbc--> catalog --index--> file --registry::server--> gRPC
//!                        gRPC --registry::client--> snapshot --> resolver
//!                                                      '-------> packages
//! folder --snapshot::SnapshotSet::of_folder--> resolver, without a server
//! ```
//!
//! Behind features are programs: `server` is `olm-registry`, `tools` adds what talks to a cluster
//! (and brings Kubernetes' client), `copy` is `olm-copy`.
//!
//! Everything that is read comes from strangers: sizes, counts and depths are bounded, and errors
//! name the blob. Readers are the best place to begin: `fbc::load` says everything that is wrong
//! with a catalog, `index::Index::build` makes what is served.

#![forbid(unsafe_code)]

pub mod bundle;
pub mod connection;
#[cfg(feature = "copy")]
pub mod copy;
pub mod fbc;
#[cfg(feature = "image")]
pub mod image;
pub mod index;
pub mod packages;
pub mod registry;
#[cfg(feature = "server")]
pub mod server;
pub mod snapshot;
#[cfg(feature = "store")]
pub mod store;
#[cfg(feature = "tools")]
pub mod tools;
