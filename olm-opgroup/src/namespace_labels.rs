//! The labels `olm.operatorgroup.uid/<uid>` of a namespace (spec olm-operator 4.4, 8.5).

use std::collections::{BTreeMap, BTreeSet};

use olm_types::api::OperatorGroup;
use olm_types::labels;
use serde_json::{Value, json};

use crate::live::LiveNamespaces;

/// Label keys that the namespace should carry: one per group that gives it by its name.
pub fn desired_labels<'a>(
    namespace: &str,
    groups: impl IntoIterator<Item = &'a OperatorGroup>,
    live: &LiveNamespaces,
) -> BTreeSet<String> {
    groups
        .into_iter()
        .filter(|group| !namespace.is_empty() && live.names(group, namespace))
        .filter_map(|group| group.metadata.uid.as_deref().filter(|uid| !uid.is_empty()))
        .map(labels::operator_group_uid)
        .collect()
}

/// The merge patch that brings `present` to `desired`, or nothing when they agree. Labels without
/// the prefix are not touched.
pub fn label_patch(
    present: &BTreeMap<String, String>,
    desired: &BTreeSet<String>,
) -> Option<Value> {
    let missing = desired.iter().filter(|key| !present.contains_key(*key));
    let stale = present.keys().filter(|key| {
        key.starts_with(labels::OPERATOR_GROUP_UID_PREFIX) && !desired.contains(*key)
    });
    let changes: BTreeMap<&String, Value> =
        missing.map(|key| (key, json!(""))).chain(stale.map(|key| (key, Value::Null))).collect();
    (!changes.is_empty()).then(|| json!({"metadata": {"labels": changes}}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(uid: &str, namespaces: &[&str]) -> OperatorGroup {
        serde_json::from_value(json!({
            "metadata": {"name": "og", "namespace": "op", "uid": uid},
            "spec": {"targetNamespaces": namespaces},
        }))
        .unwrap()
    }

    fn present(keys: &[&str]) -> BTreeMap<String, String> {
        keys.iter().map(|key| ((*key).to_owned(), String::new())).collect()
    }

    #[test]
    fn both_groups_are_added_and_the_rest_is_kept() {
        let groups = [group("u1", &["ns"]), group("u2", &["ns", "x"]), group("u3", &["x"])];
        let desired = desired_labels("ns", &groups, &LiveNamespaces::default());
        assert_eq!(
            label_patch(&present(&["kubernetes.io/metadata.name"]), &desired),
            Some(json!({"metadata": {"labels": {
                "olm.operatorgroup.uid/u1": "", "olm.operatorgroup.uid/u2": ""
            }}}))
        );
    }

    #[test]
    fn a_stale_label_is_removed() {
        let patch = label_patch(&present(&["olm.operatorgroup.uid/old"]), &BTreeSet::new());
        assert_eq!(
            patch,
            Some(json!({"metadata": {"labels": {"olm.operatorgroup.uid/old": null}}}))
        );
    }

    #[test]
    fn a_group_for_all_namespaces_labels_nothing() {
        let live = LiveNamespaces::default();
        assert!(desired_labels("ns", &[group("u1", &[])], &live).is_empty());
    }

    #[test]
    fn nothing_is_written_when_in_step() {
        let desired = desired_labels("ns", &[group("u1", &["ns"])], &LiveNamespaces::default());
        assert_eq!(label_patch(&present(&["olm.operatorgroup.uid/u1"]), &desired), None);
    }
}
