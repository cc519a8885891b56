//! Whether servers still have what the API server needs to call them, and the rotation of their
//! certificates (spec olm-operator 1.5, 3.6, 3.7).

use jiff::{SignedDuration, Timestamp};
use olm_effect::Effect;
use olm_types::api::CsvPhase;
use olm_types::reasons::csv as reasons;

use super::health::pause_left;
use super::install::installer;
use super::{Stage, Verdict};
use crate::api_service::check_resources;
use crate::certificates::{Announcement, Condition, announce, condition, is_announced, trim};
use crate::csv::decision::Decision;
use crate::csv::pass::{Pass, Request};
use crate::csv::serving::{callers, has_servers};
use crate::csv::status::time_in_phase;
use crate::install::{Rollout, rollout};

/// How long callers get to learn whom they are to trust before a server shows it: much longer than
/// it takes the watches of API servers, and nothing compared with the day that is left.
const TIME_TO_LEARN: SignedDuration = SignedDuration::from_secs(5);

/// How long a former authority stays trusted after all pods were replaced: pods that are being
/// ended may answer for the grace period that most of them have, and some more.
const TIME_TO_END: SignedDuration = SignedDuration::from_mins(2);

/// Longest time between two looks at certificates. A machine may sleep, so that one long pause
/// would end too late.
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_hours(1);

/// Checks the servers of a CSV in one phase.
///
/// It stands in the list twice, since v0 looks at servers before requirements in one phase and
/// after them in the other.
pub struct Servers {
    phase: CsvPhase,
}

impl Servers {
    /// Looks at CSVs that succeeded.
    pub const SUCCEEDED: Self = Self { phase: CsvPhase::Succeeded };
    /// Looks at CSVs that failed.
    pub const FAILED: Self = Self { phase: CsvPhase::Failed };
}

impl Stage for Servers {
    fn judge(&self, pass: &Pass<'_>) -> Verdict {
        if pass.observed.phase() != self.phase || !has_servers(pass.observed) {
            return Verdict::Continue;
        }
        // A failed install is tried again after a pause, whatever is missing meanwhile.
        if pause_left(pass).is_some() {
            return Verdict::Continue;
        }
        match self.check_resources(pass) {
            Some(verdict) => verdict,
            None => self.check_certificates(pass),
        }
    }
}

impl Servers {
    fn check_resources(&self, pass: &Pass<'_>) -> Option<Verdict> {
        let errors = check_resources(&pass.observed.serving_csv()).err()?;
        let text = errors.to_string();
        Some(Verdict::Stop(match self.phase {
            CsvPhase::Succeeded => {
                Decision::enter(CsvPhase::Failed, reasons::API_SERVICE_RESOURCE_ISSUE, text)
            }
            _ if errors.is_actionable() => {
                let reason = reasons::API_SERVICE_RESOURCES_NEED_REINSTALL;
                Decision::enter(CsvPhase::Pending, reason, text)
            }
            _ => Decision::nothing().note(text),
        }))
    }

    fn check_certificates(&self, pass: &Pass<'_>) -> Verdict {
        let observed = pass.observed;
        match condition(&observed.csv, &observed.serving, pass.now) {
            Condition::Unusable { secret, reason } => {
                Verdict::Stop(self.rotate().note(format!("Secret {secret}: {reason}")))
            }
            Condition::Due => match announce(&observed.csv, &observed.serving, pass.now) {
                Ok(announcement) => Verdict::Stop(self.announce(pass, announcement)),
                Err(order) => Verdict::Need(Request::Certificates(order)),
            },
            Condition::Good { has_surplus: true, .. } if self.may_forget(pass) => {
                let trimmed = trim(&observed.csv, &observed.serving);
                Verdict::Stop(forget(pass, trimmed))
            }
            Condition::Good { .. } => Verdict::Continue,
        }
    }

    fn rotate(&self) -> Decision {
        let message = match self.phase {
            CsvPhase::Succeeded => "CSV owns resources that require a cert refresh",
            _ => "owned APIServices need cert refresh",
        };
        Decision::enter(CsvPhase::Pending, reasons::NEEDS_CERT_ROTATION, message)
    }

    /// The new certificates are put beside the old ones, and callers learn to trust both.
    fn announce(&self, pass: &Pass<'_>, announcement: Announcement) -> Decision {
        let Announcement { secrets: mut effects, trusted } = announcement;
        match callers(pass.observed, &trusted) {
            Ok(writes) => effects.extend(writes.updates),
            Err(error) => return Decision::nothing().note(error.to_string()),
        }
        self.rotate().after(under_identity(pass, effects))
    }

    fn may_forget(&self, pass: &Pass<'_>) -> bool {
        let over = forgets_at(pass).is_none_or(|at| at <= pass.now);
        let deployments = pass.observed.deployments.values();
        let mut own =
            deployments.filter(|one| crate::install::is_ours(&pass.observed.csv, &one.metadata));
        self.phase == CsvPhase::Succeeded && over && own.all(|one| rollout(one) == Rollout::Ready)
    }
}

/// Callers first: should the second half be lost, all of it is done again.
fn forget(pass: &Pass<'_>, trimmed: Announcement) -> Decision {
    match callers(pass.observed, &trimmed.trusted) {
        Ok(writes) => {
            let effects = writes.updates.into_iter().chain(trimmed.secrets).collect();
            Decision::act(under_identity(pass, effects))
        }
        Err(error) => Decision::nothing().note(error.to_string()),
    }
}

/// Holds a rotation until callers had time to learn whom they are to trust.
pub struct Learning;

impl Stage for Learning {
    fn judge(&self, pass: &Pass<'_>) -> Verdict {
        let observed = pass.observed;
        let is_rotating = observed.phase() == CsvPhase::Pending
            && observed.reason() == reasons::NEEDS_CERT_ROTATION
            && is_announced(&observed.csv, &observed.serving);
        let left = TIME_TO_LEARN.saturating_sub(time_in_phase(&observed.status(), pass.now));
        if !is_rotating || left <= SignedDuration::ZERO {
            return Verdict::Continue;
        }
        let at = pass.now.checked_add(left).unwrap_or(Timestamp::MAX);
        Verdict::Stop(Decision::nothing().requeue_at(at).note("callers learn the new authority"))
    }
}

/// When the certificates of a CSV that is well have to be looked at again.
pub(super) fn next_look(pass: &Pass<'_>) -> Option<Timestamp> {
    let observed = pass.observed;
    let Condition::Good { rotate_at, has_surplus } =
        condition(&observed.csv, &observed.serving, pass.now)
    else {
        return None;
    };
    let forgets_at = forgets_at(pass).filter(|at| has_surplus && *at > pass.now);
    let longest = pass.now.checked_add(LONGEST_PAUSE).ok();
    let first = [rotate_at, forgets_at].into_iter().flatten().min()?;
    Some(longest.map_or(first, |longest| longest.min(first)))
}

/// When former authorities may be forgotten; absent when no rotation is on record.
fn forgets_at(pass: &Pass<'_>) -> Option<Timestamp> {
    let status = pass.observed.status();
    let times = [status.certs_last_updated, status.last_transition_time];
    let last = times.into_iter().flatten().map(|time| time.0).max()?;
    last.checked_add(TIME_TO_END).ok()
}

fn under_identity(pass: &Pass<'_>, effects: Vec<Effect>) -> Vec<Effect> {
    let Ok(identity) = installer(pass.observed) else { return Vec::new() };
    effects.into_iter().map(|effect| effect.acting_as(identity.clone())).collect()
}
