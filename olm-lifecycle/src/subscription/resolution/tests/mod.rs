//! Namespaces before and after their resolution: the rows of spec catalog-operator 9.6, and of 9.2
//! what follows from an answer (the answers themselves are in catalog-operator `tests/steps.rs`).
//!
//! Where the rows of 9.6 are: new Subscriptions, updates, dependencies and generations in
//! `installs`; lookups in `unpacking`; errors of plans, unpacking and resolution, and their end, in
//! `failures`; names without duplicates and one plan per generation in
//! `install_plan/request/tests.rs`; annotations about unpacking in `unpack/settings.rs`, the number of
//! OperatorGroups in `states`.
//!
//! Impossible rows: `BadObject`, since an object of another type does not reach a typed store; ten
//! goroutines that ensure one plan, since a namespace is one key, which one worker has at a time
//! (olm-kit `queue`). An unpacker error leaves the Subscription unchanged in v0 and is reported
//! here (docs/differences.md).

mod adoption;
mod blocked;
mod build;
mod failures;
mod installs;
mod named;
mod parts;
mod pins;
mod recovery;
mod requesters;
mod states;
mod unfinished;
mod unpacking;
mod waiting;
mod whole_plan;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use olm_effect::Action;
use olm_types::api::*;
use olm_types::conditions::readiness::ALL as READINESS;

use super::*;
use build::*;

fn now() -> Timestamp {
    Timestamp::UNIX_EPOCH
}

/// Conditions besides those of readiness.
fn others(status: &SubscriptionStatus) -> Vec<SubscriptionCondition> {
    let others = status.conditions.iter().filter(|one| !READINESS.contains(&one.type_.as_str()));
    others.cloned().collect()
}

/// The statuses that effects write, by name of the Subscription.
fn written(effects: &[Effect]) -> BTreeMap<String, SubscriptionStatus> {
    let statuses = effects.iter().filter_map(|effect| match &effect.action {
        Action::Status { object, .. } if object["kind"] == "Subscription" => {
            let subscription: Subscription = serde_json::from_value(object.clone()).unwrap();
            Some((effect.target.name.clone(), subscription.status.unwrap()))
        }
        _ => None,
    });
    statuses.collect()
}

/// Texts of the events.
fn events(effects: &[Effect]) -> Vec<String> {
    let texts = effects.iter().filter_map(|effect| match &effect.action {
        Action::Event(note) => Some(format!("{} {}: {}", effect.target, note.reason, note.message)),
        _ => None,
    });
    texts.collect()
}
