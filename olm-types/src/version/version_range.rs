//! The range of versions that a user accepts, as annotation `olm-rs.dev/version-range` declares it.
//!
//! ```text
//! range       = conjunction { "||" conjunction }
//! conjunction = comparison { ("," | " ") comparison }
//! comparison  = [ "=" | "!=" | ">" | ">=" | "<" | "<=" | "~" | "^" ] version
//! version     = major [ "." minor [ "." patch [ "-" prerelease ] ] ]; x, X or * stands for any number
//! ```
//! It takes what ranges of catalogs take, and OLM v1's form with commas, `~`, `^` and versions with fewer
//! than three numbers; a leading `v` is ignored. A prerelease is in a range only where its conjunction
//! names a prerelease: `<2.0.0` does not accept `2.0.0-rc.1`, `>=2.0.0-rc.1` does.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use super::range::{Comparator, Operator};
use super::{Version, VersionError};

/// Most bytes of a range: it is looked at for every version of a channel.
const LONGEST: usize = 1024;

/// Versions that a user accepts. Prints as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionRange {
    text: Arc<str>,
    alternatives: Vec<Conjunction>,
}

/// Comparisons that have to hold together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Conjunction {
    comparators: Vec<Comparator>,
    takes_prereleases: bool,
}

/// Why a text is not such a range, with how to write it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum VersionRangeError {
    /// The text is longer than a range may be.
    #[error("it has {0} bytes, and may have {LONGEST}")]
    TooLong(usize),
    /// Nothing stands between two `||`, before, or behind one.
    #[error("nothing stands beside \"||\" in it; write a comparison such as \">=1.2.0\" there")]
    Empty,
    /// Not a version behind an operator.
    #[error("{0:?} is no version; write one such as 1.2.0, 1.2 or 1.x")]
    NoVersion(String),
    /// A version with all its numbers that does not parse.
    #[error("{text:?} is no version: {source}")]
    Version {
        /// What stands there.
        text: String,
        /// What is wrong with it.
        source: VersionError,
    },
    /// Two versions with a dash between them.
    #[error("\"-\" between two versions is not known; write \">=1.2.0 <=1.4.0\"")]
    Dash,
    /// An operator that is none.
    #[error("{0:?} is no operator; there are =, !=, >, >=, <, <=, ~ and ^")]
    Operator(String),
    /// An operator that says nothing about a version with fewer numbers.
    #[error("{0:?} needs a version with three numbers, such as 1.2.0")]
    NeedsAll(String),
}

impl VersionRange {
    /// Reads a range.
    ///
    /// # Errors
    /// What is wrong, and how it would be written.
    pub fn parse(text: &str) -> Result<Self, VersionRangeError> {
        if text.len() > LONGEST {
            return Err(VersionRangeError::TooLong(text.len()));
        }
        let alternatives = text.split("||").map(conjunction).collect::<Result<_, _>>()?;
        Ok(Self { text: text.into(), alternatives })
    }

    /// A range without any version, for a text that is none.
    pub fn nothing(text: &str) -> Self {
        Self { text: text.into(), alternatives: Vec::new() }
    }

    /// Whether the version is accepted.
    pub fn contains(&self, version: &Version) -> bool {
        self.alternatives.iter().any(|all| {
            (all.takes_prereleases || version.pre().is_empty())
                && all.comparators.iter().all(|comparator| comparator.holds(version))
        })
    }
}

impl fmt::Display for VersionRange {
    /// The text that was read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn conjunction(text: &str) -> Result<Conjunction, VersionRangeError> {
    let mut all = Conjunction::default();
    let mut rest = text.trim_start_matches(is_between);
    if rest.is_empty() {
        return Err(VersionRangeError::Empty);
    }
    while !rest.is_empty() {
        let (sign, behind) = split(rest, |c| !is_sign(c));
        let (version, behind) = split(behind.trim_start(), is_between);
        let written = Written::parse(version)?;
        all.takes_prereleases |=
            matches!(&written, Written::Full(version) if !version.pre().is_empty());
        all.comparators.extend(comparators(sign, &written)?);
        rest = behind.trim_start_matches(is_between);
    }
    Ok(all)
}

fn is_between(c: char) -> bool {
    c == ',' || c.is_whitespace()
}

fn is_sign(c: char) -> bool {
    matches!(c, '<' | '>' | '=' | '!' | '~' | '^')
}

/// Splits before the first character of a kind.
fn split(text: &str, at: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at_checked(text.find(at).unwrap_or(text.len())).unwrap_or((text, ""))
}

