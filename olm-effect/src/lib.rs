//! What may be done to a cluster, as data.
//!
//! A decision of a pure crate is a list of [`Effect`]s. Each is one call that an interpreter can
//! make; the interpreter answers with one [`Outcome`] per effect. Nothing here knows a rule of the
//! Operator Lifecycle Manager, a client, a clock or a thread.
//!
//! A [`CertificateOrder`] is the one thing that is made rather than written: it takes randomness.
//!
//! Invariant: an effect carries everything that its execution needs. An interpreter never looks up
//! what an effect "probably meant".
//!
//! ```
//! use olm_effect::{Effect, Identity, Resource, Target};
//! use serde_json::json;
//!
//! let accounts = Resource::new("", "v1", "ServiceAccount", "serviceaccounts");
//! let target = Target::namespaced(accounts, "team", "etcd-operator");
//! let effect = Effect::create(target, json!({
//!     "apiVersion": "v1",
//!     "kind": "ServiceAccount",
//!     "metadata": {"namespace": "team", "name": "etcd-operator"},
//! }));
//! assert_eq!(effect.identity, Identity::Own);
//! assert_eq!(effect.target.to_string(), "ServiceAccount team/etcd-operator");
//! ```

mod action;
mod certificate;
mod effect;
mod event;
mod outcome;
mod target;

pub use action::{Action, Propagation, Subresource};
pub use certificate::{CertificateOrder, Issued, IssuedServer};
pub use effect::{Effect, Identity};
pub use event::{EventNote, EventType};
pub use outcome::{Outcome, Refusal};
pub use target::{Resource, Target};
