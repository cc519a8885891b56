//! Release of a bundle within its version: identifiers as in a pre-release, joined by dots.

use thiserror::Error;

/// Longest release, in bytes.
const LONGEST: usize = 20;

/// A text that is no release.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum ReleaseError {
    #[error("invalid release {0:?}: exceeds maximum length of {LONGEST} characters")]
    TooLong(String),
    #[error("invalid release {release:?}: segment {index}: {problem}")]
    Segment { release: String, index: usize, problem: String },
}

/// Checks a release; the empty text is none.
pub(super) fn check(release: &str) -> Result<(), ReleaseError> {
    if release.is_empty() {
        return Ok(());
    }
    if release.len() > LONGEST {
        return Err(ReleaseError::TooLong(release.to_owned()));
    }
    for (index, segment) in release.split('.').enumerate() {
        check_segment(segment).map_err(|problem| ReleaseError::Segment {
            release: release.to_owned(),
            index,
            problem,
        })?;
    }
    Ok(())
}

fn check_segment(segment: &str) -> Result<(), String> {
    let numeric = segment.bytes().all(|byte| byte.is_ascii_digit());
    if segment.is_empty() {
        Err("Prerelease is empty".to_owned())
    } else if numeric && segment.len() > 1 && segment.starts_with('0') {
        Err(format!("Numeric PreRelease version must not contain leading zeroes {segment:?}"))
    } else if !segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        Err(format!("Invalid character(s) found in prerelease {segment:?}"))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    fn good(
        #[values(
            "",
            "alpha",
            "1",
            "alpha.1.beta.2",
            "rc-1.beta-2",
            "12345678901234567890",
            "0",
            "0alpha"
        )]
        release: &str,
    ) {
        assert_eq!(check(release), Ok(()));
    }

    #[rstest]
    #[case("123456789012345678901", "exceeds maximum length of 20 characters")]
    #[case("01", "segment 0: Numeric PreRelease version must not contain leading zeroes \"01\"")]
    #[case(
        "a.001",
        "segment 1: Numeric PreRelease version must not contain leading zeroes \"001\""
    )]
    #[case("!!!", "segment 0: Invalid character(s) found in prerelease \"!!!\"")]
    #[case("a..b", "segment 1: Prerelease is empty")]
    fn bad(#[case] release: &str, #[case] problem: &str) {
        let message = check(release).unwrap_err().to_string();
        assert_eq!(message, format!("invalid release {release:?}: {problem}"));
    }
}
