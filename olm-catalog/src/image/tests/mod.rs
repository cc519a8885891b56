//! Layers that mean no good, and registries that lie.

mod layers;
#[cfg(feature = "pull")]
mod places;
mod registries;
#[cfg(feature = "pull")]
mod stub;
