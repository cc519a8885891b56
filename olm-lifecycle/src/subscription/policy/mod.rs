//! What annotations under `olm-rs.dev/` declare about a Subscription, so that it can be kept in Git as text.
//!
//! | annotation | declares |
//! |---|---|
//! | `approve` | names of CSVs, separated by commas: an InstallPlan that brings only these is approved |
//! | `first-install` | `Automatic`: the first InstallPlan of a Manual Subscription needs no approval |
//! | `pause` | `true`: nothing new is resolved or applied for the Subscription |
//! | `pin` | `true`: `spec.startingCSV` is the version that it asks for at all times |
//! | `version-range` | the only versions that may be installed for it |
//!
//! A condition says what is wrong with a value that cannot be read. Such a value approves nothing, and one
//! of the last three keys holds everything back: what was to be held back is not let through by a mistake.
//! What `pin` and `version-range` leave of a channel is the resolver's part.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube_core::ResourceExt;
use olm_types::annotations::{APPROVE, FIRST_INSTALL, OURS, PAUSE, PIN, VERSION_RANGE};
use olm_types::api::{Approval, Subscription, SubscriptionCondition, SubscriptionStatus};
use olm_types::conditions::subscription::{ANNOTATIONS_INVALID, RESOLUTION_FAILED, UPGRADE_HELD};
use olm_types::reasons::subscription::{
    MALFORMED_VALUE, PAUSED, PINNED, VERSION_RANGE as BY_RANGE,
};
use olm_types::version::VersionRange;

use super::conditions;

/// The only value of `first-install`.
const AUTOMATIC: &str = "Automatic";

/// Every key that is known, without its prefix.
const KNOWN: &str = "approve, first-install, pause, pin, version-range";

/// Most characters of a value that a message repeats.
const REPEATED: usize = 80;

/// Most annotations that a message is about: an object may have thousands.
const LISTED: usize = 5;

/// Most bytes of a list of approved CSVs: it is recorded on the InstallPlan, beside those of others.
const LONGEST_APPROVAL: usize = 16 << 10;

/// The names of the CSVs that the Subscription approves, the one that it is pinned to among them; nothing
/// when it declares neither.
///
/// # Errors
/// The value is none, in words for a user.
pub(crate) fn approved(subscription: &Subscription) -> Option<Result<Vec<&str>, String>> {
    let pinned = pinned(subscription);
    let Some(value) = subscription.annotations().get(APPROVE) else {
        return pinned.map(|csv| Ok(vec![csv]));
    };
    if value.len() > LONGEST_APPROVAL {
        let length = value.len();
        return Some(Err(format!(
            "annotation {APPROVE} has {length} bytes, and may have {LONGEST_APPROVAL}; remove what is installed"
        )));
    }
    let names: Vec<&str> = value.split(',').map(str::trim).collect();
    Some(match names.iter().find(|name| !is_name(name)) {
        Some(name) => Err(format!(
            "annotation {APPROVE} has to be names of CSVs, separated by commas, as in \"guestbook.v1.4.2\"; {:?} is \
             none",
            repeated(name)
        )),
        None => Ok(names.into_iter().chain(pinned).collect()),
    })
}

/// The CSV that the Subscription is pinned to.
pub fn pinned(subscription: &Subscription) -> Option<&str> {
    let csv = subscription.spec.starting_csv.as_deref().filter(|csv| !csv.is_empty());
    csv.filter(|_| subscription.annotations().get(PIN).is_some_and(|value| value == "true"))
}

/// The approval that the next InstallPlan of the Subscription needs. Without a value it is Automatic, as in
/// v0; a pin approves what leads to its version.
pub(crate) fn approval(subscription: &Subscription) -> Approval {
    let is_free = pinned(subscription).is_some() || is_first_install(subscription);
    match subscription.spec.install_plan_approval {
        Some(Approval::Manual) if !is_free => Approval::Manual,
        Some(Approval::Manual | Approval::Automatic) | None => Approval::Automatic,
    }
}

/// Whether nothing is installed for the Subscription yet, and it declares that what comes first needs no approval.
pub(crate) fn is_first_install(subscription: &Subscription) -> bool {
    let status = subscription.status.as_ref();
    let is_installed = status.is_some_and(|status| status.installed_csv.is_some());
    let is_free = subscription.annotations().get(FIRST_INSTALL).is_some_and(|it| it == AUTOMATIC);
    is_free && !is_installed
}

/// Whether nothing new is resolved or applied for the Subscription: it is paused, or what it declares about
/// versions cannot be read.
pub fn is_held(subscription: &Subscription) -> bool {
    holding(subscription).is_some()
}

/// The annotation that holds everything back.
pub fn holding(subscription: &Subscription) -> Option<&'static str> {
    let annotations = subscription.annotations();
    if annotations.get(PAUSE).is_some_and(|value| value != "false") {
        return Some(PAUSE);
    }
    [PIN, VERSION_RANGE].into_iter().find(|key| {
        annotations.get(*key).is_some_and(|value| problem(subscription, key, value).is_some())
    })
}

/// What is wrong with the annotation that holds everything back, if that is a mistake.
pub fn held_by_mistake(subscription: &Subscription) -> Option<String> {
    let key = holding(subscription)?;
    problem(subscription, key, subscription.annotations().get(key)?)
}

/// Whether the Subscription declares which versions it accepts.
pub(crate) fn selects_versions(subscription: &Subscription) -> bool {
    let annotations = subscription.annotations();
    pinned(subscription).is_some() || annotations.contains_key(VERSION_RANGE)
}

