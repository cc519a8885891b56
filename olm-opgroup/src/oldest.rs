//! Which of several groups of one namespace have roles and labels of the cluster.
//!
//! There is no use for a second group: its members fail. v0 gives it roles and labels all the same, and so is it
//! here for a few. Yet whoever may create one may create thousands, and ClusterRoles, and the labels that a
//! Namespace holds, are the cluster's.

use olm_types::api::OperatorGroup;

/// Groups of one namespace that have roles and labels.
pub const SHOWN: usize = 5;

/// The [`SHOWN`] oldest groups of one namespace, the oldest first; of those of one moment the first by name.
pub fn oldest<'a>(
    groups: impl IntoIterator<Item = &'a OperatorGroup>,
) -> impl Iterator<Item = &'a OperatorGroup> {
    let mut all: Vec<_> = groups.into_iter().collect();
    all.sort_by_cached_key(|group| {
        let created = group.metadata.creation_timestamp.as_ref().map(|created| created.0);
        (created, group.metadata.name.clone())
    });
    all.into_iter().take(SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case::none(&[], "")]
    #[case::by_time(&[("a", "2026-01-02T00:00:00Z"), ("b", "2026-01-01T00:00:00Z")], "ba")]
    #[case::by_name(&[("b", "2026-01-01T00:00:00Z"), ("a", "2026-01-01T00:00:00Z")], "ab")]
    #[case::so_many(&["a", "f", "e", "d", "c", "b"].map(|name| (name, "2026-01-01T00:00:00Z")), "abcde")]
    fn the_oldest_groups(#[case] groups: &[(&str, &str)], #[case] expected: &str) {
        let group = |(name, created): &(&str, &str)| -> OperatorGroup {
            let metadata = json!({"name": name, "creationTimestamp": created});
            serde_json::from_value(json!({"metadata": metadata, "spec": {}})).unwrap()
        };
        let groups: Vec<OperatorGroup> = groups.iter().map(group).collect();
        let names = oldest(&groups).filter_map(|group| group.metadata.name.as_deref());
        assert_eq!(names.collect::<String>(), expected);
    }
}
