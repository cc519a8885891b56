//! Namespaces before and after their resolution: the rows of spec 9.2 and 9.6.

mod adoption;
mod blocked;
mod build;
mod failures;
mod installs;
mod recovery;
mod states;
mod unpacking;
mod whole_plan;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use olm_effect::Action;
use olm_types::api::*;

use super::*;
use build::*;

fn now() -> Timestamp {
    Timestamp::UNIX_EPOCH
}

/// The statuses that effects write, by name of the Subscription.
fn written(effects: &[Effect]) -> std::collections::BTreeMap<String, SubscriptionStatus> {
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
