//! Upgrades under way.
//!
//! From the creation of a new version until the old one is gone, both CSVs are in the namespace and
//! only the new one belongs to a Subscription. The two contradict each other, so there is no
//! solution until the old one is gone. v0 reports that as a failed resolution during every upgrade;
//! here it is reported when the upgrade does not go on.

use std::time::Duration;

use jiff::Timestamp;
use olm_types::api::{ClusterServiceVersion, CsvPhase};

use crate::csv::Chain;

/// What a new version may wait for its requirements: steps of its InstallPlan that come after the
/// CSV take seconds.
const GRACE: Duration = Duration::from_secs(60);

/// How long to wait at most before the CSVs of a namespace are looked at again, when one of them
/// takes over from another; nothing when none does, or when that is stuck.
pub fn upgrade_under_way<'a>(
    csvs: impl IntoIterator<Item = &'a ClusterServiceVersion>,
    now: Timestamp,
) -> Option<Duration> {
    let csvs: Vec<_> = csvs.into_iter().collect();
    let chain = Chain::new(csvs.iter().copied());
    let replaced = csvs.iter().filter(|csv| csv.phase() != CsvPhase::Failed);
    replaced.filter_map(|old| wait(chain.replacement_of(old)?, now)).min()
}

/// An install that has begun ends by itself, in success or in failure. What comes before may wait
/// for something that is not coming.
fn wait(new: &ClusterServiceVersion, now: Timestamp) -> Option<Duration> {
    match new.phase() {
        CsvPhase::None | CsvPhase::Pending => {
            let waited = Duration::try_from(now.duration_since(since(new)?)).unwrap_or_default();
            GRACE.checked_sub(waited).filter(|rest| !rest.is_zero())
        }
        CsvPhase::InstallReady
        | CsvPhase::Installing
        | CsvPhase::Succeeded
        | CsvPhase::Replacing
        | CsvPhase::Deleting => Some(GRACE),
        CsvPhase::Failed | CsvPhase::Unknown => None,
    }
}

/// When the CSV entered its phase.
fn since(csv: &ClusterServiceVersion) -> Option<Timestamp> {
    let entered = csv.status.as_ref().and_then(|status| status.last_transition_time.as_ref());
    entered.or(csv.metadata.creation_timestamp.as_ref()).map(|time| time.0)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn csv(name: &str, replaces: &str, phase: &str) -> ClusterServiceVersion {
        let time = "2026-01-01T00:00:00Z";
        let object = json!({
            "metadata": {"name": name, "creationTimestamp": time},
            "spec": {"replaces": replaces},
            "status": {"phase": phase, "lastTransitionTime": time},
        });
        serde_json::from_value(object).unwrap()
    }

    #[rstest]
    #[case::just_created("Succeeded", "", 0, Some(60))]
    #[case::waits_for_its_plan("Replacing", "Pending", 20, Some(40))]
    #[case::waits_for_no_other("Replacing", "Pending", 60, None)]
    #[case::installs("Replacing", "Installing", 200, Some(60))]
    #[case::done("Deleting", "Succeeded", 0, Some(60))]
    #[case::broken("Replacing", "Failed", 0, None)]
    #[case::the_old_one_is_broken("Failed", "Pending", 0, None)]
    fn phases(
        #[case] old: &str,
        #[case] new: &str,
        #[case] waited: i64,
        #[case] rest: Option<u64>,
    ) {
        let csvs = [csv("a", "", old), csv("b", "a", new)];
        let now = "2026-01-01T00:00:00Z".parse::<Timestamp>().unwrap();
        let now = now + jiff::SignedDuration::from_secs(waited);
        assert_eq!(upgrade_under_way(&csvs, now), rest.map(Duration::from_secs));
    }

    #[test]
    fn versions_side_by_side_are_no_upgrade() {
        let csvs = [csv("a", "", "Succeeded"), csv("b", "x", "Pending")];
        assert_eq!(upgrade_under_way(&csvs, Timestamp::UNIX_EPOCH), None);
    }
}
