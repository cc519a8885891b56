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
mod merge;
mod outcome;
mod target;

use serde_json::Value;

pub use action::{Action, EventNote, EventType, Propagation, Subresource};
pub use certificate::{CertificateOrder, Issued, IssuedServer};
pub use merge::apply_merge_patch;
pub use outcome::{Outcome, Refusal};
pub use target::{Resource, Target};

/// Who makes the call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Identity {
    /// The operator's own credentials.
    #[default]
    Own,
    /// A ServiceAccount, through a token requested for it.
    ServiceAccount {
        /// Namespace of the account.
        namespace: String,
        /// Name of the account.
        name: String,
    },
}

/// One call: an [`Action`] on a [`Target`] under an [`Identity`].
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// The object acted on.
    pub target: Target,
    /// What is done.
    pub action: Action,
    /// Who does it.
    pub identity: Identity,
}

impl Effect {
    /// An effect under the operator's own identity.
    pub fn new(target: Target, action: Action) -> Self {
        Self { target, action, identity: Identity::Own }
    }

    /// The same effect under another identity.
    #[must_use]
    pub fn acting_as(mut self, identity: Identity) -> Self {
        self.identity = identity;
        self
    }

    /// Create `object`.
    pub fn create(target: Target, object: Value) -> Self {
        Self::new(target, Action::Create(object))
    }

    /// Merge `patch` into the object that was seen as `observed`.
    pub fn merge(target: Target, patch: Value, observed: Option<Value>) -> Self {
        let subresource = Subresource::Main;
        Self::new(target, Action::MergePatch { patch, observed, subresource })
    }

    /// Put the status of `object`, which was seen as `observed`.
    pub fn status(target: Target, object: Value, observed: Option<Value>) -> Self {
        Self::new(target, Action::Status { object, observed })
    }

    /// Delete in the background, whatever the uid.
    pub fn delete(target: Target) -> Self {
        let propagation = Propagation::Background;
        Self::new(target, Action::Delete { uid: None, propagation, grace_seconds: None })
    }

    /// Record an event about the target.
    pub fn event(target: Target, note: EventNote) -> Self {
        Self::new(target, Action::Event(note))
    }
}
