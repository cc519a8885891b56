//! What a replica does next about the content of a catalog.
//!
//! The leader resolves the tag to a digest, now and then anew, and every replica obtains the content of
//! the digest that counts: the leader of what it resolved, others of what the leader recorded once it
//! had it. What cannot be used is tried again after a pause that grows; what is there meanwhile stays.

use std::time::Duration;

use jiff::Timestamp;
use olm_types::api::CatalogSource;
use olm_types::reasons::catalog_source as reasons;

use super::super::interval;
use super::slice::Record;
use super::{HostedContent, PullFailure};

/// First pause after a failure; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
/// Longest pause after what may pass by itself.
const LONGEST_PAUSE: Duration = Duration::from_secs(15 * 60);
/// Pause after content that is as it is: only another digest helps.
const UNUSABLE_PAUSE: Duration = Duration::from_secs(3_600);
/// Reasons of such content.
const UNUSABLE: [&str; 3] = [reasons::NOT_FILE_BASED, "ImageInvalid", "CatalogInvalid"];

/// What a replica is to have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The image that the spec names.
    pub image: String,
    /// The digest in that name, if it has one.
    pub pinned: Option<String>,
    /// The folder of the catalog in the image that the spec names, if it does.
    pub folder: Option<String>,
    /// What the leader recorded.
    pub recorded: Option<Record>,
    /// Whether this replica leads.
    pub leads: bool,
    /// Time between two looks at what the image is now; none when there is one look only.
    pub period: Option<Duration>,
}

/// What an image was when its registry was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The image.
    pub image: String,
    /// Its digest.
    pub digest: String,
    /// When that was.
    pub at: Timestamp,
}

/// Where a replica is with one catalog.
#[derive(Clone, Debug)]
pub struct Pulling {
    /// What it is to have.
    pub target: Target,
    /// What it has.
    pub content: Option<HostedContent>,
    /// What it resolved last.
    pub resolved: Option<Resolved>,
    /// How the registry failed to say what the image is, last.
    pub failed_look: Option<PullFailure>,
    /// How a pull failed last.
    pub failed_pull: Option<PullFailure>,
    /// Since when it looks after the catalog.
    pub since: Timestamp,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// The registry is asked for the digest of the image.
    Resolve,
    /// The content of this digest is taken from the disk, or else pulled.
    Obtain(String),
    /// Nothing for this time, unless something changes.
    Wait(Duration),
    /// Nothing until something changes.
    Idle,
}

/// Decides on the next step.
pub fn next_step(pulling: &Pulling, now: Timestamp) -> NextStep {
    let of_image = |failed: &&PullFailure| failed.image == pulling.target.image;
    let failed_look = pulling.failed_look.as_ref().filter(of_image);
    let Some(digest) = pulling.wanted_digest() else {
        return match pulling.target.leads {
            true => rest(failed_look, now).map_or(NextStep::Resolve, NextStep::Wait),
            false => NextStep::Idle,
        };
    };
    let look = pulling.next_look(failed_look, now);
    if !pulling.has(&digest) {
        let failed_pull = pulling.failed_pull.as_ref().filter(of_image);
        let of_this = failed_pull.filter(|failed| failed.digest.as_ref() == Some(&digest));
        let Some(rest) = rest(of_this, now) else {
            let is_gone = of_this.is_some_and(|failed| pulling.may_have_moved(failed));
            return match (is_gone, rest(failed_look, now)) {
                (false, _) => NextStep::Obtain(digest),
                (true, None) => NextStep::Resolve,
                (true, Some(rest)) => NextStep::Wait(rest),
            };
        };
        // Meanwhile the image may have become another one.
        return match look {
            Some(Duration::ZERO) => NextStep::Resolve,
            Some(look) => NextStep::Wait(look.min(rest)),
            None => NextStep::Wait(rest),
        };
    }
    match look {
        Some(Duration::ZERO) => NextStep::Resolve,
        Some(look) => NextStep::Wait(look),
        None => NextStep::Idle,
    }
}

/// Time between two looks at what the image of a catalog is now, spread by its name over a tenth; none
/// when its spec asks for no looks.
pub fn poll_period(catalog: &CatalogSource) -> Option<Duration> {
    let interval = interval::polling(catalog)?;
    Some(interval.length.saturating_add(interval::spread(catalog, interval.length)))
}

impl Pulling {
    /// The digest whose content this replica is to have.
    fn wanted_digest(&self) -> Option<String> {
        let Target { image, pinned, recorded, leads, .. } = &self.target;
        let resolved = self.resolved.as_ref().filter(|found| *leads && found.image == *image);
        let recorded = recorded.as_ref().filter(|record| record.image == *image);
        let resolved = resolved.map(|found| &found.digest);
        pinned.as_ref().or(resolved).or(recorded.map(|record| &record.digest)).cloned()
    }

    fn has(&self, digest: &str) -> bool {
        let folder = &self.target.folder;
        let same = |content: &HostedContent| content.digest == digest && content.folder == *folder;
        self.content.as_ref().is_some_and(same)
    }

    /// Whether what is not in the registry any more may be there under another digest.
    fn may_have_moved(&self, failure: &PullFailure) -> bool {
        let before = |found: &Resolved| found.at <= failure.at;
        failure.reason == "ImageNotFound"
            && self.target.leads
            && self.target.pinned.is_none()
            && self.resolved.as_ref().is_none_or(before)
    }

    /// How long until the registry is asked again what the image is; none when it is not.
    fn next_look(&self, failed: Option<&PullFailure>, now: Timestamp) -> Option<Duration> {
        let Target { pinned, leads, period, .. } = &self.target;
        let period = period.filter(|_| *leads && pinned.is_none())?;
        if failed.is_some() {
            return Some(rest(failed, now).unwrap_or_default());
        }
        let last = self.resolved.as_ref().map_or(self.since, |found| found.at.max(self.since));
        Some(period.saturating_sub(passed(last, now)))
    }
}

/// What is left of the pause after a failure.
fn rest(failure: Option<&PullFailure>, now: Timestamp) -> Option<Duration> {
    let failure = failure?;
    let rest = pause(failure).saturating_sub(passed(failure.at, now));
    (!rest.is_zero()).then_some(rest)
}

fn pause(failure: &PullFailure) -> Duration {
    if UNUSABLE.contains(&failure.reason) {
        return UNUSABLE_PAUSE;
    }
    let doubled = 1_u32.checked_shl(failure.attempts.saturating_sub(1)).unwrap_or(u32::MAX);
    let grown = FIRST_PAUSE.saturating_mul(doubled).min(LONGEST_PAUSE);
    grown.max(Duration::from_secs(failure.retry_after))
}

fn passed(since: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(since)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
