//! Kubernetes events as data.

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
