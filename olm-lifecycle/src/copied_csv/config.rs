//! What the OLMConfig says about copies (spec olm-operator 5.2, 5.6).

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use olm_effect::{Action, Effect, EventNote, EventType, Subresource, Target};
use olm_types::api::{ClusterServiceVersion, OLMConfig};
use olm_types::conditions::olm_config::DISABLED_COPIED_CSVS;
use olm_types::reasons::{event, olm_config as reasons};
use serde_json::json;

use super::Copying;
use crate::writes::{resource_of, target_of};

/// Who has copies of the operators that watch all namespaces.
#[derive(Clone, Debug, Default)]
pub struct CopyInventory {
    /// Names of the namespaces that are not being deleted.
    pub namespaces: BTreeSet<String>,
    /// For each original of a global group, by namespace and name: where its copies are.
    pub copies: BTreeMap<(String, String), BTreeSet<String>>,
}

impl CopyInventory {
    /// Whether all copies are where the setting wants them, and nowhere else.
    fn is_as_expected(&self, copying: &Copying) -> bool {
        self.copies.iter().all(|((home, _), found)| {
            let wanted = if copying.enabled { &self.namespaces } else { &copying.protected };
            let wanted: BTreeSet<&String> = wanted
                .iter()
                .filter(|name| *name != home && self.namespaces.contains(*name))
                .collect();
            let found: BTreeSet<&String> =
                found.iter().filter(|name| self.namespaces.contains(*name)).collect();
            wanted == found
        })
    }
}

/// The write of the condition, if it says something else now.
pub fn config_status(
    config: &OLMConfig,
    copying: &Copying,
    inventory: &CopyInventory,
    now: Timestamp,
) -> Option<Effect> {
    let (status, reason, message) = verdict(copying.enabled, inventory.is_as_expected(copying));
    let present = config.status.iter().flat_map(|status| &status.conditions);
    let mut conditions: Vec<Condition> = present.cloned().collect();
    let old = conditions.iter().position(|condition| condition.type_ == DISABLED_COPIED_CSVS);
    let old = old.map(|index| conditions.remove(index));
    if old
        .as_ref()
        .is_some_and(|old| old.status == status && old.reason == reason && old.message == message)
    {
        return None;
    }
    let since = old.filter(|old| old.status == status).map(|old| old.last_transition_time);
    let now = Time(Timestamp::from_second(now.as_second()).unwrap_or(now));
    conditions.push(Condition {
        type_: DISABLED_COPIED_CSVS.to_owned(),
        status: status.to_owned(),
        reason: reason.to_owned(),
        message: message.to_owned(),
        last_transition_time: since.unwrap_or(now),
        observed_generation: None,
    });
    let patch = json!({
        "metadata": {"resourceVersion": config.metadata.resource_version},
        "status": {"conditions": conditions},
    });
    let name = config.metadata.name.as_deref().unwrap_or_default();
    let subresource = Subresource::Status;
    let action = Action::MergePatch { patch, observed: None, subresource };
    Some(Effect::new(Target::cluster(resource_of::<OLMConfig>(), name), action))
}

fn verdict(enabled: bool, as_expected: bool) -> (&'static str, &'static str, &'static str) {
    match (enabled, as_expected) {
        (true, true) => (
            "False",
            reasons::COPIED_CSVS_ENABLED,
            "Copied CSVs are enabled and present across the cluster",
        ),
        (true, false) => (
            "False",
            reasons::COPIED_CSVS_ENABLED,
            "Copied CSVs are enabled and at least one copied CSVs is missing",
        ),
        (false, false) => (
            "False",
            reasons::COPIED_CSVS_DISABLED,
            "Copied CSVs are disabled and at least one unexpected copied CSV was found for an operator installed in AllNamespace mode",
        ),
        (false, true) => (
            "True",
            reasons::COPIED_CSVS_DISABLED,
            "Copied CSVs are disabled and no unexpected copied CSVs were found for operators installed in AllNamespace mode",
        ),
    }
}

/// The event on a CSV that is not copied because copying is off.
pub fn disabled_note(csv: &ClusterServiceVersion) -> Effect {
    let namespace = csv.metadata.namespace.as_deref().unwrap_or_default();
    let name = csv.metadata.name.as_deref().unwrap_or_default();
    let note = EventNote {
        event_type: EventType::Warning,
        reason: event::DISABLED_COPIED_CSVS.to_owned(),
        message: format!("CSV copying disabled for {namespace}/{name}"),
        uid: csv.metadata.uid.clone(),
        field_path: None,
    };
    Effect::event(target_of(csv), note)
}
