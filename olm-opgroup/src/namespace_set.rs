//! Sets of namespaces in which "all namespaces" is a value of its own.

use std::collections::BTreeSet;

/// A set of namespace names; the single element `""` stands for all namespaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamespaceSet(BTreeSet<String>);

impl NamespaceSet {
    /// All namespaces.
    pub fn all() -> Self {
        Self(BTreeSet::from([String::new()]))
    }

    /// Reads the comma-separated text of the annotation `olm.targetNamespaces`; an empty text
    /// means all namespaces.
    pub fn from_text(text: &str) -> Self {
        text.split(',').collect()
    }

    /// Whether this is exactly "all namespaces".
    pub fn is_all(&self) -> bool {
        self.0.len() == 1 && self.0.contains("")
    }

    /// Whether nothing is selected.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the namespace is selected.
    pub fn contains(&self, namespace: &str) -> bool {
        self.is_all() || self.0.contains(namespace)
    }

    /// The names, ascending; `""` for all namespaces.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// What both select.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        match (self.is_all(), other.is_all()) {
            (true, _) => other.clone(),
            (_, true) => self.clone(),
            (false, false) => Self(self.0.intersection(&other.0).cloned().collect()),
        }
    }

    /// What either selects.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        if self.is_all() || other.is_all() {
            return Self::all();
        }
        Self(self.0.union(&other.0).cloned().collect())
    }
}

impl<S: Into<String>> FromIterator<S> for NamespaceSet {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn set(names: &[&str]) -> NamespaceSet {
        names.iter().copied().collect()
    }

    #[rstest]
    #[case::nothing_and_something(&[], &["a"], &[])]
    #[case::same(&["ns"], &["ns"], &["ns"])]
    #[case::partial(&["a", "b"], &["b", "c"], &["b"])]
    #[case::equal(&["a", "b"], &["a", "b"], &["a", "b"])]
    #[case::disjoint(&["a"], &["b"], &[])]
    #[case::all_left(&[""], &["a"], &["a"])]
    #[case::all_right(&["a"], &[""], &["a"])]
    #[case::all_and_nothing(&[""], &[], &[])]
    #[case::both_all(&[""], &[""], &[""])]
    fn intersections(#[case] a: &[&str], #[case] b: &[&str], #[case] both: &[&str]) {
        assert_eq!(set(a).intersection(&set(b)), set(both));
    }

    #[rstest]
    #[case::plain(&["a"], &["b"], &["a", "b"])]
    #[case::with_nothing(&["a"], &[], &["a"])]
    #[case::all_left(&[""], &["a"], &[""])]
    #[case::all_and_nothing(&[""], &[], &[""])]
    #[case::nothing(&[], &[], &[])]
    fn unions(#[case] a: &[&str], #[case] b: &[&str], #[case] either: &[&str]) {
        assert_eq!(set(a).union(&set(b)), set(either));
        assert_eq!(set(b).union(&set(a)), set(either));
    }

    #[test]
    fn only_the_single_empty_name_is_all() {
        assert!(set(&[""]).is_all());
        assert!(!set(&["", "a"]).is_all());
        assert!(!set(&[]).is_all());
        assert!(set(&[""]).contains("anything"));
        assert!(!set(&["a"]).contains("b"));
    }

    #[rstest]
    #[case("a", &["a"])]
    #[case("a,b", &["a", "b"])]
    #[case("", &[""])]
    fn texts(#[case] text: &str, #[case] names: &[&str]) {
        assert_eq!(NamespaceSet::from_text(text), set(names));
    }
}
