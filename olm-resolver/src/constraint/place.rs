//! Where in a bundle something malformed stands.

use std::fmt;

use olm_types::properties::{ConstraintError as ValueError, RequirementError};
use olm_types::version::{Range, RangeError};

use super::ConstraintError;
use super::cel::CelError;

/// A place among the properties of a bundle. Prints as `property 2, byte 31 of its value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PropertyLocation {
    /// Which property of the bundle, from 1.
    pub property: usize,
    /// Where in the JSON text of its value, in bytes from 0, if it is more than the whole. What is
    /// no JSON at all has line and column in its message.
    pub offset: Option<usize>,
}

impl PropertyLocation {
    /// The place of an error in the property with this index and value.
    pub fn of(error: &ConstraintError, index: usize, value: &str) -> Self {
        let offset = match error {
            ConstraintError::Malformed(error) => match &**error {
                RequirementError::Range(range)
                | RequirementError::Constraint(ValueError::Range(range)) => of_range(range, value),
                RequirementError::Constraint(ValueError::UnknownField(name)) => of_key(name, value),
                RequirementError::Constraint(ValueError::Mismatch { member, .. }) => {
                    of_key(member, value)
                }
                _ => None,
            },
            ConstraintError::Cel(error) => of_rule(error, value),
            ConstraintError::TooMuch { .. } | ConstraintError::Other(_) => None,
        };
        Self { property: index.saturating_add(1), offset }
    }
}

impl fmt::Display for PropertyLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "property {}", self.property)?;
        self.offset.map_or(Ok(()), |offset| write!(f, ", byte {offset} of its value"))
    }
}

/// The malformed part of the first range that has this error.
fn of_range(error: &RangeError, value: &str) -> Option<usize> {
    let (start, text) = texts_of("versionRange", value)
        .find(|(_, text)| Range::parse(text).as_ref().err() == Some(error))?;
    let part = match error {
        RangeError::Version { part, version, .. } => text.find(part).or_else(|| text.find(version)),
        RangeError::Comparator { part, operator } => {
            text.find(part).or_else(|| text.find(operator))
        }
        RangeError::NoVersion(part) => text.find(part),
        RangeError::TrailingOr => text.rfind("||"),
        RangeError::LeadingOr | RangeError::EmptyAlternative(_) => text.find("||"),
    };
    // With escapes in it the range is not spelled in the value as it reads.
    let is_plain = value.get(start..).is_some_and(|rest| rest.starts_with(&text));
    Some(start + part.filter(|_| is_plain).unwrap_or_default())
}

/// Where the rule stands, and in it what is wrong.
fn of_rule(error: &CelError, value: &str) -> Option<usize> {
    let (start, text) = texts_of("rule", value).find(|(_, text)| text == error.rule())?;
    let is_plain = value.get(start..).is_some_and(|rest| rest.starts_with(&text));
    Some(start + error.offset().filter(|_| is_plain).unwrap_or_default())
}

/// A key that is there once.
fn of_key(name: &str, value: &str) -> Option<usize> {
    let quoted = format!("\"{name}\"");
    let mut found = value.match_indices(&quoted).map(|(at, _)| at);
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// The texts of all members of this name, each with the byte at which it starts.
fn texts_of<'a>(key: &str, value: &'a str) -> impl Iterator<Item = (usize, String)> + use<'a> {
    let quoted = format!("\"{key}\"");
    let length = quoted.len();
    let ends: Vec<usize> = value.match_indices(&quoted).map(|(at, _)| at + length).collect();
    ends.into_iter().filter_map(|end| {
        let after = value.get(end..)?.trim_start().strip_prefix(':')?.trim_start();
        let mut texts = serde_json::Deserializer::from_str(after).into_iter::<String>();
        let text = texts.next()?.ok()?;
        Some((value.len() - after.len() + 1, text))
    })
}
