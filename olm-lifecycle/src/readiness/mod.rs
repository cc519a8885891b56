//! Readiness in the conditions that tools for any kind understand: `Ready`, and while they are true
//! `Reconciling` and `Stalled` (kstatus of sigs.k8s.io/cli-utils).

mod reported;

use olm_types::conditions::readiness::{READY, RECONCILING, STALLED};

pub(crate) use reported::{Reported, report, says};

/// Longest message, in bytes: conditions that give reasons may be far longer, and are beside it.
const LONGEST: usize = 1_024;

/// Whether an object is as it is to be, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// It is.
    Ready(Why),
    /// It will be: something is at work, or tries again.
    Progressing(Why),
    /// It is not, and a user has to let it go on.
    Waiting(Why),
    /// It is not, and will not be as things are.
    Stalled(Why),
}

/// A reason, and the same in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Why {
    pub(crate) reason: String,
    pub(crate) message: String,
}

impl Why {
    pub(crate) fn new(reason: &str, message: impl Into<String>) -> Self {
        let mut message: String = message.into();
        if message.len() > LONGEST {
            message.truncate(message.floor_char_boundary(LONGEST));
            message.push('…');
        }
        let reason = if reason.is_empty() { "Unknown" } else { reason };
        Self { reason: reason.to_owned(), message }
    }
}

impl Readiness {
    /// Status, reason and message of a condition; none when it is not there.
    pub(crate) fn condition(&self, kind: &str) -> Option<(&'static str, &str, &str)> {
        let (status, why) = match (kind, self) {
            (READY, Self::Ready(why)) => ("True", why),
            (READY, Self::Progressing(why) | Self::Waiting(why) | Self::Stalled(why)) => {
                ("False", why)
            }
            (RECONCILING, Self::Progressing(why)) | (STALLED, Self::Stalled(why)) => ("True", why),
            _ => return None,
        };
        Some((status, &why.reason, &why.message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_cut_between_characters() {
        let why = Why::new("", "ä".repeat(LONGEST));
        assert_eq!((why.reason.as_str(), why.message.len()), ("Unknown", LONGEST + '…'.len_utf8()));
    }

    #[test]
    fn at_most_one_condition_beside_ready_is_there_and_true() {
        let why = || Why::new("R", "m");
        let all = [
            (Readiness::Ready(why()), ["True", "", ""]),
            (Readiness::Progressing(why()), ["False", "True", ""]),
            (Readiness::Waiting(why()), ["False", "", ""]),
            (Readiness::Stalled(why()), ["False", "", "True"]),
        ];
        for (readiness, expected) in all {
            let found = [READY, RECONCILING, STALLED]
                .map(|kind| readiness.condition(kind).map_or("", |(status, ..)| status));
            assert_eq!(found, expected, "{readiness:?}");
        }
    }
}
