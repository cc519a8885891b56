//! The ClusterRoles of an OperatorGroup (spec olm-operator 4.6).
//!
//! They hold no rules of their own: Kubernetes fills them with those of the roles of the APIs that
//! members of the group provide. An administrator binds them to the users of the group's targets.

use std::collections::BTreeMap;

use k8s_openapi::api::rbac::v1::{AggregationRule, ClusterRole};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use olm_types::gvk::Gvk;
use olm_types::{hash, labels, owner};

use crate::generated::{Level, named};

/// Kind in the owner labels of these roles.
pub const GROUP_KIND: &str = "OperatorGroup";

/// Longest name of an object.
const NAME_LIMIT: usize = 253;

/// The three roles of the group `namespace/group`, which collect the rights on `apis`.
pub fn group_roles<'a>(
    namespace: &str,
    group: &str,
    apis: impl IntoIterator<Item = &'a Gvk>,
) -> Vec<ClusterRole> {
    let hashes: Vec<String> =
        apis.into_iter().map(|api| hash::api_hash(&api.to_string())).collect();
    let role_of = |level: Level| ClusterRole {
        metadata: named(
            &group_role_name(namespace, group, level),
            owner::owner_labels(group, namespace, GROUP_KIND),
        ),
        aggregation_rule: aggregation(&hashes, level),
        rules: None,
    };
    Level::ALL.into_iter().map(role_of).collect()
}

/// Name of a group's role. The name of the group is cut so that the whole fits.
pub fn group_role_name(namespace: &str, group: &str, level: Level) -> String {
    let suffix = level.suffix();
    let hash = hash::base62_sha224(format!("{namespace}/{group}/{suffix}").as_bytes());
    let limit = NAME_LIMIT.saturating_sub("olm.og..-".len() + suffix.len() + hash.len());
    let group: String = group.chars().take(limit).collect();
    format!("olm.og.{group}.{suffix}-{hash}")
}

/// One selector per API, in the order of their keys; none at all without APIs.
fn aggregation(hashes: &[String], level: Level) -> Option<AggregationRule> {
    let keys: std::collections::BTreeSet<String> =
        hashes.iter().map(|hash| labels::aggregate_to(hash, level.suffix())).collect();
    let selector = |key: String| LabelSelector {
        match_labels: Some(BTreeMap::from([(key, "true".to_owned())])),
        match_expressions: None,
    };
    let selectors: Vec<LabelSelector> = keys.into_iter().map(selector).collect();
    (!selectors.is_empty()).then_some(AggregationRule { cluster_role_selectors: Some(selectors) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(Level::Admin, "olm.og.operator-group-1.admin-8rdAjL0E35JMMAkOqYmoorzjpIIihfnj3DcgDU")]
    #[case(Level::Edit, "olm.og.operator-group-1.edit-9lBEUxqAYE7CX7wZfFEPYutTfQTo43WarB08od")]
    #[case(Level::View, "olm.og.operator-group-1.view-1l6ymczPK5SceF4d0DCtAnWZuvmKn6s8oBUxHr")]
    fn names_are_those_of_v0(#[case] level: Level, #[case] expected: &str) {
        assert_eq!(group_role_name("operator-ns", "operator-group-1", level), expected);
    }

    #[test]
    fn a_long_name_is_cut() {
        for level in Level::ALL {
            assert_eq!(group_role_name("ns", &"g".repeat(253), level).len(), NAME_LIMIT);
        }
    }

    #[test]
    fn roles_carry_the_owner_labels_and_no_rules() {
        for role in group_roles("operator-ns", "operator-group-1", []) {
            let labels = role.metadata.labels.unwrap();
            let text: Vec<String> = labels.iter().map(|(k, v)| format!("{k}={v}")).collect();
            let expected = [
                "olm.managed=true",
                "olm.owner=operator-group-1",
                "olm.owner.kind=OperatorGroup",
                "olm.owner.namespace=operator-ns",
            ];
            assert_eq!(text, expected);
            assert_eq!((role.rules, role.aggregation_rule), (None, None));
        }
    }

    #[test]
    fn selectors_ascend() {
        let apis: Vec<Gvk> = (0..10).map(|i| Gvk::new("g.io", "v1", format!("K{i}"))).collect();
        for role in group_roles("ns", "og", &apis) {
            let selectors = role.aggregation_rule.unwrap().cluster_role_selectors.unwrap();
            let keys: Vec<&String> = selectors
                .iter()
                .flat_map(|selector| selector.match_labels.iter().flatten().map(|(key, _)| key))
                .collect();
            assert_eq!(keys.len(), 10);
            assert!(keys.windows(2).all(|pair| pair[0] < pair[1]), "{keys:?}");
        }
    }
}