/// What the Subscription declares, the CSV that it is pinned to included and whether that was refused, for those who
/// want to know whether that changed.
pub fn declarations(subscription: &Subscription) -> Vec<(&str, &str)> {
    let ours = subscription.annotations().iter().filter(|(key, _)| key.starts_with(OURS));
    let ours = ours.map(|(key, value)| (key.as_str(), value.as_str()));
    let pinned = pinned(subscription);
    let refused = pinned.filter(|_| subscription.status.as_ref().is_some_and(is_refused));
    let pinned = pinned.map(|csv| ("startingCSV", csv));
    ours.chain(pinned).chain(refused.map(|csv| (RESOLUTION_FAILED, csv))).collect()
}

/// Whether the last resolution had nothing for the Subscription with this status.
pub(crate) fn is_refused(status: &SubscriptionStatus) -> bool {
    conditions::get(status, RESOLUTION_FAILED).is_some_and(|condition| condition.status == "True")
}

/// The status with the conditions about annotations up to date; nothing when they are already.
pub(super) fn reconcile(
    status: &SubscriptionStatus,
    subscription: &Subscription,
    now: Timestamp,
) -> Option<SubscriptionStatus> {
    let mut wanted = status.clone();
    let invalid =
        keep(&mut wanted, ANNOTATIONS_INVALID, MALFORMED_VALUE, problems(subscription), now);
    let held = hold(&mut wanted, subscription, now);
    let changed = invalid || held;
    changed.then_some(SubscriptionStatus { last_updated: Some(Time(now)), ..wanted })
}

/// Keeps a condition while there is a message; says whether that changed anything.
fn keep(
    status: &mut SubscriptionStatus,
    kind: &str,
    reason: &str,
    message: String,
    now: Timestamp,
) -> bool {
    let known = conditions::get(status, kind);
    if message.is_empty() {
        let changed = known.is_some();
        conditions::remove(status, &[kind]);
        return changed;
    }
    let condition = conditions::holding(kind, reason, Some(message));
    if known.is_some_and(|known| conditions::same(known, &condition)) {
        return false;
    }
    let last_transition_time = Some(Time(now));
    conditions::set(status, SubscriptionCondition { last_transition_time, ..condition });
    true
}

/// Says that everything is held back. What resolutions say is held back of versions stays as it is while that is
/// declared: there may be no other resolution for a while.
fn hold(status: &mut SubscriptionStatus, subscription: &Subscription, now: Timestamp) -> bool {
    let (reason, message) = match holding(subscription) {
        Some(PAUSE) => (
            PAUSED,
            format!("annotation {PAUSE}: nothing new is resolved or applied until it is removed"),
        ),
        Some(key) => (
            MALFORMED_VALUE,
            format!(
                "annotation {key} cannot be read: nothing new is resolved or applied until it is corrected"
            ),
        ),
        None => {
            let reason = conditions::get(status, UPGRADE_HELD).and_then(|it| it.reason.as_deref());
            if reason.is_some_and(|reason| is_declared(subscription, reason)) {
                return false;
            }
            (PAUSED, String::new())
        }
    };
    keep(status, UPGRADE_HELD, reason, message, now)
}

/// Whether the Subscription still has what a resolution gave as the reason to hold versions back.
fn is_declared(subscription: &Subscription, reason: &str) -> bool {
    match reason {
        PINNED => pinned(subscription).is_some(),
        BY_RANGE => subscription.annotations().contains_key(VERSION_RANGE),
        _ => false,
    }
}

/// What is wrong with the annotations, in the order of their keys; empty when nothing is.
fn problems(subscription: &Subscription) -> String {
    let annotations: &BTreeMap<String, String> = subscription.annotations();
    let ours = annotations.iter().filter(|(key, _)| key.starts_with(OURS));
    let mut problems = ours.filter_map(|(key, value)| problem(subscription, key, value));
    let mut listed: Vec<String> = problems.by_ref().take(LISTED).collect();
    let more = problems.count();
    if more > 0 {
        listed.push(format!("{more} more annotations cannot be read"));
    }
    listed.join("; ")
}

/// What is wrong with one of them.
fn problem(subscription: &Subscription, key: &str, value: &str) -> Option<String> {
    let shown = repeated(value);
    match key {
        APPROVE => approved(subscription)?.err(),
        FIRST_INSTALL => (value != AUTOMATIC)
            .then(|| format!("annotation {FIRST_INSTALL} has to be \"{AUTOMATIC}\", not {shown:?}")),
        PAUSE => (!is_switch(value)).then(|| {
            format!(
                "annotation {PAUSE} has to be \"true\" or \"false\", not {shown:?}; until then it pauses"
            )
        }),
        PIN if !is_switch(value) => {
            Some(format!("annotation {PIN} has to be \"true\" or \"false\", not {shown:?}"))
        }
        PIN => (value == "true" && pinned(subscription).is_none())
            .then(|| format!("annotation {PIN} needs the name of a CSV in spec.startingCSV")),
        VERSION_RANGE => VersionRange::parse(value).err().map(|error| {
            format!("annotation {VERSION_RANGE} has to be a range of versions, not {shown:?}: {error}")
        }),
        _ => Some(format!("annotation {:?} is unknown; {OURS} has {KNOWN}", repeated(key))),
    }
}

fn is_switch(value: &str) -> bool {
    ["true", "false"].contains(&value)
}

/// As much of a value as a message repeats: annotations may have 256 KiB.
fn repeated(value: &str) -> String {
    value.chars().take(REPEATED).collect()
}

/// Names of CSVs are DNS subdomains to the API server.
fn is_name(name: &str) -> bool {
    let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.len() <= 253
        && name.starts_with(is_end)
        && name.ends_with(is_end)
        && name.chars().all(|c| is_end(c) || c == '.' || c == '-')
}

#[cfg(test)]
mod tests;
