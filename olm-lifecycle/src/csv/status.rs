//! How a phase is written into a status (spec olm-operator 1.2).

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use olm_types::api::{ClusterServiceVersionCondition, ClusterServiceVersionStatus};

use super::decision::{PhaseChange, StatusChange};

/// Number of former phases that a status remembers.
pub const HISTORY_LIMIT: usize = 20;

/// The status after the change, or `None` when the change would change nothing.
pub(super) fn changed_status(
    before: &ClusterServiceVersionStatus,
    change: &StatusChange,
    now: Timestamp,
) -> Option<ClusterServiceVersionStatus> {
    let mut status = before.clone();
    if let Some(requirements) = &change.requirements {
        status.requirement_status = requirements.clone();
    }
    if let Some(times) = &change.certificates {
        status.certs_last_updated = Some(whole_seconds(times.updated));
        status.certs_rotate_at = Some(whole_seconds(times.rotate_at));
    }
    if let Some(phase) = change.phase.as_ref().filter(|phase| phase.differs_from(before)) {
        set_phase(&mut status, phase, now);
    } else if status != *before {
        status.last_update_time = Some(whole_seconds(now));
    }
    (status != *before).then(|| with_cleanup(status))
}

/// v0 writes this field, always empty, with every status.
fn with_cleanup(mut status: ClusterServiceVersionStatus) -> ClusterServiceVersionStatus {
    status.cleanup.get_or_insert_default();
    status
}

/// A time as the API holds it: without fractions of a second.
pub(super) fn whole_seconds(now: Timestamp) -> Time {
    Time(Timestamp::from_second(now.as_second()).unwrap_or(now))
}

/// Time since the current phase was entered; zero when that is not known.
pub(super) fn time_in_phase(
    status: &ClusterServiceVersionStatus,
    now: Timestamp,
) -> SignedDuration {
    let entered = status.last_transition_time.as_ref();
    entered.map_or(SignedDuration::ZERO, |entered| now.duration_since(entered.0))
}

fn set_phase(status: &mut ClusterServiceVersionStatus, change: &PhaseChange, now: Timestamp) {
    let now = whole_seconds(now);
    if status.phase != change.phase {
        status.phase = change.phase;
        status.last_transition_time = Some(now.clone());
    }
    status.last_update_time = Some(now);
    status.message = Some(change.message.clone());
    status.reason = Some(change.reason.to_owned());
    remember(status);
}

/// Appends the current phase to the history unless the last entry has the same phase and reason.
fn remember(status: &mut ClusterServiceVersionStatus) {
    let same = status
        .conditions
        .last()
        .is_some_and(|last| last.phase == status.phase && last.reason == status.reason);
    if same {
        return;
    }
    status.conditions.push(ClusterServiceVersionCondition {
        phase: status.phase,
        message: status.message.clone(),
        reason: status.reason.clone(),
        last_update_time: status.last_update_time.clone(),
        last_transition_time: status.last_transition_time.clone(),
    });
    let surplus = status.conditions.len().saturating_sub(HISTORY_LIMIT);
    status.conditions.drain(..surplus);
}

#[cfg(test)]
mod tests {
    use super::*;
    use olm_types::api::CsvPhase;
    use rstest::rstest;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + seconds).unwrap()
    }

    fn to(phase: CsvPhase, reason: &'static str, message: &str) -> StatusChange {
        StatusChange {
            phase: Some(PhaseChange { phase, reason, message: message.to_owned() }),
            ..StatusChange::default()
        }
    }

    #[test]
    fn a_new_phase_moves_both_times_and_is_remembered() {
        let before = ClusterServiceVersionStatus::default();
        let first = changed_status(&before, &to(CsvPhase::Pending, "A", "a"), at(0)).unwrap();
        assert_eq!(first.last_transition_time, Some(Time(at(0))));
        let second = changed_status(&first, &to(CsvPhase::Failed, "B", "b"), at(5)).unwrap();
        assert_eq!(second.last_transition_time, Some(Time(at(5))));
        assert_eq!(second.conditions.len(), 2);
    }

    #[test]
    fn another_message_is_written_but_not_remembered() {
        let before = ClusterServiceVersionStatus::default();
        let first = changed_status(&before, &to(CsvPhase::Pending, "A", "a"), at(0)).unwrap();
        let second = changed_status(&first, &to(CsvPhase::Pending, "A", "b"), at(5)).unwrap();
        assert_eq!(second.last_update_time, Some(Time(at(5))));
        assert_eq!(second.last_transition_time, Some(Time(at(0))));
        assert_eq!(second.conditions.len(), 1);
    }

    #[test]
    fn nothing_changes_when_all_is_said_already() {
        let before = ClusterServiceVersionStatus::default();
        let change = to(CsvPhase::Pending, "A", "a");
        let first = changed_status(&before, &change, at(0)).unwrap();
        assert_eq!(changed_status(&first, &change, at(60)), None);
    }

    #[rstest]
    #[case::below(18, 19)]
    #[case::at_the_limit(20, 20)]
    #[case::above(25, 20)]
    fn the_history_is_bounded(#[case] earlier: usize, #[case] kept: usize) {
        let entry = |index: usize| ClusterServiceVersionCondition {
            phase: CsvPhase::Failed,
            reason: Some(index.to_string()),
            ..ClusterServiceVersionCondition::default()
        };
        let before = ClusterServiceVersionStatus {
            conditions: (0..earlier).map(entry).collect(),
            ..ClusterServiceVersionStatus::default()
        };
        let after = changed_status(&before, &to(CsvPhase::Pending, "A", "a"), at(0)).unwrap();
        assert_eq!(after.conditions.len(), kept);
        assert_eq!(after.conditions.last().and_then(|last| last.reason.as_deref()), Some("A"));
    }
}
