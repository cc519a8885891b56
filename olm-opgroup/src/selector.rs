//! Label selectors on namespaces.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};

/// Why a selector cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    /// The operator is none of those that exist.
    #[error(
        "spec.selector.matchExpressions: {operator:?} is not a valid label selector operator for \
         key {key:?}; use In, NotIn, Exists or DoesNotExist"
    )]
    UnknownOperator {
        /// Key of the requirement.
        key: String,
        /// The operator as given.
        operator: String,
    },
    /// The number of values does not fit the operator.
    #[error("spec.selector.matchExpressions: operator {operator} for key {key:?} {expectation}")]
    Values {
        /// Key of the requirement.
        key: String,
        /// The operator as given.
        operator: String,
        /// What it wants, and what would help.
        expectation: &'static str,
    },
    /// It is compared with every namespace, again and again.
    #[error(
        "spec.selector has {0} requirements and values, and may have {MOST_PARTS}; give the namespaces a \
         label of their own and select that"
    )]
    TooLarge(usize),
}

/// Most requirements of a selector, their values included.
const MOST_PARTS: usize = 2_000;

/// What is said of a requirement without values.
const NEEDS_VALUES: &str = "needs values; list some, or use Exists or DoesNotExist";

/// What is said of one with values that has no use for them.
const TAKES_NONE: &str = "takes no values; remove them, or use In or NotIn";

/// Whether `labels` fulfil `selector`; an empty selector fits everything.
pub fn matches(
    selector: &LabelSelector,
    labels: &BTreeMap<String, String>,
) -> Result<bool, SelectorError> {
    let parts = parts(selector);
    if parts > MOST_PARTS {
        return Err(SelectorError::TooLarge(parts));
    }
    selector.match_expressions.iter().flatten().try_for_each(check)?;
    Ok(fit(selector, labels))
}

fn parts(selector: &LabelSelector) -> usize {
    let expressions = selector.match_expressions.iter().flatten();
    let values = expressions.map(|one| 1 + one.values.as_ref().map_or(0, Vec::len));
    values.sum::<usize>() + selector.match_labels.as_ref().map_or(0, BTreeMap::len)
}

/// Whether `labels` fulfil a selector that was [checked](check).
pub(crate) fn fit(selector: &LabelSelector, labels: &BTreeMap<String, String>) -> bool {
    selector.match_labels.iter().flatten().all(|(key, value)| labels.get(key) == Some(value))
        && selector.match_expressions.iter().flatten().all(|one| fulfils(one, labels))
}

fn fulfils(requirement: &LabelSelectorRequirement, labels: &BTreeMap<String, String>) -> bool {
    let label = labels.get(&requirement.key);
    let is_listed = || {
        let values = requirement.values.as_deref().unwrap_or_default();
        label.is_some_and(|value| values.contains(value))
    };
    match requirement.operator.as_str() {
        "In" => is_listed(),
        "NotIn" => !is_listed(),
        "Exists" => label.is_some(),
        _ => label.is_none(),
    }
}

/// Whether a requirement can be evaluated.
fn check(requirement: &LabelSelectorRequirement) -> Result<(), SelectorError> {
    let has_values = requirement.values.as_ref().is_some_and(|values| !values.is_empty());
    match requirement.operator.as_str() {
        "In" | "NotIn" => expect(requirement, has_values, NEEDS_VALUES),
        "Exists" | "DoesNotExist" => expect(requirement, !has_values, TAKES_NONE),
        _ => Err(SelectorError::UnknownOperator {
            key: requirement.key.clone(),
            operator: requirement.operator.clone(),
        }),
    }
}

fn expect(
    requirement: &LabelSelectorRequirement,
    holds: bool,
    expectation: &'static str,
) -> Result<(), SelectorError> {
    if holds {
        return Ok(());
    }
    Err(SelectorError::Values {
        key: requirement.key.clone(),
        operator: requirement.operator.clone(),
        expectation,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    fn labels() -> BTreeMap<String, String> {
        BTreeMap::from([("team".to_owned(), "a".to_owned()), ("env".to_owned(), "dev".to_owned())])
    }

    fn selector(value: serde_json::Value) -> LabelSelector {
        serde_json::from_value(value).unwrap()
    }

    fn expression(operator: &str, key: &str, values: &[&str]) -> LabelSelector {
        selector(json!({"matchExpressions": [
            {"key": key, "operator": operator, "values": values}
        ]}))
    }

    #[rstest]
    #[case::empty(selector(json!({})), true)]
    #[case::label(selector(json!({"matchLabels": {"team": "a"}})), true)]
    #[case::other_value(selector(json!({"matchLabels": {"team": "b"}})), false)]
    #[case::one_of_two(selector(json!({"matchLabels": {"team": "a", "x": "y"}})), false)]
    #[case::contained(expression("In", "team", &["a", "b"]), true)]
    #[case::not_contained(expression("In", "team", &["b"]), false)]
    #[case::absent_is_not_in(expression("NotIn", "zone", &["b"]), true)]
    #[case::listed_is_not_not_in(expression("NotIn", "team", &["a"]), false)]
    #[case::exists(expression("Exists", "env", &[]), true)]
    #[case::does_not_exist(expression("DoesNotExist", "env", &[]), false)]
    fn selections(#[case] selector: LabelSelector, #[case] fits: bool) {
        assert_eq!(matches(&selector, &labels()), Ok(fits));
    }

    #[rstest]
    #[case::unknown(expression("Like", "team", &["a"]), "\"Like\" is not a valid")]
    #[case::no_values(
        expression("In", "team", &[]),
        "operator In for key \"team\" needs values; list some"
    )]
    #[case::values(expression("Exists", "team", &["a"]), "takes no values; remove them")]
    #[case::large(
        expression("In", "team", &["a"; 2_000]),
        "spec.selector has 2001 requirements and values, and may have 2000"
    )]
    fn refusals(#[case] selector: LabelSelector, #[case] text: &str) {
        let error = matches(&selector, &labels()).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
}
