//! Which namespaces a group selects (spec olm-operator 4.1).

use std::collections::BTreeMap;

use olm_types::api::OperatorGroupSpec;

use crate::namespace_set::NamespaceSet;
use crate::selector::{SelectorError, fit, matches};

/// Why a group's targets cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// The list names the empty namespace.
    #[error("TargetNamespaces cannot contain NamespaceAll: [{}]", .0.join(" "))]
    ContainsAll(Vec<String>),
    /// The list is longer than any cluster needs; it is looked at again and again.
    #[error(
        "spec.targetNamespaces has {0} namespaces, and may have {MOST_TARGETS}; select them by a label with \
         spec.selector"
    )]
    TooMany(usize),
    /// The selector is malformed.
    #[error(transparent)]
    Selector(#[from] SelectorError),
}

/// Most namespaces that a group lists by name.
const MOST_TARGETS: usize = 20_000;

/// The namespaces that `spec` selects among `namespaces` (names with their labels).
///
/// A list wins over a selector; its namespaces need not exist. No selector, or one without
/// requirements, selects all namespaces. A selector that fits nothing selects nothing.
pub fn select_targets<'a>(
    spec: &OperatorGroupSpec,
    namespaces: impl IntoIterator<Item = (&'a str, &'a BTreeMap<String, String>)>,
) -> Result<NamespaceSet, TargetError> {
    if !spec.target_namespaces.is_empty() {
        if spec.target_namespaces.len() > MOST_TARGETS {
            return Err(TargetError::TooMany(spec.target_namespaces.len()));
        }
        if spec.target_namespaces.iter().any(String::is_empty) {
            return Err(TargetError::ContainsAll(spec.target_namespaces.clone()));
        }
        return Ok(spec.target_namespaces.iter().cloned().collect());
    }
    let Some(selector) = spec.selector.as_ref().filter(|_| requires_labels(spec)) else {
        return Ok(NamespaceSet::all());
    };
    // An invalid selector is an error even while there is no namespace to try it on.
    matches(selector, &BTreeMap::new())?;
    let mut selected = Vec::new();
    for (name, labels) in namespaces {
        if fit(selector, labels) {
            selected.push(name);
        }
    }
    Ok(selected.into_iter().collect())
}

/// Whether labels of namespaces decide what `spec` selects.
pub(crate) fn requires_labels(spec: &OperatorGroupSpec) -> bool {
    let selector = spec.selector.as_ref().filter(|_| spec.target_namespaces.is_empty());
    selector.is_some_and(|selector| {
        selector.match_labels.iter().flatten().next().is_some()
            || selector.match_expressions.iter().flatten().next().is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    fn targets(spec: serde_json::Value) -> Result<Vec<String>, String> {
        let spec: OperatorGroupSpec = serde_json::from_value(spec).unwrap();
        let dev = BTreeMap::from([("env".to_owned(), "dev".to_owned())]);
        let none = BTreeMap::new();
        let namespaces = [("c", &dev), ("a", &dev), ("b", &none)];
        select_targets(&spec, namespaces)
            .map(|set| set.names().map(str::to_owned).collect())
            .map_err(|error| error.to_string())
    }

    #[rstest]
    #[case::nothing_said(json!({}), &[""])]
    #[case::empty_selector(json!({"selector": {}}), &[""])]
    #[case::empty_lists(json!({"selector": {"matchLabels": {}, "matchExpressions": []}}), &[""])]
    #[case::list(json!({"targetNamespaces": ["z", "y", "z"]}), &["y", "z"])]
    #[case::selector(json!({"selector": {"matchLabels": {"env": "dev"}}}), &["a", "c"])]
    #[case::no_match(json!({"selector": {"matchLabels": {"env": "x"}}}), &[])]
    #[case::list_wins(
        json!({"targetNamespaces": ["z"], "selector": {"matchLabels": {"env": "dev"}}}), &["z"])]
    fn selections(#[case] spec: serde_json::Value, #[case] expected: &[&str]) {
        let expected: Vec<String> = expected.iter().copied().map(str::to_owned).collect();
        assert_eq!(targets(spec), Ok(expected));
    }

    #[test]
    fn the_empty_name_is_refused() {
        assert_eq!(
            targets(json!({"targetNamespaces": ["a", ""]})),
            Err("TargetNamespaces cannot contain NamespaceAll: [a ]".to_owned())
        );
    }

    #[test]
    fn a_list_without_end_is_refused() {
        let names: Vec<String> = (0..=MOST_TARGETS).map(|number| format!("n{number}")).collect();
        let error = targets(json!({"targetNamespaces": names})).unwrap_err();
        assert!(error.starts_with("spec.targetNamespaces has 20001 namespaces"), "{error}");
    }

    #[test]
    fn a_malformed_selector_is_refused() {
        let selector = json!({"matchExpressions": [{"key": "k", "operator": "Like"}]});
        assert!(targets(json!({"selector": selector})).unwrap_err().contains("\"Like\""));
    }
}