/// A version as a user writes it.
enum Written {
    /// Three numbers, and perhaps a prerelease.
    Full(Version),
    /// The first numbers: none, one or two.
    Part(Vec<u64>),
}

impl Written {
    fn parse(text: &str) -> Result<Self, VersionRangeError> {
        if text == "-" {
            return Err(VersionRangeError::Dash);
        }
        let bare = text.strip_prefix('v').unwrap_or(text);
        let parts: Vec<&str> = bare.split('.').collect();
        let known = parts.iter().take_while(|part| !is_wildcard(part)).count();
        if known >= 3 {
            let version = Version::parse(bare);
            return version
                .map(Self::Full)
                .map_err(|source| VersionRangeError::Version { text: text.to_owned(), source });
        }
        // As in a version with all its numbers.
        let is_plain = |part: &str| part == "0" || !part.starts_with(['+', '0']);
        let number = |part: &&str| part.parse::<u64>().ok().filter(|_| is_plain(part));
        let numbers: Option<Vec<u64>> = parts.iter().take(known).map(number).collect();
        let is_whole = parts.len() <= 3 && parts.iter().skip(known).all(|part| is_wildcard(part));
        match numbers {
            Some(numbers) if is_whole => Ok(Self::Part(numbers)),
            _ => Err(VersionRangeError::NoVersion(text.to_owned())),
        }
    }

    /// The lowest version of those that it stands for.
    fn low(&self) -> Version {
        match self {
            Self::Full(version) => version.clone(),
            Self::Part(numbers) => {
                let number = |at: usize| numbers.get(at).copied().unwrap_or_default();
                Version::new(number(0), number(1), 0)
            }
        }
    }

    /// The numbers that are written.
    fn numbers(&self) -> Vec<u64> {
        match self {
            Self::Full(version) => vec![version.major(), version.minor(), version.patch()],
            Self::Part(numbers) => numbers.clone(),
        }
    }
}

fn is_wildcard(part: &str) -> bool {
    matches!(part, "x" | "X" | "*")
}

/// The plain comparisons that one comparison stands for.
fn comparators(sign: &str, written: &Written) -> Result<Vec<Comparator>, VersionRangeError> {
    use Operator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    let compare = |operator, version| Comparator { operator, version };
    let (low, numbers) = (written.low(), written.numbers());
    let is_full = numbers.len() == 3;
    let from_low = compare(GreaterOrEqual, low.clone());
    let below = |length: usize| next(&numbers, length).map(|version| compare(Less, version));
    let whole = numbers.len();
    Ok(match sign {
        "" | "=" | "==" if is_full => vec![compare(Equal, low)],
        "" | "=" | "==" => [from_low].into_iter().chain(below(whole)).collect(),
        "!" | "!=" if is_full => vec![compare(NotEqual, low)],
        ">" if is_full => vec![compare(Greater, low)],
        ">" => match next(&numbers, whole) {
            Some(version) => vec![compare(GreaterOrEqual, version)],
            None => return Err(VersionRangeError::NeedsAll(sign.to_owned())),
        },
        ">=" => vec![from_low],
        "<" => vec![compare(Less, low)],
        "<=" if is_full => vec![compare(LessOrEqual, low)],
        "<=" => below(whole).into_iter().collect(),
        "~" => [from_low].into_iter().chain(below(whole.min(2))).collect(),
        "^" => {
            let zeros = numbers.iter().take_while(|number| **number == 0).count();
            [from_low].into_iter().chain(below((zeros + 1).min(whole))).collect()
        }
        "!=" | "!" => return Err(VersionRangeError::NeedsAll(sign.to_owned())),
        _ => return Err(VersionRangeError::Operator(sign.to_owned())),
    })
}

