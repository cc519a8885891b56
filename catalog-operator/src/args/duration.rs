//! Durations as Go writes them: `1m30s`, `250ms`, `0`.

use std::time::Duration;

/// Text that is no duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid duration {0:?}, expected something like 90s, 1m30s or 250ms")]
pub struct DurationError(String);

/// Units with their length in nanoseconds; those that begin like another one come first.
const UNITS: [(&str, f64); 7] =
    [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("h", 3.6e12), ("m", 6e10), ("s", 1e9)];

/// Parses a duration that is not negative.
///
/// # Errors
/// The text does not consist of numbers with units.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let error = || DurationError(text.to_owned());
    let mut rest = text;
    let mut nanoseconds = 0.0_f64;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(error)?;
        let (number, tail) = rest.split_at(end);
        let number: f64 = number.parse().map_err(|_| error())?;
        let (unit, length) =
            UNITS.iter().find(|(unit, _)| tail.starts_with(unit)).ok_or_else(error)?;
        nanoseconds += number * length;
        rest = tail.strip_prefix(unit).ok_or_else(error)?;
    }
    if text.is_empty() {
        return Err(error());
    }
    Duration::try_from_secs_f64(nanoseconds / 1e9).map_err(|_| error())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("15m", 900_000)]
    #[case("15m0s", 900_000)]
    #[case("1h30m", 5_400_000)]
    #[case("1.5s", 1_500)]
    #[case("250ms", 250)]
    #[case("0", 0)]
    fn durations(#[case] text: &str, #[case] milliseconds: u64) {
        assert_eq!(parse_duration(text), Ok(Duration::from_millis(milliseconds)));
    }

    #[rstest]
    #[case("")]
    #[case("15")]
    #[case("m")]
    #[case("-1m")]
    #[case("1x")]
    #[case("1..2s")]
    #[case("99999999999999999999999h")]
    fn no_durations(#[case] text: &str) {
        assert_eq!(parse_duration(text), Err(DurationError(text.to_owned())));
    }
}
