//! Which of several Jobs for one bundle counts, and what to do about them.
//!
//! A Job that is still at work, or done, counts more than one that failed; of failed ones the last.
//! Failed Jobs stay for people to look at, but not too many of them.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::batch::v1::{Job, JobCondition};
use kube_core::ResourceExt;
use olm_effect::{Action, Effect, Propagation};

use super::{UnpackLimits, derives, job};
use crate::writes::target_of;

/// How many failed Jobs of a bundle stay beside the first one.
pub const RETAINED: usize = 5;

/// The Jobs of one bundle, the one that counts first.
#[derive(Clone, Debug, Default)]
pub struct Attempts(Vec<Arc<Job>>);

/// Whether a bundle is being unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptState {
    /// None was begun.
    None,
    /// One is at work: it takes a Pod, or a slot of the process.
    UnderWay,
    /// The last one has succeeded or failed.
    Ended,
}

/// What follows from the Jobs that there are.
#[derive(Clone, Debug, PartialEq)]
pub enum JobDecision {
    /// Carry this out; no Job counts before that is done.
    Start(Effect),
    /// This Job counts.
    Watch {
        /// The Job.
        job: Arc<Job>,
        /// Deletions of Jobs that are not needed any more.
        cleanup: Vec<Effect>,
        /// When it is time for another one, if this one failed and the OperatorGroup says so.
        retry_in: Option<Duration>,
    },
}

impl Attempts {
    /// Sorts the Jobs of one bundle.
    pub fn new(mut jobs: Vec<Arc<Job>>) -> Self {
        jobs.sort_by(|a, b| older(a, b).then_with(|| a.name_any().cmp(&b.name_any())));
        Self(jobs)
    }

    /// The Job that counts.
    pub fn latest(&self) -> Option<&Arc<Job>> {
        self.0.first()
    }

    /// Whether there is none, or one is at work, or all have ended.
    pub fn state(&self) -> AttemptState {
        match self.latest() {
            None => AttemptState::None,
            Some(job) if is_complete(job) || failure(job).is_some() => AttemptState::Ended,
            Some(_) => AttemptState::UnderWay,
        }
    }

    /// Failed Jobs too many when `retained` stay. The first one ever stays, too, unless none does;
    /// no more than `retained` go at a time.
    pub fn surplus(&self, retained: usize) -> &[Arc<Job>] {
        if retained == 0 {
            return self.0.get(1..).unwrap_or_default();
        }
        let end = self.0.len().saturating_sub(1).min(retained.saturating_mul(2));
        self.0.get(retained..end).unwrap_or_default()
    }

    /// What to do so that the bundle gets unpacked as `wanted` says.
    pub fn next(&self, wanted: &Job, limits: &UnpackLimits, now: Timestamp) -> JobDecision {
        let Some(latest) = self.latest() else { return start(wanted.clone()) };
        let retry_in = limits.retry_interval.and_then(|interval| remaining(latest, interval, now));
        if retry_in == Some(Duration::ZERO) {
            return start(job::another(wanted.clone()));
        }
        if !fits(wanted, latest, limits.is_shared) {
            return JobDecision::Start(delete(latest));
        }
        let surplus = if retry_in.is_some() { self.surplus(RETAINED) } else { &[] };
        JobDecision::Watch {
            job: Arc::clone(latest),
            cleanup: surplus.iter().map(|job| delete(job)).collect(),
            retry_in,
        }
    }
}

/// How the Job failed, if it did.
pub fn failure(job: &Job) -> Option<&JobCondition> {
    condition(job, "Failed")
}

/// Whether the Job did its work.
pub fn is_complete(job: &Job) -> bool {
    condition(job, "Complete").is_some()
}

/// Whether a Job is what is wanted. One that several namespaces wait for goes on whatever deadline each of
/// them asks for; only after it has failed, who wants more time has it begun anew.
fn fits(wanted: &Job, found: &Job, is_shared: bool) -> bool {
    let owners = (&wanted.metadata.owner_references, &found.metadata.owner_references);
    let mut spec = wanted.spec.clone();
    let is_in_time = !is_shared || failure(found).is_none() || deadline(found) >= deadline(wanted);
    if let Some(spec) = spec.as_mut().filter(|_| is_shared) {
        spec.active_deadline_seconds = None;
    }
    derives(owners.0, owners.1) && derives(&spec, &found.spec) && is_in_time
}

fn deadline(job: &Job) -> i64 {
    job.spec.as_ref().and_then(|spec| spec.active_deadline_seconds).unwrap_or(i64::MAX)
}

fn condition<'a>(job: &'a Job, kind: &str) -> Option<&'a JobCondition> {
    let mut conditions = job.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.find(|condition| condition.type_ == kind && condition.status == "True")
}

fn older(a: &Job, b: &Job) -> Ordering {
    let failed_at =
        |condition: &JobCondition| condition.last_transition_time.as_ref().map(|time| time.0);
    let created = |job: &Job| job.metadata.creation_timestamp.as_ref().map(|time| time.0);
    match (failure(a), failure(b)) {
        (None, None) => created(b).cmp(&created(a)),
        (None, Some(_)) => Ordering::Less,
        (Some(_), None) => Ordering::Greater,
        (Some(a), Some(b)) => failed_at(b).cmp(&failed_at(a)),
    }
}

/// How long a failed Job still has before another one takes its place; nothing when it did not
/// fail.
fn remaining(job: &Job, interval: Duration, now: Timestamp) -> Option<Duration> {
    let failed_at = failure(job)?.last_transition_time.as_ref().map(|time| time.0);
    let interval = SignedDuration::try_from(interval).unwrap_or(SignedDuration::MAX);
    let due = failed_at.unwrap_or(Timestamp::UNIX_EPOCH).saturating_add(interval);
    let rest = due.unwrap_or(Timestamp::MAX).duration_since(now);
    // Only after the interval, not at its end.
    Some(Duration::try_from(rest).map_or(Duration::ZERO, |rest| rest + Duration::from_secs(1)))
}

fn start(job: Job) -> JobDecision {
    let target = target_of(&Job {
        metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
            generate_name: None,
            ..job.metadata.clone()
        },
        ..Job::default()
    });
    let manifest = serde_json::to_value(&job).unwrap_or_default();
    JobDecision::Start(Effect::create(target, manifest))
}

fn delete(job: &Job) -> Effect {
    let uid = job.metadata.uid.clone();
    let propagation = Propagation::Background;
    Effect::new(target_of(job), Action::Delete { uid, propagation, grace_seconds: None })
}