/// The first version behind all that begin with so many of the numbers; none behind all versions.
fn next(numbers: &[u64], length: usize) -> Option<Version> {
    let mut numbers: Vec<u64> = numbers.iter().copied().take(length).collect();
    let last = numbers.last_mut()?;
    *last = last.saturating_add(1);
    let number = |at: usize| numbers.get(at).copied().unwrap_or_default();
    Some(Version::new(number(0), number(1), number(2)))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::as_in_catalogs(">=1.2.0 <2.0.0", "1.2.0 1.9.9", "1.1.9 2.0.0")]
    #[case::with_commas(">=1.2.0, <2.0.0", "1.2.0 1.9.9", "1.1.9 2.0.0")]
    #[case::spaces_behind_operators(">= 1.2.0 ,< 2.0.0", "1.2.0", "2.0.0")]
    #[case::one_of_two("<1.0.0 || >=2.0.0", "0.9.0 2.0.0", "1.0.0 1.5.0")]
    #[case::exactly("1.2.3", "1.2.3", "1.2.4")]
    #[case::all_but_one(">=1.0.0 !=1.2.0", "1.0.0 1.2.1", "1.2.0 0.1.0")]
    #[case::leading_v("v1.2.3 || =v2", "1.2.3 2.4.0", "1.2.4 3.0.0")]
    #[case::minor("1.2", "1.2.0 1.2.9", "1.3.0 1.1.9")]
    #[case::wildcard("1.x", "1.0.0 1.99.0", "2.0.0 0.9.0")]
    #[case::wildcards("1.2.*", "1.2.7", "1.3.0")]
    #[case::any("*", "0.0.0 9.9.9", "9.9.9-rc.1")]
    #[case::above_a_block(">1.2", "1.3.0", "1.2.9")]
    #[case::up_to_a_block("<=1.2", "1.2.9 0.1.0", "1.3.0")]
    #[case::up_to_any("<=*", "9.9.9", "9.9.9-rc.1")]
    #[case::tilde("~1.2.3", "1.2.3 1.2.9", "1.2.2 1.3.0")]
    #[case::tilde_of_two("~1.2", "1.2.0 1.2.9", "1.3.0")]
    #[case::tilde_of_one("~1", "1.0.0 1.9.0", "2.0.0")]
    #[case::caret("^1.2.3", "1.2.3 1.9.0", "1.2.2 2.0.0")]
    #[case::caret_below_one("^0.2.3", "0.2.3 0.2.9", "0.3.0")]
    #[case::caret_of_zeros("^0.0.3", "0.0.3", "0.0.4")]
    #[case::caret_of_two_zeros("^0.0", "0.0.0 0.0.9", "0.1.0")]
    #[case::caret_of_zero("^0", "0.0.1 0.9.0", "1.0.0")]
    #[case::no_prerelease("<2.0.0", "1.9.9", "2.0.0-rc.1 1.0.0-alpha")]
    #[case::prereleases(">=2.0.0-rc.1 <3.0.0", "2.0.0-rc.1 2.0.0 2.5.0-beta", "2.0.0-alpha 3.0.0")]
    #[case::each_by_itself("1.0.0 || >=2.0.0-rc.1", "1.0.0 2.0.0-rc.2", "1.0.0-rc.1")]
    fn versions(#[case] range: &str, #[case] inside: &str, #[case] outside: &str) {
        let range = VersionRange::parse(range).unwrap();
        for (versions, expected) in [(inside, true), (outside, false)] {
            for version in versions.split(' ') {
                let version = Version::parse(version).unwrap();
                assert_eq!(range.contains(&version), expected, "{range}: {version}");
            }
        }
    }

    #[rstest]
    #[case::empty("", "nothing stands beside")]
    #[case::half(">=1.0.0 ||", "nothing stands beside")]
    #[case::no_version(">=", "\"\" is no version")]
    #[case::words("latest", "\"latest\" is no version")]
    #[case::dash("1.0.0 - 2.0.0", "write \">=1.2.0 <=1.4.0\"")]
    #[case::four_numbers("1.2.3.4", "\"1.2.3.4\" is no version")]
    #[case::number_behind_wildcard("1.x.3", "\"1.x.3\" is no version")]
    #[case::operator("=>1.0.0", "\"=>\" is no operator")]
    #[case::not_a_block("!=1.2", "\"!=\" needs a version with three numbers")]
    #[case::above_all(">*", "\">\" needs a version with three numbers")]
    #[case::too_large("99999999999999999999", "is no version")]
    #[case::leading_zero("01", "\"01\" is no version")]
    #[case::leading_zero_of_a_minor_version("~1.02", "\"1.02\" is no version")]
    #[case::leading_zero_of_a_patch("1.2.03", "must not contain leading zeroes")]
    fn mistakes(#[case] range: &str, #[case] expected: &str) {
        let error = VersionRange::parse(range).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn a_range_is_short() {
        let long = ">=1.0.0 ".repeat(200);
        assert_eq!(VersionRange::parse(&long), Err(VersionRangeError::TooLong(1600)));
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "[0-9x*.,<>=!~^v| +é-]{0,20}") {
            if let Ok(range) = VersionRange::parse(&text) {
                range.contains(&Version::new(1, 2, 3));
            }
        }
    }
}
