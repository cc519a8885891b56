//! The value of an `olm.constraint` property: a tree of demands on one other bundle.
//!
//! Catalogs are untrusted: size and nesting are bounded before anything is read. Members are
//! checked everywhere in the value, but of several demands side by side only the first in the
//! order gvk, package, all, any, not, cel counts (spec catalog-operator 3.3).

use serde_json::Value;
use thiserror::Error;

use super::fields::Fields;
use crate::document::{self, Budget, DocumentError, Meter};
use crate::gvk::Gvk;
use crate::version::{Range, RangeError};

/// Longest accepted text of an `olm.constraint` value.
pub const MAX_CONSTRAINT_BYTES: usize = 131_072;

/// Deepest accepted nesting of JSON brackets; a compound constraint takes three levels.
const MAX_DEPTH: usize = 96;

/// A demand, with what to say to the user when it cannot be met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// Message for the user; empty if the author gave none. Only shown for [`Predicate::Cel`].
    pub failure_message: String,
    /// What is demanded.
    pub predicate: Predicate,
}

/// What a bundle must be, or have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Predicate {
    /// Provides the API.
    Gvk(Gvk),
    /// Is of the package, in one of the versions.
    Package {
        /// Name of the package.
        name: String,
        /// Versions that will do.
        range: Range,
    },
    /// Meets all of these; an empty list is always met.
    All(Vec<Constraint>),
    /// Meets one of these; an empty list is never met.
    Any(Vec<Constraint>),
    /// Meets none of these.
    Not(Vec<Constraint>),
    /// Makes the CEL rule true.
    Cel {
        /// Source text of the rule.
        rule: String,
    },
}

/// Why a value is not a constraint.
#[derive(Debug, Error)]
pub enum ConstraintError {
    /// The text is too long.
    #[error(
        "parse olm.constraint: olm.constraint value is greater than max constraint size {MAX_CONSTRAINT_BYTES} bytes"
    )]
    TooLarge,
    /// The text is nested too deeply.
    #[error(
        "parse olm.constraint: olm.constraint value is nested more than {MAX_DEPTH} levels deep"
    )]
    TooDeep,
    /// The text is not JSON.
    #[error("parse olm.constraint: {0}")]
    Json(#[source] DocumentError),
    /// A member does not exist in its place.
    #[error("parse olm.constraint: json: unknown field {0:?}")]
    UnknownField(String),
    /// A member has the wrong JSON type.
    #[error("parse olm.constraint: {member} must be {expected}, not {found}")]
    Mismatch {
        /// Which member.
        member: &'static str,
        /// What it must be.
        expected: &'static str,
        /// JSON type of what is there.
        found: &'static str,
    },
    /// None of gvk, package, all, any, not and cel is there.
    #[error("convert olm.constraint to resolver predicate: constraint is empty")]
    Empty,
    /// The range of versions is malformed.
    #[error("convert olm.constraint to resolver predicate: {0}")]
    Range(#[source] RangeError),
}

impl Constraint {
    /// Reads the JSON text of a value.
    ///
    /// # Errors
    /// When the text is too long, too deep or no constraint; see [`ConstraintError`].
    pub fn parse(text: &str) -> Result<Self, ConstraintError> {
        if text.len() > MAX_CONSTRAINT_BYTES {
            return Err(ConstraintError::TooLarge);
        }
        if depth(text) > MAX_DEPTH {
            return Err(ConstraintError::TooDeep);
        }
        let read = document::json(text.as_bytes(), &mut Meter::in_all(Budget::PROPERTY));
        let value = read.map_err(ConstraintError::Json)?;
        Raw::read(&value)?.convert()
    }
}

/// A constraint whose members are checked, before the one that counts is chosen.
struct Raw {
    failure_message: String,
    gvk: Option<Gvk>,
    /// Name and range.
    package: Option<(String, String)>,
    all: Option<Vec<Raw>>,
    any: Option<Vec<Raw>>,
    not: Option<Vec<Raw>>,
    cel: Option<String>,
}

impl Raw {
    fn read(value: &Value) -> Result<Self, ConstraintError> {
        let members = ["failureMessage", "gvk", "package", "all", "any", "not", "cel"];
        let fields = Fields::new(value, "constraint", &members)?;
        Ok(Self {
            failure_message: fields.text("failureMessage")?,
            gvk: fields.get("gvk").map(read_gvk).transpose()?,
            package: fields.get("package").map(read_package).transpose()?,
            all: fields.get("all").map(read_list).transpose()?,
            any: fields.get("any").map(read_list).transpose()?,
            not: fields.get("not").map(read_list).transpose()?,
            cel: fields.get("cel").map(read_rule).transpose()?,
        })
    }

    fn convert(self) -> Result<Constraint, ConstraintError> {
        let predicate = match self {
            Self { gvk: Some(gvk), .. } => Predicate::Gvk(gvk),
            Self { package: Some((name, range)), .. } => Predicate::Package {
                name,
                range: Range::parse(&range).map_err(ConstraintError::Range)?,
            },
            Self { all: Some(list), .. } => Predicate::All(convert_list(list)?),
            Self { any: Some(list), .. } => Predicate::Any(convert_list(list)?),
            Self { not: Some(list), .. } => Predicate::Not(convert_list(list)?),
            Self { cel: Some(rule), .. } => Predicate::Cel { rule },
            _ => return Err(ConstraintError::Empty),
        };
        Ok(Constraint { failure_message: self.failure_message, predicate })
    }
}

fn read_gvk(value: &Value) -> Result<Gvk, ConstraintError> {
    let fields = Fields::new(value, "gvk", &["group", "version", "kind"])?;
    Ok(Gvk {
        group: fields.text("group")?,
        kind: fields.text("kind")?,
        version: fields.text("version")?,
    })
}

fn read_package(value: &Value) -> Result<(String, String), ConstraintError> {
    let fields = Fields::new(value, "package", &["packageName", "versionRange"])?;
    Ok((fields.text("packageName")?, fields.text("versionRange")?))
}

fn read_list(value: &Value) -> Result<Vec<Raw>, ConstraintError> {
    let fields = Fields::new(value, "compound constraint", &["constraints"])?;
    fields.list("constraints")?.iter().map(Raw::read).collect()
}

fn read_rule(value: &Value) -> Result<String, ConstraintError> {
    Fields::new(value, "cel", &["rule"])?.text("rule")
}

fn convert_list(list: Vec<Raw>) -> Result<Vec<Constraint>, ConstraintError> {
    list.into_iter().map(Raw::convert).collect()
}

/// How deep brackets outside of strings are nested.
fn depth(json: &str) -> usize {
    let (mut now, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in json.bytes() {
        match byte {
            b'"' if !escaped => in_string = !in_string,
            b'{' | b'[' if !in_string => now += 1,
            b'}' | b']' if !in_string => now = now.saturating_sub(1),
            _ => {}
        }
        escaped = byte == b'\\' && !escaped;
        deepest = deepest.max(now);
    }
    deepest
}

impl ConstraintError {
    pub(super) fn mismatch(member: &'static str, expected: &'static str, found: &Value) -> Self {
        let found = match found {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        Self::Mismatch { member, expected, found }
    }
}
