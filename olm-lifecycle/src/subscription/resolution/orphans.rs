//! CSVs without a Subscription that have no place in a solution.
//!
//! In v0 such a CSV stops the Subscriptions of its namespace, and they say why. Here those that it
//! does not concern go on, so the CSV itself has an event that says what it lacks.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube_core::ResourceExt;
use olm_effect::{Effect, EventNote, EventType};
use olm_types::api::ClusterServiceVersion;
use olm_types::reasons::event::RESOLUTION_FAILED;

use crate::writes::target_of;

/// What CSVs without a Subscription lack, by name.
pub type Orphans = BTreeMap<String, String>;

/// A Warning event for each CSV of which something else was `reported` before, or nothing.
pub fn report_orphans(
    csvs: &[Arc<ClusterServiceVersion>],
    found: &Orphans,
    reported: &Orphans,
) -> Vec<Effect> {
    let news = csvs.iter().filter_map(|csv| {
        let name = csv.name_any();
        let why = found.get(&name).filter(|why| reported.get(&name) != Some(why))?;
        Some(Effect::event(target_of(&**csv), note(csv, why)))
    });
    news.collect()
}

fn note(csv: &ClusterServiceVersion, why: &str) -> EventNote {
    EventNote {
        event_type: EventType::Warning,
        reason: RESOLUTION_FAILED.to_owned(),
        message: why.to_owned(),
        uid: csv.uid(),
        field_path: None,
    }
}

#[cfg(test)]
mod tests {
    use olm_effect::Action;
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn orphans(all: &[(&str, &str)]) -> Orphans {
        all.iter().map(|(name, why)| ((*name).to_owned(), (*why).to_owned())).collect()
    }

    fn reported(found: &[(&str, &str)], reported: &[(&str, &str)]) -> Vec<String> {
        let csv = |name: &str| {
            let metadata = json!({"name": name, "namespace": "ns", "uid": format!("uid-{name}")});
            Arc::new(serde_json::from_value(json!({"metadata": metadata, "spec": {}})).unwrap())
        };
        let effects = report_orphans(&["a", "b"].map(csv), &orphans(found), &orphans(reported));
        let texts = effects.iter().map(|effect| match &effect.action {
            Action::Event(note) => {
                assert_eq!(note.event_type, EventType::Warning);
                let uid = note.uid.as_deref().unwrap_or_default();
                format!("{} {uid} {}: {}", effect.target, note.reason, note.message)
            }
            other => format!("{other:?}"),
        });
        texts.collect()
    }

    #[rstest]
    #[case::nothing_lacks(&[], &[("a", "x")], &[])]
    #[case::news(&[("a", "x")], &[], &["ClusterServiceVersion ns/a uid-a ResolutionFailed: x"])]
    #[case::reported_before(&[("a", "x")], &[("a", "x")], &[])]
    #[case::another_reason(&[("a", "y")], &[("a", "x")], &["ClusterServiceVersion ns/a uid-a ResolutionFailed: y"])]
    #[case::one_more(&[("a", "x"), ("b", "x")], &[("a", "x")], &["ClusterServiceVersion ns/b uid-b ResolutionFailed: x"])]
    #[case::gone_by_now(&[("c", "x")], &[], &[])]
    fn each_is_reported_once(
        #[case] found: &[(&str, &str)],
        #[case] before: &[(&str, &str)],
        #[case] wanted: &[&str],
    ) {
        assert_eq!(reported(found, before), wanted);
    }
}
