//! Values of flags.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use olm_types::duration::GoDuration;

/// The name of a folder, which may be empty.
pub(super) fn folder(text: &str) -> Result<PathBuf> {
    Ok(PathBuf::from(text))
}

/// Reads KEY=VALUE; the value may hold further signs of equality.
pub(super) fn extra(text: &str) -> Result<(String, String)> {
    let parts = text.split_once('=').filter(|(key, _)| !key.is_empty());
    let (key, value) = parts.context("it is not KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

/// Reads a duration as Go does, such as `1m30s`, `1.5h` or `500ms`; a number alone is one of seconds.
pub fn duration(text: &str) -> Result<Duration> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let read = match is_number {
        true => GoDuration::parse(&format!("{text}s")),
        false => GoDuration::parse(text),
    };
    read?.unsigned().context("it is negative")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("0", Some(0))]
    #[case("5", Some(5_000))]
    #[case("2m", Some(120_000))]
    #[case("500ms", Some(500))]
    #[case("1m30s", Some(90_000))]
    #[case("1h15m30.918s", Some(4_530_918))]
    #[case("1.5h", Some(5_400_000))]
    #[case(".5s", Some(500))]
    #[case("+2s", Some(2_000))]
    #[case("3000us", Some(3))]
    #[case("3000\u{b5}s", Some(3))]
    #[case("1000000ns", Some(1))]
    #[case("0s", Some(0))]
    #[case("", None)]
    #[case("s", None)]
    #[case("5d", None)]
    #[case("1m30", None)]
    #[case("1.5", None)]
    #[case("1m 30s", None)]
    #[case("-1s", None)]
    #[case("99999999999999999999h", None)]
    #[case("18446744073709551615h", None)]
    #[case("18446744073709551615", None)]
    fn durations_are_those_of_kubectl(#[case] text: &str, #[case] expected: Option<u64>) {
        assert_eq!(duration(text).ok(), expected.map(Duration::from_millis));
    }

    #[test]
    fn a_wrong_duration_is_refused_in_words() {
        let refused = |text: &str| duration(text).unwrap_err().to_string();
        assert_eq!(refused("5d"), "time: unknown unit \"d\" in duration \"5d\"");
        assert_eq!(refused("-1s"), "it is negative");
    }
}
