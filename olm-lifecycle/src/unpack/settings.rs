//! What the OperatorGroup of a namespace says about unpacking.

use std::time::Duration;

use olm_types::annotations::{BUNDLE_UNPACK_RETRY_INTERVAL, BUNDLE_UNPACK_TIMEOUT};
use olm_types::api::OperatorGroup;
use olm_types::duration::{DurationError, GoDuration};

/// Patience with bundles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnpackSettings {
    /// How long unpacking may take, zero for as long as it likes; nothing to leave it to
    /// `--bundle-unpack-timeout`.
    pub timeout: Option<Duration>,
    /// How long after a failure it is tried again; nothing to leave it to the Job's own end.
    pub retry_interval: Option<Duration>,
}

/// An annotation is no duration. Texts are v0's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The timeout.
    #[error(
        "failed to parse unpack timeout annotation({BUNDLE_UNPACK_TIMEOUT}: {value}): {source}"
    )]
    Timeout {
        /// What the annotation says.
        value: String,
        /// What is wrong with it.
        source: DurationError,
    },
    /// The pause.
    #[error(
        "failed to parse unpack retry annotation({BUNDLE_UNPACK_RETRY_INTERVAL}: {value}): {source}"
    )]
    RetryInterval {
        /// What the annotation says.
        value: String,
        /// What is wrong with it.
        source: DurationError,
    },
}

impl UnpackSettings {
    /// How long unpacking may take when the flag says `default`; nothing for no limit.
    pub fn timeout_or(&self, default: Duration) -> Option<Duration> {
        Some(self.timeout.unwrap_or(default)).filter(|timeout| !timeout.is_zero())
    }
}

/// The settings of a group. A negative time counts as none.
///
/// # Errors
/// An annotation is no duration.
pub fn settings(group: &OperatorGroup) -> Result<UnpackSettings, SettingsError> {
    let annotation =
        |key: &str| group.metadata.annotations.as_ref().and_then(|all| all.get(key)).cloned();
    let timeout = annotation(BUNDLE_UNPACK_TIMEOUT).map(|value| {
        GoDuration::parse(&value).map_err(|source| SettingsError::Timeout { value, source })
    });
    let retry_interval = annotation(BUNDLE_UNPACK_RETRY_INTERVAL).map(|value| {
        GoDuration::parse(&value).map_err(|source| SettingsError::RetryInterval { value, source })
    });
    let retry_interval = retry_interval.transpose()?.and_then(GoDuration::unsigned);
    Ok(UnpackSettings {
        timeout: timeout.transpose()?.and_then(GoDuration::unsigned),
        retry_interval: retry_interval.filter(|interval| !interval.is_zero()),
    })
}

#[cfg(test)]
mod tests {
    use olm_types::api::OperatorGroupSpec;
    use rstest::rstest;

    use super::*;

    fn group(key: &str, value: &str) -> OperatorGroup {
        let mut group = OperatorGroup::new("og", OperatorGroupSpec::default());
        group.metadata.annotations = Some([(key.to_owned(), value.to_owned())].into());
        group
    }

    #[rstest]
    #[case("2m", Some(120), Some(120))]
    #[case("0", Some(0), None)]
    #[case("-1m", None, Some(600))]
    fn timeouts(
        #[case] value: &str,
        #[case] reported: Option<u64>,
        #[case] effective: Option<u64>,
    ) {
        let settings = settings(&group(BUNDLE_UNPACK_TIMEOUT, value)).unwrap();
        assert_eq!(settings.timeout, reported.map(Duration::from_secs));
        let flag = Duration::from_secs(600);
        assert_eq!(settings.timeout_or(flag), effective.map(Duration::from_secs));
        assert_eq!(settings.retry_interval, None);
    }

    #[rstest]
    #[case("5m", Some(300))]
    #[case("0s", None)]
    #[case("-5m", None)]
    fn retry_intervals(#[case] value: &str, #[case] expected: Option<u64>) {
        let settings = settings(&group(BUNDLE_UNPACK_RETRY_INTERVAL, value)).unwrap();
        assert_eq!(settings.retry_interval, expected.map(Duration::from_secs));
    }

    #[test]
    fn a_group_without_annotations_says_nothing() {
        let group = OperatorGroup::new("og", OperatorGroupSpec::default());
        assert_eq!(settings(&group), Ok(UnpackSettings::default()));
    }

    #[rstest]
    #[case(
        BUNDLE_UNPACK_TIMEOUT,
        "failed to parse unpack timeout annotation(operatorframework.io/bundle-unpack-timeout: \
         soon): time: invalid duration \"soon\""
    )]
    #[case(
        BUNDLE_UNPACK_RETRY_INTERVAL,
        "failed to parse unpack retry annotation(\
         operatorframework.io/bundle-unpack-min-retry-interval: soon): time: invalid duration \
         \"soon\""
    )]
    fn what_is_no_duration_is_reported(#[case] key: &str, #[case] expected: &str) {
        assert_eq!(settings(&group(key, "soon")).unwrap_err().to_string(), expected);
    }
}
