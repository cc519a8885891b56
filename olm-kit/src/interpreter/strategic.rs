//! Whether a strategic merge patch changes nothing, as far as that can be said without the merge
//! keys of the kind.

use serde_json::Value;

/// True only when the patch surely changes nothing: maps are compared field by field, `null` wants
/// absence, lists must be equal. Directives (`$patch`, `$setElementOrder/…`) are left to the
/// API server.
pub(super) fn changes_nothing(patch: &Value, observed: &Value) -> bool {
    match (patch, observed) {
        (Value::Object(patch), Value::Object(observed)) => {
            patch.iter().all(|(name, wanted)| match observed.get(name) {
                _ if name.starts_with('$') => false,
                Some(found) => changes_nothing(wanted, found),
                None => wanted.is_null(),
            })
        }
        (patch, observed) => patch == observed,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[rstest::rstest]
    #[case(json!({}), true)]
    #[case(json!({"labels": {"a": "b"}}), true)]
    #[case(json!({"labels": {"a": "c"}}), false)]
    #[case(json!({"labels": {"gone": null}}), true)]
    #[case(json!({"labels": {"a": null}}), false)]
    #[case(json!({"rules": [{"verbs": ["get"]}]}), true)]
    #[case(json!({"rules": []}), false)]
    #[case(json!({"labels": {"$patch": "delete"}}), false)]
    #[case(json!({"$retainKeys": ["labels"]}), false)]
    fn says_yes_only_when_sure(#[case] patch: Value, #[case] expected: bool) {
        let observed = json!({"labels": {"a": "b", "c": "d"}, "rules": [{"verbs": ["get"]}]});
        assert_eq!(changes_nothing(&patch, &observed), expected);
    }
}
