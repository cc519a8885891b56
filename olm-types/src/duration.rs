//! Durations as Go writes them: `1m30s`, `250ms`, `-1h`, `0`.
//!
//! Annotations and specs hold them as text that users write, and errors about that text are shown
//! to users: their words are Go's.

use std::time::Duration;

use thiserror::Error;

/// A span of time in whole nanoseconds, at most about 292 years in either direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoDuration(i64);

/// Text that is no duration.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DurationError {
    /// It is no sequence of numbers with units, or it is too long a time.
    #[error("time: invalid duration {0:?}")]
    Invalid(String),
    /// A number stands alone.
    #[error("time: missing unit in duration {0:?}")]
    MissingUnit(String),
    /// Go has no such unit.
    #[error("time: unknown unit {unit:?} in duration {text:?}")]
    UnknownUnit {
        /// The unit.
        unit: String,
        /// The whole text.
        text: String,
    },
}

/// Units with their length in nanoseconds. The sign for micro has two code points.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

impl GoDuration {
    /// Parses what Go's `time.ParseDuration` parses.
    ///
    /// # Errors
    /// See [`DurationError`].
    pub fn parse(text: &str) -> Result<Self, DurationError> {
        let invalid = || DurationError::Invalid(text.to_owned());
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        if unsigned == "0" {
            return Ok(Self(0));
        }
        if unsigned.is_empty() {
            return Err(invalid());
        }
        let mut total = 0_u64;
        let mut rest = unsigned;
        while !rest.is_empty() {
            let (length, tail) = summand(rest, text)?;
            total = total.checked_add(length).ok_or_else(invalid)?;
            rest = tail;
        }
        let total = i64::try_from(total).map_err(|_| invalid())?;
        Ok(Self(if text.starts_with('-') { -total } else { total }))
    }

    /// The same without a sign; nothing when it is negative.
    pub fn unsigned(self) -> Option<Duration> {
        u64::try_from(self.0).ok().map(Duration::from_nanos)
    }
}

/// The length of the number and unit that `rest` begins with, and what follows them.
fn summand<'a>(rest: &'a str, text: &str) -> Result<(u64, &'a str), DurationError> {
    let invalid = || DurationError::Invalid(text.to_owned());
    let (number, tail) = split(rest, |c| c.is_ascii_digit() || c == '.');
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return Err(invalid());
    }
    let (unit, tail) = split(tail, |c| !c.is_ascii_digit() && c != '.');
    if unit.is_empty() {
        return Err(DurationError::MissingUnit(text.to_owned()));
    }
    let known = UNITS.iter().find(|(name, _)| *name == unit);
    let (_, length) = known.ok_or_else(|| DurationError::UnknownUnit {
        unit: unit.to_owned(),
        text: text.to_owned(),
    })?;
    let whole = if whole.is_empty() { 0 } else { whole.parse::<u64>().map_err(|_| invalid())? };
    let whole = whole.checked_mul(*length).ok_or_else(invalid)?;
    Ok((whole.checked_add(part(fraction, *length)).ok_or_else(invalid)?, tail))
}

fn split(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !belongs(c)).unwrap_or(text.len());
    text.split_at(end)
}

/// Nanoseconds of a decimal fraction of a unit; what is shorter than one is dropped.
fn part(digits: &str, unit: u64) -> u64 {
    let digits: String = digits.chars().take(DIGITS).collect();
    let scale = 10_u128.pow(u32::try_from(digits.len()).unwrap_or_default());
    let number: u128 = digits.parse().unwrap_or_default();
    u64::try_from(number * u128::from(unit) / scale).unwrap_or_default()
}

/// Digits of a fraction that can matter: an hour has fewer than 10^13 nanoseconds.
const DIGITS: usize = 18;

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("0", 0)]
    #[case("-0", 0)]
    #[case("15m", 900_000)]
    #[case("15m0s", 900_000)]
    #[case("1h30m", 5_400_000)]
    #[case("1.5s", 1_500)]
    #[case(".5s", 500)]
    #[case("1.s", 1_000)]
    #[case("250ms", 250)]
    #[case("+2000\u{b5}s", 2)]
    #[case("2000\u{3bc}s", 2)]
    #[case("0.00000000000000000000000000001h", 0)]
    fn durations(#[case] text: &str, #[case] milliseconds: u64) {
        let parsed = GoDuration::parse(text).map(GoDuration::unsigned);
        assert_eq!(parsed, Ok(Some(Duration::from_millis(milliseconds))));
    }

    #[test]
    fn a_negative_duration_has_no_unsigned_form() {
        assert_eq!(GoDuration::parse("-1m").unwrap().unsigned(), None);
        assert!(GoDuration::parse("-1m").unwrap() < GoDuration::parse("0").unwrap());
    }

    #[rstest]
    #[case("", "time: invalid duration \"\"")]
    #[case("-", "time: invalid duration \"-\"")]
    #[case("m", "time: invalid duration \"m\"")]
    #[case("1..2s", "time: invalid duration \"1..2s\"")]
    #[case("foo", "time: invalid duration \"foo\"")]
    #[case("99999999999999999999999h", "time: invalid duration \"99999999999999999999999h\"")]
    #[case("2562048h", "time: invalid duration \"2562048h\"")]
    #[case("15", "time: missing unit in duration \"15\"")]
    #[case("1x", "time: unknown unit \"x\" in duration \"1x\"")]
    #[case("1m 30s", "time: unknown unit \"m \" in duration \"1m 30s\"")]
    fn no_durations(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(GoDuration::parse(text).unwrap_err().to_string(), expected);
    }
}
