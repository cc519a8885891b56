//! Which of several groups of one namespace has roles and labels of the cluster.
//!
//! There is no use for a second group: its members fail. Yet whoever may create one may create thousands, and
//! ClusterRoles, and the labels that a Namespace holds, are the cluster's.

use olm_types::api::OperatorGroup;

/// The oldest of the groups of one namespace; of those of one moment the first by name.
pub fn oldest<'a>(
    groups: impl IntoIterator<Item = &'a OperatorGroup>,
) -> Option<&'a OperatorGroup> {
    groups.into_iter().min_by_key(|group| {
        let created = group.metadata.creation_timestamp.as_ref().map(|created| created.0);
        (created, group.metadata.name.clone())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case::none(&[], None)]
    #[case::by_time(&[("a", "2026-01-02T00:00:00Z"), ("b", "2026-01-01T00:00:00Z")], Some("b"))]
    #[case::by_name(&[("b", "2026-01-01T00:00:00Z"), ("a", "2026-01-01T00:00:00Z")], Some("a"))]
    fn the_oldest_group(#[case] groups: &[(&str, &str)], #[case] expected: Option<&str>) {
        let group = |(name, created): &(&str, &str)| -> OperatorGroup {
            let metadata = json!({"name": name, "creationTimestamp": created});
            serde_json::from_value(json!({"metadata": metadata, "spec": {}})).unwrap()
        };
        let groups: Vec<OperatorGroup> = groups.iter().map(group).collect();
        assert_eq!(oldest(&groups).and_then(|group| group.metadata.name.as_deref()), expected);
    }
}
