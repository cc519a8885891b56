//! Version ranges: alternatives of conjunctions of comparisons.
//!
//! ```text
//! range       = conjunction { " || " conjunction }
//! conjunction = part { " " part }
//! part        = [ "=" | "==" | "!" | "!=" | ">" | ">=" | "<" | "<=" ] version
//! ```
//! Spaces may follow `<`, `>` and `=`. There is no `^`, `~`, `,`, leading `v` or partial version;
//! `1.x` and `1.2.x` are wildcards. Kept surprises: a part of one character disappears (so
//! `! 2.0.0` is exactly 2.0.0, and `1.0.0 - 2.0.0` is both, hence never), `!=1.x` never holds, and
//! any `x` in a part, even in a pre-release, makes it a wildcard. Unlike the Go library, which
//! panics on it later, an empty conjunction between two `||` is refused.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use thiserror::Error;

use super::{Version, VersionError, wildcard};

/// A set of versions. Prints as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Range {
    text: Arc<str>,
    alternatives: Vec<Vec<Comparator>>,
}

/// One comparison: `operator version`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Comparator {
    /// How the version under test is compared.
    pub operator: Operator,
    /// With what.
    pub version: Version,
}

/// Comparison by precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `=`, `==` or nothing.
    Equal,
    /// `!=` or `!`.
    NotEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
}

/// Why a text is not a range. The messages start as the Go library words them.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RangeError {
    /// The text starts with `||`.
    #[error(
        "First element in range is '||': write a comparison such as >=1.0.0 on both sides of '||'"
    )]
    LeadingOr,
    /// The text ends with `||`, or is empty.
    #[error(
        "Last element in range is '||': write a comparison such as >=1.0.0, and one on both sides of each '||'"
    )]
    TrailingOr,
    /// Nothing stands between two `||`.
    #[error(
        "Could not parse Range {0:?}: nothing stands between '||' and '||': write a comparison such as >=1.0.0 there"
    )]
    EmptyAlternative(String),
    /// A part holds no digit.
    #[error("Could not get version from string: {0:?}: write a comparison such as >=1.0.0")]
    NoVersion(String),
    /// What stands before the version is no operator.
    #[error(
        "Could not parse Range {part:?}: Could not parse comparator {operator:?} in {part:?}: \
         use =, ==, !=, !, >, >=, <, <= or nothing, and a version without leading v"
    )]
    Comparator {
        /// The part.
        part: String,
        /// What stands before the first digit.
        operator: String,
    },
    /// What follows the operator is no version.
    #[error(
        "Could not parse Range {part:?}: Could not parse version {version:?} in {part:?}: {source}; \
         spaces stand between comparisons and around '||'"
    )]
    Version {
        /// The part.
        part: String,
        /// What stands there instead of a version.
        version: String,
        /// What is wrong with it.
        source: VersionError,
    },
}

impl Range {
    /// Reads a range.
    pub fn parse(text: &str) -> Result<Self, RangeError> {
        let parts = parts(text);
        if parts.first().is_some_and(|part| part == OR) {
            return Err(RangeError::LeadingOr);
        }
        if parts.last().is_none_or(|part| part == OR) {
            return Err(RangeError::TrailingOr);
        }
        let alternatives = parts
            .split(|part| part == OR)
            .map(|group| conjunction(text, group))
            .collect::<Result<_, _>>()?;
        Ok(Self { text: text.into(), alternatives })
    }

    /// Whether the version is in the range. Pre-releases count like any other version.
    pub fn contains(&self, version: &Version) -> bool {
        self.alternatives
            .iter()
            .any(|group| group.iter().all(|comparator| comparator.holds(version)))
    }

    /// The comparisons: a version is in the range if all of some group hold.
    pub fn alternatives(&self) -> &[Vec<Comparator>] {
        &self.alternatives
    }
}

impl Comparator {
    /// Whether the comparison holds for the version.
    pub fn holds(&self, version: &Version) -> bool {
        match self.operator {
            Operator::Equal => version == &self.version,
            Operator::NotEqual => version != &self.version,
            Operator::Greater => version > &self.version,
            Operator::GreaterOrEqual => version >= &self.version,
            Operator::Less => version < &self.version,
            Operator::LessOrEqual => version <= &self.version,
        }
    }
}

impl FromStr for Range {
    type Err = RangeError;

    fn from_str(text: &str) -> Result<Self, RangeError> {
        Self::parse(text)
    }
}

impl fmt::Display for Range {
    /// The text that was read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

const OR: &str = "||";

/// Splits at spaces that do not follow `<`, `>` or `=`; parts of one byte disappear.
fn parts(text: &str) -> Vec<String> {
    let mut before = ' ';
    text.split(|c: char| {
        if c != ' ' {
            before = c;
        }
        c == ' ' && !matches!(before, '<' | '>' | '=')
    })
    .filter(|part| part.len() > 1)
    .map(|part| part.replace(' ', ""))
    .collect()
}

fn conjunction(text: &str, parts: &[String]) -> Result<Vec<Comparator>, RangeError> {
    if parts.is_empty() {
        return Err(RangeError::EmptyAlternative(text.to_owned()));
    }
    let mut comparators = Vec::new();
    for part in parts {
        for part in wildcard::expand(part)? {
            comparators.push(comparator(&part)?);
        }
    }
    Ok(comparators)
}

fn comparator(part: &str) -> Result<Comparator, RangeError> {
    let (sign, version) = split_operator(part)?;
    let operator = operator(sign).ok_or_else(|| RangeError::Comparator {
        part: part.to_owned(),
        operator: sign.to_owned(),
    })?;
    match Version::parse(version) {
        Ok(version) => Ok(Comparator { operator, version }),
        Err(source) => {
            Err(RangeError::Version { part: part.to_owned(), version: version.to_owned(), source })
        }
    }
}

/// Splits a part before its first digit.
pub(super) fn split_operator(part: &str) -> Result<(&str, &str), RangeError> {
    part.find(|c: char| c.is_ascii_digit())
        .and_then(|digit| part.split_at_checked(digit))
        .map(|(sign, version)| (sign.trim(), version))
        .ok_or_else(|| RangeError::NoVersion(part.to_owned()))
}

fn operator(sign: &str) -> Option<Operator> {
    Some(match sign {
        "" | "=" | "==" => Operator::Equal,
        "!" | "!=" => Operator::NotEqual,
        ">" => Operator::Greater,
        ">=" => Operator::GreaterOrEqual,
        "<" => Operator::Less,
        "<=" => Operator::LessOrEqual,
        _ => return None,
    })
}
