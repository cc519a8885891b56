//! The namespace that an operator suggests for itself, and where an installation goes.

use std::collections::BTreeMap;

use olm_types::document::{self, Budget, Meter};

/// The annotation of a CSV with the name of the namespace.
pub const NAMESPACE: &str = "operatorframework.io/suggested-namespace";

/// The annotation of a CSV with the manifest of the namespace, as JSON.
pub const TEMPLATE: &str = "operatorframework.io/suggested-namespace-template";

/// The longest name of a namespace, in bytes.
const LONGEST: usize = 63;

/// A namespace that a CSV suggests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// Its name, which may be the name of a namespace.
    pub namespace: String,
    /// The annotation that says so.
    pub annotation: &'static str,
}

/// What the annotations of a CSV suggest; a text that cannot be the name of a namespace is no suggestion.
#[must_use]
pub fn suggestion(annotations: &BTreeMap<String, String>) -> Option<Suggestion> {
    let named = annotations.get(NAMESPACE).map(|name| (name.clone(), NAMESPACE));
    let template = annotations.get(TEMPLATE).and_then(|text| template_name(text));
    let all = named.into_iter().chain(template.map(|name| (name, TEMPLATE)));
    let suggestion = |(namespace, annotation)| Suggestion { namespace, annotation };
    all.map(suggestion).find(|one| is_namespace(&one.namespace))
}

fn template_name(text: &str) -> Option<String> {
    let manifest = document::json(text.as_bytes(), &mut Meter::in_all(Budget::OBJECT)).ok()?;
    manifest.pointer("/metadata/name")?.as_str().map(str::to_owned)
}

/// Whether a text is a DNS label, as names of namespaces are.
pub(crate) fn is_namespace(text: &str) -> bool {
    let is_edge = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.len() <= LONGEST
        && text.starts_with(is_edge)
        && text.ends_with(is_edge)
        && text.chars().all(|c| is_edge(c) || c == '-')
}

/// What decides where an installation goes.
#[derive(Clone, Copy, Debug)]
pub struct PlacementRequest<'a> {
    /// The namespace that a flag or the context names.
    pub home: &'a str,
    /// Whether a flag names it.
    pub is_named: bool,
    /// NAMESPACE/NAME of the catalog that has the bundle.
    pub catalog: &'a str,
    /// The namespace of catalogs that every namespace sees.
    pub global: &'a str,
}

/// Where an installation goes, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The namespace.
    pub namespace: String,
    /// The reason, in words.
    pub why: String,
}

/// A flag wins. A suggestion is followed unless the catalog is one that only the namespace at hand sees.
#[must_use]
pub fn place(asked: PlacementRequest<'_>, suggestion: Option<&Suggestion>) -> Placement {
    let stays = |why: String| Placement { namespace: asked.home.to_owned(), why };
    let Some(Suggestion { namespace, annotation }) = suggestion else {
        return stays(match asked.is_named {
            true => "-n names it".to_owned(),
            false => "the context names it, and the operator suggests none".to_owned(),
        });
    };
    if namespace == asked.home {
        return stays(format!("the operator suggests it ({annotation})"));
    }
    if asked.is_named {
        return stays(format!("-n names it; the operator suggests {namespace} ({annotation})"));
    }
    let source = asked.catalog.split_once('/').map_or("", |(namespace, _)| namespace);
    if source != asked.global && source != namespace.as_str() {
        let catalog = asked.catalog;
        return stays(format!(
            "the operator suggests {namespace} ({annotation}), which does not see catalog {catalog}"
        ));
    }
    let why = format!("the operator suggests it ({annotation}); -n names another");
    Placement { namespace: namespace.clone(), why }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn annotations(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[rstest]
    #[case::nothing(&[], None)]
    #[case::name(&[(NAMESPACE, "tea")], Some(("tea", NAMESPACE)))]
    #[case::template(&[(TEMPLATE, r#"{"metadata": {"name": "tea"}}"#)], Some(("tea", TEMPLATE)))]
    #[case::both(&[(NAMESPACE, "tea"), (TEMPLATE, r#"{"metadata": {"name": "coffee"}}"#)],
        Some(("tea", NAMESPACE)))]
    #[case::empty(&[(NAMESPACE, ""), (TEMPLATE, r#"{"metadata": {"name": "tea"}}"#)],
        Some(("tea", TEMPLATE)))]
    #[case::no_json(&[(TEMPLATE, "tea")], None)]
    #[case::no_name(&[(TEMPLATE, r#"{"metadata": {"name": 1}}"#)], None)]
    #[case::capitals(&[(NAMESPACE, "Tea")], None)]
    #[case::hyphen(&[(NAMESPACE, "-tea")], None)]
    #[case::path(&[(NAMESPACE, "tea/../kube-system")], None)]
    #[case::escapes(&[(NAMESPACE, "tea\u{1b}[2J")], None)]
    fn annotations_suggest_names_of_namespaces(
        #[case] pairs: &[(&str, &str)],
        #[case] expected: Option<(&str, &str)>,
    ) {
        let found = suggestion(&annotations(pairs));
        let found = found.as_ref().map(|one| (one.namespace.as_str(), one.annotation));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_name_has_at_most_63_characters() {
        let of = |length: usize| annotations(&[(NAMESPACE, &"a".repeat(length))]);
        assert!(suggestion(&of(63)).is_some());
        assert_eq!(suggestion(&of(64)), None);
    }

    #[rstest]
    #[case::context(
        false,
        None,
        "olm/c",
        "home",
        "the context names it, and the operator suggests none"
    )]
    #[case::flag(true, None, "olm/c", "home", "-n names it")]
    #[case::suggested(false, Some("tea"), "olm/c", "tea", "the operator suggests it")]
    #[case::flag_wins(true, Some("tea"), "olm/c", "home", "-n names it; the operator suggests tea")]
    #[case::same(false, Some("home"), "olm/c", "home", "the operator suggests it")]
    #[case::own_catalog(false, Some("tea"), "home/c", "home", "which does not see catalog home/c")]
    #[case::its_catalog(false, Some("tea"), "tea/c", "tea", "the operator suggests it")]
    fn a_flag_wins_over_a_suggestion(
        #[case] is_named: bool,
        #[case] suggested: Option<&str>,
        #[case] catalog: &str,
        #[case] namespace: &str,
        #[case] why: &str,
    ) {
        let suggested = suggested.and_then(|name| suggestion(&annotations(&[(NAMESPACE, name)])));
        let asked = PlacementRequest { home: "home", is_named, catalog, global: "olm" };
        let found = place(asked, suggested.as_ref());
        assert_eq!(found.namespace, namespace);
        assert!(found.why.contains(why), "{}", found.why);
    }

    #[test]
    fn a_template_may_say_more_than_a_name() {
        let manifest = json!({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "tea",
            "annotations": {"openshift.io/node-selector": ""}}});
        let found = suggestion(&annotations(&[(TEMPLATE, &manifest.to_string())]));
        assert_eq!(found.map(|one| one.namespace).as_deref(), Some("tea"));
    }
}
