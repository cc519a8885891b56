//! When a catalog image is looked at again (`updateStrategy.registryPoll.interval`).

use std::time::Duration;

use jiff::Timestamp;
use kube_core::ResourceExt;
use olm_types::api::{CatalogSource, RegistryPoll, source_type};
use olm_types::duration::GoDuration;
use olm_types::hash;

/// The interval of catalogs that name none that can be used.
const DEFAULT: Duration = Duration::from_secs(15 * 60);
/// No image is looked at more often, whatever a CatalogSource says.
const SHORTEST: Duration = Duration::from_secs(1);
/// Longest time between two looks at a polled catalog, as in v0.
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);

/// How often a catalog image is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    /// Time between two looks.
    pub(super) length: Duration,
    /// What is wrong with what the spec says, when the default stands in for it.
    pub(super) problem: Option<String>,
}

/// Whether a newer image is looked for at all: that takes an image, and a poll interval.
pub(super) fn polling(catalog: &CatalogSource) -> Option<Interval> {
    let spec = &catalog.spec;
    let poll = spec.update_strategy.as_ref().and_then(|strategy| strategy.registry_poll.as_ref());
    let image = spec.image.as_deref().unwrap_or_default();
    let polled = spec.source_type == source_type::GRPC && !image.is_empty();
    poll.filter(|_| polled).map(parse)
}

/// Whether it is time for a look.
pub fn is_poll_due(catalog: &CatalogSource, now: Timestamp) -> bool {
    polling(catalog).is_some_and(|interval| until_due(catalog, &interval, now).is_none())
}

/// How long until the next look; catalogs with one interval are spread over a tenth of it, by
/// name, so that they do not start their Pods all at once.
pub(super) fn next_look(catalog: &CatalogSource, interval: &Interval, now: Timestamp) -> Duration {
    let due = until_due(catalog, interval, now).unwrap_or_default();
    let wait = due + spread(catalog, interval.length);
    wait.clamp(SHORTEST, LONGEST_WAIT)
}

fn parse(poll: &RegistryPoll) -> Interval {
    match GoDuration::parse(poll.interval.as_deref().unwrap_or_default()) {
        Ok(length) => {
            let length = length.unsigned().unwrap_or_default().max(SHORTEST);
            Interval { length, problem: None }
        }
        Err(error) => {
            let problem = format!(
                "error parsing spec.updateStrategy.registryPoll.interval. Using the default value \
                 of 15m0s instead. Error: {error}"
            );
            Interval { length: DEFAULT, problem: Some(problem) }
        }
    }
}

/// The time until an interval since the last look, or since the creation, has passed; nothing when
/// it has.
fn until_due(catalog: &CatalogSource, interval: &Interval, now: Timestamp) -> Option<Duration> {
    let last =
        catalog.status.as_ref().and_then(|status| status.latest_image_registry_poll.as_ref());
    let since = last.or(catalog.metadata.creation_timestamp.as_ref());
    let since = since.map_or(now, |time| time.0);
    let passed = Duration::try_from(now.duration_since(since)).unwrap_or_default();
    interval.length.checked_sub(passed)
}

/// A part of a tenth of the interval that is always the same for one catalog.
pub(super) fn spread(catalog: &CatalogSource, interval: Duration) -> Duration {
    let namespace = catalog.namespace().unwrap_or_default();
    let hash = hash::alongside_key(&namespace, &catalog.name_any());
    let share = u64::from_str_radix(&hash, 16).unwrap_or_default() % 1_000;
    interval / 10_000 * u32::try_from(share).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use olm_types::api::{CatalogSourceSpec, CatalogSourceStatus};
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn now() -> Timestamp {
        "2026-01-01T12:00:00Z".parse().unwrap()
    }

    fn ago(duration: &str) -> k8s_openapi::apimachinery::pkg::apis::meta::v1::Time {
        let ago = GoDuration::parse(duration).unwrap().unsigned().unwrap();
        k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(now() - ago)
    }

    fn catalog(interval: serde_json::Value, created: &str, polled: Option<&str>) -> CatalogSource {
        let spec: CatalogSourceSpec = serde_json::from_value(json!({
            "sourceType": "grpc", "image": "i", "updateStrategy": {"registryPoll": interval},
        }))
        .unwrap();
        let mut catalog = CatalogSource::new("c", spec);
        catalog.metadata.creation_timestamp = Some(ago(created));
        let latest_image_registry_poll = polled.map(ago);
        catalog.status =
            Some(CatalogSourceStatus { latest_image_registry_poll, ..Default::default() });
        catalog
    }

    /// The rows of spec catalog-operator 9.9. Where v0 waits for a whole interval after each look,
    /// we wait for the rest of it.
    #[rstest]
    #[case::whole("10m", "0s", None, "10m")]
    #[case::whole_of_the_longest("15m", "0s", None, "15m")]
    #[case::rest("30m", "2h", Some("29m59s"), "1s")]
    #[case::rest_of_a_short_one("10m", "2h", Some("5m"), "5m")]
    #[case::since_creation("40m", "35m", None, "5m")]
    #[case::rest_of_a_long_one("40m", "2h", Some("30m"), "10m")]
    #[case::never_longer("1h", "15m", None, "15m")]
    #[case::much_longer("10h", "20h", Some("15m"), "15m")]
    #[case::overdue("1m", "1h", None, "1s")]
    fn waits(
        #[case] interval: &str,
        #[case] created: &str,
        #[case] polled: Option<&str>,
        #[case] expected: &str,
    ) {
        let catalog = catalog(json!({"interval": interval}), created, polled);
        let interval = polling(&catalog).unwrap();
        let wait = next_look(&catalog, &interval, now());
        let expected = GoDuration::parse(expected).unwrap().unsigned().unwrap();
        let latest = (expected + interval.length / 10).min(LONGEST_WAIT);
        assert!((expected..=latest).contains(&wait), "{wait:?}");
        assert_eq!(wait, next_look(&catalog, &interval, now()), "always the same");
    }

    #[rstest]
    #[case("1m", "61s", true)]
    #[case("1m", "59s", false)]
    #[case("0s", "2s", true)]
    #[case("-5m", "0s", false)]
    fn due(#[case] interval: &str, #[case] polled: &str, #[case] is_due: bool) {
        let catalog = catalog(json!({"interval": interval}), "1h", Some(polled));
        assert_eq!(is_poll_due(&catalog, now()), is_due);
    }

    #[rstest]
    #[case(json!({"interval": "soon"}), "time: invalid duration \"soon\"")]
    #[case(json!({"interval": "5"}), "time: missing unit in duration \"5\"")]
    #[case(json!({}), "time: invalid duration \"\"")]
    fn malformed(#[case] poll: serde_json::Value, #[case] error: &str) {
        let interval = polling(&catalog(poll, "0s", None)).unwrap();
        assert_eq!(interval.length, DEFAULT);
        let expected = format!(
            "error parsing spec.updateStrategy.registryPoll.interval. Using the default value of \
             15m0s instead. Error: {error}"
        );
        assert_eq!(interval.problem, Some(expected));
    }

    #[test]
    fn who_is_polled() {
        let mut catalog = catalog(json!({"interval": "1m"}), "1h", None);
        assert!(is_poll_due(&catalog, now()));
        catalog.spec.image = None;
        assert!(!is_poll_due(&catalog, now()));
        catalog.spec.image = Some("i".to_owned());
        catalog.spec.update_strategy = Some(Default::default());
        assert!(!is_poll_due(&catalog, now()));
    }
}
