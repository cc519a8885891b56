//! One version: strict reading and ordering by precedence.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use semver::{BuildMetadata, Prerelease};
use thiserror::Error;

/// A semantic version. Comparison and equality ignore build metadata.
#[derive(Clone, Debug)]
pub struct Version(semver::Version);

/// Why a text is not a version. The messages start as the Go library words them.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum VersionError {
    /// Nothing there.
    #[error("Version string empty: {VALID}")]
    Empty,
    /// Fewer than two dots.
    #[error("No Major.Minor.Patch elements found: {VALID}")]
    Parts,
    /// Something else than digits in a number, or than letters, digits and `-` in an identifier.
    #[error("Invalid character(s) found in {place} {text:?}: {VALID}")]
    Characters {
        /// Which part of the version.
        place: &'static str,
        /// The part.
        text: String,
    },
    /// A number starts with a superfluous `0`.
    #[error("{place} must not contain leading zeroes {text:?}: {VALID}")]
    LeadingZeroes {
        /// Which part of the version.
        place: &'static str,
        /// The part.
        text: String,
    },
    /// A number is missing, or does not fit into 64 bits.
    #[error("{text:?} is not a number up to 18446744073709551615: {VALID}")]
    Number {
        /// The part.
        text: String,
    },
    /// An identifier between dots is empty.
    #[error("{place} is empty: {VALID}")]
    EmptyIdentifier {
        /// Which part of the version.
        place: &'static str,
    },
    /// Tolerant reading completes `1` and `1.2`, but not when a suffix follows.
    #[error("Short version cannot contain PreRelease/Build meta data: {VALID}")]
    ShortWithSuffix,
}

const VALID: &str = "a version is MAJOR.MINOR.PATCH, optionally with -PRERELEASE and +BUILD, for example 1.2.3 or 1.2.3-rc.1";

impl Version {
    /// `major.minor.patch` without suffixes.
    pub fn new(major: u64, minor: u64, patch: u64) -> Self {
        Self(semver::Version::new(major, minor, patch))
    }

    /// Reads a version strictly: all three numbers, no leading `v`, no leading zeros, no spaces.
    pub fn parse(text: &str) -> Result<Self, VersionError> {
        if text.is_empty() {
            return Err(VersionError::Empty);
        }
        let (major, rest) = text.split_once('.').ok_or(VersionError::Parts)?;
        let (minor, rest) = rest.split_once('.').ok_or(VersionError::Parts)?;
        let (rest, build) = split_suffix(rest, '+');
        let (patch, pre) = split_suffix(rest, '-');
        Ok(Self(semver::Version {
            major: number(major, "major number", "Major number")?,
            minor: number(minor, "minor number", "Minor number")?,
            patch: number(patch, "patch number", "Patch number")?,
            pre: prerelease(pre)?,
            build: build_metadata(build)?,
        }))
    }

    /// Reads a version as CSVs and CEL rules may write it: surrounding white space, one leading `v`
    /// and leading zeros are ignored, missing minor and patch numbers are 0.
    pub fn parse_tolerant(text: &str) -> Result<Self, VersionError> {
        Self::parse(&super::normalise(text)?)
    }

    /// First number.
    pub fn major(&self) -> u64 {
        self.0.major
    }

    /// Second number.
    pub fn minor(&self) -> u64 {
        self.0.minor
    }

    /// Third number.
    pub fn patch(&self) -> u64 {
        self.0.patch
    }

    /// Text between `-` and `+`, empty if there is none.
    pub fn pre(&self) -> &str {
        self.0.pre.as_str()
    }

    /// Text after `+`, empty if there is none.
    pub fn build(&self) -> &str {
        self.0.build.as_str()
    }
}

fn split_suffix(text: &str, mark: char) -> (&str, Option<&str>) {
    text.split_once(mark).map_or((text, None), |(head, suffix)| (head, Some(suffix)))
}

fn number(text: &str, place: &'static str, title: &'static str) -> Result<u64, VersionError> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(VersionError::Characters { place, text: text.to_owned() });
    }
    if text.len() > 1 && text.starts_with('0') {
        return Err(VersionError::LeadingZeroes { place: title, text: text.to_owned() });
    }
    text.parse().map_err(|_| VersionError::Number { text: text.to_owned() })
}

fn prerelease(text: Option<&str>) -> Result<Prerelease, VersionError> {
    let Some(text) = text else {
        return Ok(Prerelease::EMPTY);
    };
    text.split('.').try_for_each(prerelease_identifier)?;
    Prerelease::new(text).map_err(|_| invalid("prerelease", text))
}

fn prerelease_identifier(text: &str) -> Result<(), VersionError> {
    if text.is_empty() {
        return Err(VersionError::EmptyIdentifier { place: "Prerelease" });
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return number(text, "prerelease", "Numeric PreRelease version").map(drop);
    }
    if text.bytes().all(is_identifier) { Ok(()) } else { Err(invalid("prerelease", text)) }
}

fn build_metadata(text: Option<&str>) -> Result<BuildMetadata, VersionError> {
    let Some(text) = text else {
        return Ok(BuildMetadata::EMPTY);
    };
    for identifier in text.split('.') {
        if identifier.is_empty() {
            return Err(VersionError::EmptyIdentifier { place: "Build meta data" });
        }
        if !identifier.bytes().all(is_identifier) {
            return Err(invalid("build meta data", identifier));
        }
    }
    BuildMetadata::new(text).map_err(|_| invalid("build meta data", text))
}

fn is_identifier(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

fn invalid(place: &'static str, text: &str) -> VersionError {
    VersionError::Characters { place, text: text.to_owned() }
}

impl FromStr for Version {
    type Err = VersionError;

    /// Strict, as [`Version::parse`].
    fn from_str(text: &str) -> Result<Self, VersionError> {
        Self::parse(text)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp_precedence(&other.0)
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Version {}

impl Hash for Version {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.0.major, self.0.minor, self.0.patch).hash(state);
        self.0.pre.hash(state);
    }
}
