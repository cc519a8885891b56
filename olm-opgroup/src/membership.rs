//! How a CSV shows its OperatorGroup (spec olm-operator 4.2, 4.3).

use std::collections::BTreeMap;

use olm_types::annotations;
use olm_types::api::OperatorGroup;

use crate::live::LiveNamespaces;
use crate::namespace_set::NamespaceSet;

/// The annotations that a group puts on its member CSVs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberAnnotations {
    /// `olm.operatorNamespace`.
    pub operator_namespace: String,
    /// `olm.operatorGroup`.
    pub operator_group: String,
    /// `olm.targetNamespaces`; absent while the group selects nothing, in which case a value that
    /// a CSV already carries is left alone.
    pub target_namespaces: Option<String>,
}

impl MemberAnnotations {
    /// What `group`, which gives these targets, asks of its members.
    pub fn of(group: &OperatorGroup, targets: &NamespaceSet) -> Self {
        Self {
            operator_namespace: group.metadata.namespace.clone().unwrap_or_default(),
            operator_group: group.metadata.name.clone().unwrap_or_default(),
            target_namespaces: joined(targets),
        }
    }

    /// The annotations that are missing or different among `present`.
    pub fn missing_from(
        &self,
        present: &BTreeMap<String, String>,
    ) -> BTreeMap<&'static str, String> {
        let mut wanted = BTreeMap::from([
            (annotations::OPERATOR_NAMESPACE, self.operator_namespace.clone()),
            (annotations::OPERATOR_GROUP, self.operator_group.clone()),
        ]);
        if let Some(targets) = &self.target_namespaces {
            wanted.insert(annotations::TARGET_NAMESPACES, targets.clone());
        }
        wanted.retain(|key, value| present.get(*key) != Some(value));
        wanted
    }
}

/// The targets of the group that a CSV in `namespace` with these annotations belongs to, if its
/// annotations are complete and agree with what the group gives at this moment.
pub fn active_targets<'a>(
    namespace: &str,
    present: &BTreeMap<String, String>,
    groups: impl IntoIterator<Item = &'a OperatorGroup>,
    live: &LiveNamespaces,
) -> Option<NamespaceSet> {
    if present.get(annotations::OPERATOR_NAMESPACE).map(String::as_str) != Some(namespace) {
        return None;
    }
    let name = present.get(annotations::OPERATOR_GROUP)?;
    let shown = present.get(annotations::TARGET_NAMESPACES)?;
    groups
        .into_iter()
        .filter(|group| group.metadata.namespace.as_deref() == Some(namespace))
        .filter(|group| group.metadata.name.as_ref() == Some(name))
        .filter_map(|group| live.targets(group).ok())
        .find(|targets| joined(targets).as_ref() == Some(shown))
}

/// The targets, ascending and joined by commas; `None` while there are none.
fn joined(targets: &NamespaceSet) -> Option<String> {
    (!targets.is_empty()).then(|| targets.names().collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    fn group(namespaces: &[&str]) -> OperatorGroup {
        serde_json::from_value(json!({
            "metadata": {"name": "og", "namespace": "op"},
            "spec": {"targetNamespaces": namespaces},
        }))
        .unwrap()
    }

    fn annotations_for(targets: &[&str]) -> MemberAnnotations {
        MemberAnnotations::of(&group(targets), &targets.iter().copied().collect())
    }

    fn present(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    const COMPLETE: &[(&str, &str)] = &[
        ("olm.operatorNamespace", "op"),
        ("olm.operatorGroup", "og"),
        ("olm.targetNamespaces", "a,b"),
    ];

    #[test]
    fn a_complete_member_needs_nothing() {
        let wanted = annotations_for(&["b", "a"]);
        assert!(wanted.missing_from(&present(COMPLETE)).is_empty());
    }

    #[test]
    fn a_new_member_gets_all_three() {
        let wanted = annotations_for(&["b", "a"]).missing_from(&BTreeMap::new());
        let expected: BTreeMap<&str, String> =
            COMPLETE.iter().map(|(key, value)| (*key, (*value).to_owned())).collect();
        assert_eq!(wanted, expected);
    }

    #[test]
    fn all_namespaces_are_an_empty_text() {
        let wanted = annotations_for(&[""]);
        assert_eq!(wanted.target_namespaces.as_deref(), Some(""));
    }

    #[test]
    fn a_group_without_targets_leaves_stale_targets_alone() {
        let wanted = annotations_for(&[]);
        assert!(wanted.missing_from(&present(COMPLETE)).is_empty());
    }

    #[rstest]
    #[case::complete(COMPLETE, true)]
    #[case::other_namespace(
        &[("olm.operatorNamespace", "x"), ("olm.operatorGroup", "og"), ("olm.targetNamespaces", "a,b")],
        false)]
    #[case::other_group(
        &[("olm.operatorNamespace", "op"), ("olm.operatorGroup", "x"), ("olm.targetNamespaces", "a,b")],
        false)]
    #[case::stale_targets(
        &[("olm.operatorNamespace", "op"), ("olm.operatorGroup", "og"), ("olm.targetNamespaces", "a")],
        false)]
    #[case::no_targets(&[("olm.operatorNamespace", "op"), ("olm.operatorGroup", "og")], false)]
    fn active(#[case] annotations: &[(&str, &str)], #[case] found: bool) {
        let (groups, live) = ([group(&["a", "b"])], LiveNamespaces::default());
        assert_eq!(active_targets("op", &present(annotations), &groups, &live).is_some(), found);
    }
}
