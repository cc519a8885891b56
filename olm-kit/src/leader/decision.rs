//! What a replica does with the Lease that it sees.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::LeaseSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;

use super::LeaseOptions;

/// What is seen of the Lease.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    /// Its content; absent when there is no Lease.
    pub(super) spec: Option<&'a LeaseSpec>,
    /// For how long this replica has seen exactly this content.
    pub(super) unchanged: Duration,
}

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LeaseDecision {
    /// Write this: it is taken or renewed.
    Write(LeaseSpec),
    /// Another replica leads.
    Follow {
        /// Who.
        holder: String,
    },
}

/// Decides. `now` is only shown to readers of the Lease.
pub(super) fn decide(view: View<'_>, options: &LeaseOptions, now: Timestamp) -> LeaseDecision {
    let Some(spec) = view.spec else { return LeaseDecision::Write(taken(None, options, now)) };
    match holder(spec) {
        Some(holder) if holder == options.identity => {
            LeaseDecision::Write(renewed(spec, options, now))
        }
        Some(holder) if view.unchanged < duration(spec, options) => {
            LeaseDecision::Follow { holder: holder.to_owned() }
        }
        _ => LeaseDecision::Write(taken(Some(spec), options, now)),
    }
}

/// What a leader leaves behind, so that others need not wait; nothing if it does not lead any more.
pub(super) fn released(spec: &LeaseSpec, options: &LeaseOptions) -> Option<LeaseSpec> {
    (holder(spec) == Some(&options.identity)).then(|| LeaseSpec {
        holder_identity: Some(String::new()),
        lease_duration_seconds: Some(1),
        ..spec.clone()
    })
}

/// Who holds it, if any replica does.
pub(super) fn holder(spec: &LeaseSpec) -> Option<&str> {
    spec.holder_identity.as_deref().filter(|holder| !holder.is_empty())
}

/// How long its holder may be silent, as the holder said itself.
fn duration(spec: &LeaseSpec, options: &LeaseOptions) -> Duration {
    let seconds = spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
    seconds.map_or(options.duration, Duration::from_secs)
}

fn taken(former: Option<&LeaseSpec>, options: &LeaseOptions, now: Timestamp) -> LeaseSpec {
    let transitions = former.map(|spec| spec.lease_transitions.unwrap_or_default());
    let taken = LeaseSpec {
        holder_identity: Some(options.identity.clone()),
        acquire_time: Some(MicroTime(now)),
        lease_transitions: Some(transitions.map_or(0, |count| count.saturating_add(1))),
        ..former.cloned().unwrap_or_default()
    };
    renewed(&taken, options, now)
}

fn renewed(spec: &LeaseSpec, options: &LeaseOptions, now: Timestamp) -> LeaseSpec {
    LeaseSpec {
        renew_time: Some(MicroTime(now)),
        lease_duration_seconds: i32::try_from(options.duration.as_secs()).ok(),
        ..spec.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn options() -> LeaseOptions {
        LeaseOptions::new("olm", "lease", "me".to_owned())
    }

    fn held(by: &str, seconds: Option<i32>) -> LeaseSpec {
        LeaseSpec {
            holder_identity: Some(by.to_owned()),
            lease_duration_seconds: seconds,
            lease_transitions: Some(3),
            ..LeaseSpec::default()
        }
    }

    /// `None` follows, `Some(n)` writes with n transitions.
    #[rstest]
    #[case::never_held(None, 0, Some(0))]
    #[case::mine_is_renewed(Some(held("me", Some(15))), 0, Some(3))]
    #[case::mine_is_renewed_however_old(Some(held("me", Some(15))), 60, Some(3))]
    #[case::released_is_taken_at_once(Some(held("", Some(1))), 0, Some(4))]
    #[case::fresh_is_respected(Some(held("other", Some(15))), 14, None)]
    #[case::silent_is_taken(Some(held("other", Some(15))), 15, Some(4))]
    #[case::the_holder_says_how_long(Some(held("other", Some(40))), 20, None)]
    #[case::it_says_nothing(Some(held("other", None)), 14, None)]
    #[case::a_negative_duration_is_none(Some(held("other", Some(-1))), 14, None)]
    fn decisions(
        #[case] spec: Option<LeaseSpec>,
        #[case] unchanged: u64,
        #[case] transitions: Option<i32>,
    ) {
        let view = View { spec: spec.as_ref(), unchanged: Duration::from_secs(unchanged) };
        match decide(view, &options(), NOW) {
            LeaseDecision::Write(written) => {
                assert_eq!(written.lease_transitions, transitions);
                assert_eq!(holder(&written), Some("me"));
                assert_eq!(written.lease_duration_seconds, Some(15));
            }
            LeaseDecision::Follow { holder } => {
                assert_eq!((holder.as_str(), transitions), ("other", None))
            }
        }
    }

    /// Neither a clock that jumps nor one that differs from the holder's has a say.
    #[rstest]
    #[case::back(-400)]
    #[case::ahead(400)]
    fn a_clock_that_jumps_changes_only_what_is_reported(#[case] days: i64) {
        let jumped = NOW + jiff::SignedDuration::from_hours(24 * days);
        for (spec, unchanged) in [(held("me", Some(15)), 0), (held("other", Some(15)), 14)] {
            let view = View { spec: Some(&spec), unchanged: Duration::from_secs(unchanged) };
            let decided = [NOW, jumped].map(|now| decide(view, &options(), now));
            let reported = decided.map(|decision| match decision {
                LeaseDecision::Write(spec) => {
                    LeaseDecision::Write(LeaseSpec { renew_time: None, ..spec })
                }
                follow => follow,
            });
            assert_eq!(reported[0], reported[1]);
        }
    }

    #[test]
    fn only_the_holder_releases() {
        assert_eq!(released(&held("other", Some(15)), &options()), None);
        let left = released(&held("me", Some(15)), &options()).unwrap();
        assert_eq!(holder(&left), None);
        assert_eq!(left.lease_transitions, Some(3));
    }
}
