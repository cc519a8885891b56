//! Layers that mean no good, and registries that lie.

#[cfg(feature = "pull")]
mod asking;
mod layers;
#[cfg(feature = "pull")]
pub(crate) mod made;
#[cfg(feature = "pull")]
mod places;
mod registries;
#[cfg(feature = "pull")]
pub(crate) mod stub;
