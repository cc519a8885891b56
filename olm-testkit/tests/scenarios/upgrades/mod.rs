//! Upgrades: an installed operator follows its catalog, one version after the other.
//!
//! The operator is a kettle. Every scenario has a kind of its own, because a
//! CustomResourceDefinition belongs to the whole cluster.

pub mod blocked;
pub mod channels;
pub mod replaces;
pub mod skips;
mod story;

use olm_testkit::builders::{Bundle, Crd, Package};

use crate::install::operator;
use crate::scene::Scene;

pub use story::Story;

/// The kind of the kettles in a scenario.
pub fn kettles(scene: &Scene) -> Crd {
    Crd::new(&format!("{}.example.com", scene.namespace), "v1", "Kettle")
}

/// A version of the kettle; in its channel it follows nothing.
pub fn kettle(version: &str, kind: &Crd) -> Bundle {
    Bundle::new(version, &operator("kettle", version, kind)).provides(kind)
}

/// The package with one channel, `stable`.
pub fn stable(versions: &[Bundle]) -> [Package; 1] {
    [Package::new("kettle").channel("stable", versions.to_vec())]
}
