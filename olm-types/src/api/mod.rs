//! The API objects, complete: every field of spec and status of each kind, one file or folder per
//! kind, all re-exported here.
//!
//! Rules that hold for every type:
//! - A field that the schema requires is plain; an optional scalar or object is an `Option`; an
//!   optional list or map is a plain `Vec` or `BTreeMap` that is left out when it is empty.
//! - Reading is as tolerant as the Go decoder of v0: a missing required field reads as its empty
//!   value, an explicit `null` list or map as an empty one. Unknown fields are dropped, as the
//!   API server prunes them.
//! - Reading and writing again changes nothing else. (Explicit empty lists, empty maps and nulls
//!   are left out; required fields that were missing appear with their empty value.)
//!
//! The schemas of the CustomResourceDefinitions are generated from these types by [`crds`].

mod any_json;
pub mod catalog_source;
mod crd;
pub mod csv;
pub mod install_plan;
mod kind;
pub mod olm_config;
pub mod operator;
pub mod operator_condition;
pub mod operator_group;
pub mod package_manifest;
pub mod proxy;
pub mod subscription;
mod text_enum;

pub use any_json::AnyJson;
pub use catalog_source::*;
pub use crd::{crds, package_manifest_schema};
pub use csv::*;
pub use install_plan::*;
pub use olm_config::*;
pub use operator::*;
pub use operator_condition::*;
pub use operator_group::*;
pub use package_manifest::*;
pub use proxy::*;
pub use subscription::*;

/// Group of the OLM kinds that are stored in the cluster.
pub const GROUP: &str = "operators.coreos.com";
