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

/// What counts for one bundle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnpackLimits {
    /// How long an attempt may take; nothing for no limit.
    pub timeout: Option<Duration>,
    /// How long after a failure the next attempt is made; nothing to leave it to the Job's own end.
    pub retry_interval: Option<Duration>,
    /// Whether its catalog is a global one, so that other namespaces wait for the same attempt.
    pub is_shared: bool,
}

/// Shortest time between attempts at a bundle of a global catalog, whatever a group asks for.
const SHARED_INTERVAL: Duration = Duration::from_secs(5);

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
    /// What counts for a bundle when the flag says `default`, zero for no limit.
    ///
    /// Bundles of global catalogs are unpacked once for all namespaces. For these a group may ask for more
    /// time than the flag gives, and not for less: the other namespaces would fail with it
    /// (docs/security.md).
    pub fn limits(&self, default: Duration, is_shared: bool) -> UnpackLimits {
        let limit = |timeout: Duration| Some(timeout).filter(|timeout| !timeout.is_zero());
        let (asked, given) = (limit(self.timeout.unwrap_or(default)), limit(default));
        let longer = asked.zip(given).map(|(asked, given)| asked.max(given));
        let interval = self.retry_interval;
        let seldom = interval.map(|interval| interval.max(SHARED_INTERVAL));
        UnpackLimits {
            timeout: if is_shared { longer } else { asked },
            retry_interval: if is_shared { seldom } else { interval },
            is_shared,
        }
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
        assert_eq!(settings.limits(flag, false).timeout, effective.map(Duration::from_secs));
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

    /// Seconds of the annotation and of the flag, and what counts for a bundle of a global catalog.
    #[rstest]
    #[case::less(Some(1), 600, Some(600))]
    #[case::more(Some(3600), 600, Some(3600))]
    #[case::nothing(None, 600, Some(600))]
    #[case::no_limit(Some(0), 600, None)]
    #[case::less_than_no_limit(Some(1), 0, None)]
    fn what_all_namespaces_wait_for_gets_no_less_time_than_the_flag_says(
        #[case] asked: Option<u64>,
        #[case] flag: u64,
        #[case] expected: Option<u64>,
    ) {
        let timeout = asked.map(Duration::from_secs);
        let settings = UnpackSettings { timeout, retry_interval: Some(Duration::from_nanos(1)) };
        let limits = settings.limits(Duration::from_secs(flag), true);
        assert_eq!(limits.timeout, expected.map(Duration::from_secs));
        assert_eq!(limits.retry_interval, Some(SHARED_INTERVAL));
        let own = settings.limits(Duration::from_secs(flag), false);
        assert_eq!(own.retry_interval, settings.retry_interval);
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
