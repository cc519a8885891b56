//! What `kubectl olm plan` has shown beside what was done: objects by the audit log of the API server, rights and
//! images by the cluster.
//!
//! `cargo xtask plan-check` compares so whatever a catalog holds, and scenarios what they install and upgrade.

mod compare;
pub mod images;
mod observed_writes;
pub mod rights;

use serde_json::Value;

pub use compare::{
    differences, is_missing, is_more, is_to_be_collected, object_of, shown_objects, written_again,
};
pub use observed_writes::{ObservedWrites, is_of_collection, is_of_kubernetes, is_passing};

/// Why a plan would not do what is asked for, or is not known whole.
#[must_use]
pub fn problem(plan: &Value) -> Option<String> {
    let problems = plan["problems"].as_array().into_iter().flatten();
    let unknown = plan["unknown"].as_array().into_iter().flatten();
    let refused = plan["refused"].as_object().into_iter().flat_map(|map| map.values());
    let first = problems.chain(refused).chain(unknown).next();
    first.map(|text| text.as_str().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case(json!({"problems": [], "refused": {}, "unknown": []}), None)]
    #[case(json!({"problems": ["p"], "unknown": ["u"]}), Some("p"))]
    #[case(json!({"refused": {"a": "no channel"}}), Some("no channel"))]
    #[case(json!({"unknown": ["bundle image i"]}), Some("bundle image i"))]
    fn the_first_problem_is_named(#[case] plan: Value, #[case] expected: Option<&str>) {
        assert_eq!(problem(&plan).as_deref(), expected);
    }
}
