//! The calls that an effect can stand for.

use serde_json::Value;

/// One call to an API server. Objects are whole manifests with `apiVersion` and `kind`.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Create the object. When it exists already the outcome is `AlreadyExists`, not a failure.
    Create(Value),
    /// Put the whole object; `metadata.resourceVersion`, where present, guards the write.
    /// `observed` is what the decision saw: an equal object is not written.
    Replace {
        /// The object as it shall be.
        object: Value,
        /// The object as the decision saw it, if it did.
        observed: Option<Value>,
    },
    /// JSON merge patch (RFC 7386). A patch that would not change `observed` is not sent.
    /// A `metadata.resourceVersion` inside the patch guards the write.
    MergePatch {
        /// The patch document.
        patch: Value,
        /// The object as the decision saw it, if it did.
        observed: Option<Value>,
        /// What the patch is about: the object or its status.
        subresource: Subresource,
    },
    /// Strategic merge patch of a built-in kind, with the same rule for `observed`.
    StrategicPatch {
        /// The patch document.
        patch: Value,
        /// The object as the decision saw it, if it did.
        observed: Option<Value>,
    },
    /// Server-side apply under a field manager.
    Apply {
        /// The fields to own.
        object: Value,
        /// Name of the field manager.
        manager: String,
        /// Whether to take over fields that another manager owns.
        force: bool,
    },
    /// Delete the object. An absent object counts as done.
    Delete {
        /// Only when the live object has this uid.
        uid: Option<String>,
        /// What happens to dependents.
        propagation: Propagation,
        /// Grace period in seconds; `None` leaves the kind's default.
        grace_seconds: Option<u32>,
    },
    /// Put the status subresource; `object` carries the `resourceVersion` it was computed from.
    Status {
        /// The whole object with its new status.
        object: Value,
        /// The object as the decision saw it; an equal status is not written.
        observed: Option<Value>,
    },
    /// Record a Kubernetes event about the target.
    Event(EventNote),
}

/// Which part of an object a patch writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subresource {
    /// The object without its status.
    Main,
    /// The `status` subresource.
    Status,
}

/// What a deletion does to dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    /// The garbage collector deletes dependents afterwards.
    Background,
    /// Dependents go first.
    Foreground,
    /// Dependents stay.
    Orphan,
}

/// Severity of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventType {
    /// Something happened as intended.
    Normal,
    /// Something a user should look at.
    Warning,
}

/// An event about an object; source and times are added by the interpreter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventNote {
    /// Severity.
    pub event_type: EventType,
    /// Machine-readable reason, CamelCase.
    pub reason: String,
    /// Text for people.
    pub message: String,
    /// `uid` of the object the event is about.
    pub uid: Option<String>,
    /// `involvedObject.fieldPath`, where the event is about a part of the object.
    pub field_path: Option<String>,
}
