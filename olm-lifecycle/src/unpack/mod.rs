//! Bundles that live in an image are unpacked before they are installed (spec catalog-operator 5).
//!
//! ```text
//! settings  the timeouts that the OperatorGroup gives
//! objects   the ConfigMap, and the account that may fill it
//! job       the Job whose Pod does
//! attempts  which of several Jobs counts, and what to do about them
//! waiting   why its Pod gets nowhere
//! lookup    what is recorded about the bundle meanwhile
//! reference steps whose manifests stay in the ConfigMap
//! ```
//! All objects of a bundle have the same name, which is a hash of the image's reference, and are in
//! the namespace of its CatalogSource. What is in the cluster is the only memory: every resolution
//! looks at it anew.

pub mod attempts;
mod derived;
pub mod job;
pub mod lookup;
pub mod objects;
pub mod reference;
mod retry;
pub mod settings;
pub mod waiting;

#[cfg(test)]
mod tests;

pub use attempts::{AttemptState, Attempts, JobDecision};
pub(crate) use derived::derives;
pub use reference::{BundleReference, ForeignConfigMap, Unpacked, UnpackedBundle};
pub use retry::Pauses;
pub use settings::{SettingsError, UnpackLimits, UnpackSettings, settings};
