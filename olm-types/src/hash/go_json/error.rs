//! Why an object has no Go JSON text: where, what was expected, what is there.

use serde_json::Value;
use thiserror::Error;

use super::shape::Shape;
use crate::hash::QuantityError;

/// Why an object has no text. Go would refuse to decode it into its type.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// The table holds no such type.
    #[error("unknown Go type {0:?}")]
    UnknownType(String),
    /// The embedded table of types is broken. A test makes sure that it is not.
    #[error("table of Go types is unusable: {0}")]
    Table(String),
    /// A value has the wrong JSON type or is out of range.
    #[error("{path}: expected {expected}, found {found}")]
    Mismatch {
        /// Where, for example `.template.spec.containers[0].name`.
        path: String,
        /// What the Go type holds.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// A quantity cannot be read.
    #[error("{path}: {source}")]
    Quantity {
        /// Where.
        path: String,
        /// What is wrong with it.
        source: QuantityError,
    },
}

impl EncodeError {
    pub(super) fn mismatch(shape: &Shape, value: Option<&Value>) -> Self {
        let found = value.map_or_else(|| "nothing".to_owned(), |value| excerpt(&value.to_string()));
        Self::Mismatch { path: String::new(), expected: shape.title(), found }
    }

    /// The same error, seen from one level further out.
    pub(super) fn inside(mut self, step: &str) -> Self {
        if let Self::Mismatch { path, .. } | Self::Quantity { path, .. } = &mut self {
            path.insert_str(0, step);
        }
        self
    }
}

/// At most 60 characters of a text.
fn excerpt(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
