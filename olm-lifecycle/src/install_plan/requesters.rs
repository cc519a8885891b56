//! Who asks for what in an InstallPlan, where several Subscriptions ask for parts of it, and whose approval it
//! waits for.
//!
//! It is recorded on the plan when that is made, as an annotation, and is what the plan says while it waits. A
//! plan that one Subscription asks for has no such record: the Subscription names it.

use std::collections::{BTreeMap, BTreeSet};

use kube_core::ResourceExt;
use olm_types::annotations::ASKED_BY;
use olm_types::api::InstallPlan;
use olm_types::document::{Budget, json_as};
use serde::{Deserialize, Serialize};

use super::approval::WAITS;

/// Most names that a message lists at one place.
const LISTED: usize = 10;

/// Who asks for what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requesters {
    /// Subscriptions that need a CSV, by its name.
    pub csvs: BTreeMap<String, BTreeSet<String>>,
    /// Subscriptions whose approval is needed.
    #[serde(default)]
    pub approval: BTreeSet<String>,
    /// What the plan leads those of them to that are pinned, by their name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pins: BTreeMap<String, String>,
}

impl Requesters {
    /// What is recorded on a plan; nothing where there is no record, or where it cannot be read.
    pub fn of(plan: &InstallPlan) -> Option<Self> {
        json_as(plan.annotations().get(ASKED_BY)?, &Budget::OBJECT).ok()
    }

    /// The value of the annotation.
    pub fn annotation(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What the plan says while it waits.
    pub fn message(&self) -> String {
        let for_whom = |(csv, by): (&String, &BTreeSet<String>)| format!("{csv} for {}", list(by));
        let brought: Vec<String> = self.csvs.iter().take(LISTED).map(for_whom).collect();
        let more = match self.csvs.len().saturating_sub(LISTED) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let whose = match self.approval.is_empty() {
            true => String::new(),
            false => format!(" of what Subscription {} asks for", list(&self.approval)),
        };
        format!("{WAITS}{whose}: it brings {}{more}", brought.join("; "))
    }
}

fn list(names: &BTreeSet<String>) -> String {
    let listed: Vec<&str> = names.iter().take(LISTED).map(String::as_str).collect();
    match names.len().saturating_sub(LISTED) {
        0 => listed.join(", "),
        more => format!("{} and {more} more", listed.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn asked() -> Requesters {
        let csvs = [("lamp.v1", set(&["lamp"])), ("wire.v1", set(&["lamp", "shade"]))];
        let csvs = csvs.into_iter().map(|(csv, by)| (csv.to_owned(), by)).collect();
        Requesters { csvs, approval: set(&["shade"]), ..Requesters::default() }
    }

    #[test]
    fn a_plan_says_who_asks_for_what_and_whose_approval_it_waits_for() {
        let expected = "waits for approval of what Subscription shade asks for: \
                        it brings lamp.v1 for lamp; wire.v1 for lamp, shade";
        assert_eq!(asked().message(), expected);
    }

    #[test]
    fn it_is_read_as_it_was_recorded() {
        let mut plan = InstallPlan::default();
        assert_eq!(Requesters::of(&plan), None);
        plan.annotations_mut().insert(ASKED_BY.to_owned(), asked().annotation());
        assert_eq!(Requesters::of(&plan), Some(asked()));
        plan.annotations_mut().insert(ASKED_BY.to_owned(), "{\"csvs\": 1}".to_owned());
        assert_eq!(Requesters::of(&plan), None, "someone else wrote it");
    }

    #[test]
    fn a_message_has_a_bound() {
        let names: Vec<String> = (0..5_000).map(|number| format!("s{number}")).collect();
        let by: BTreeSet<String> = names.iter().cloned().collect();
        let csvs = names.iter().map(|name| (name.clone(), by.clone())).take(50).collect();
        let message = Requesters { csvs, approval: by, ..Requesters::default() }.message();
        assert!(message.len() < 2_000 && message.ends_with("; and 40 more"), "{message}");
    }
}
