//! Words for on and off.

use thiserror::Error;

/// A word that means neither.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is neither true nor false")]
pub struct BooleanError(String);

/// What a word means: the words of Go's `strconv.ParseBool`, and no others.
///
/// # Errors
/// It is none of them.
pub(crate) fn parse_bool(text: &str) -> Result<bool, BooleanError> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(false),
        _ => Err(BooleanError(text.to_owned())),
    }
}
