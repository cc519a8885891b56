//! Durations on the command line.

use std::time::Duration;

use olm_types::duration::GoDuration;

/// Text that is no duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid duration {0:?}, expected something like 90s, 1m30s or 250ms")]
pub struct DurationError(String);

/// Parses a duration that is not negative, as Go writes it.
///
/// # Errors
/// The text does not consist of numbers with units, or is negative.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let parsed = GoDuration::parse(text).ok().and_then(GoDuration::unsigned);
    parsed.ok_or_else(|| DurationError(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("15m", 900_000)]
    #[case("1.5s", 1_500)]
    #[case("0", 0)]
    fn durations(#[case] text: &str, #[case] milliseconds: u64) {
        assert_eq!(parse_duration(text), Ok(Duration::from_millis(milliseconds)));
    }

    #[rstest]
    #[case("15")]
    #[case("-1m")]
    fn no_durations(#[case] text: &str) {
        assert_eq!(parse_duration(text), Err(DurationError(text.to_owned())));
    }
}
