//! Whether a CustomResourceDefinition is still the one of an older version of the operator
//! (spec olm-operator 2.2, "Alongside rule").

use std::collections::BTreeSet;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use olm_types::annotations::INSTALLED_ALONGSIDE_PREFIX;

use crate::csv::chain::Chain;
use crate::csv::observed::Observed;

/// Names of CSVs that the observed one replaces, directly or through others, and together with
/// which the definition was installed; empty when the observed CSV is among those recorded.
pub(super) fn ancestors_alongside<'a>(
    observed: &'a Observed,
    crd: &'a CustomResourceDefinition,
) -> BTreeSet<&'a str> {
    let recorded = recorded_in(observed.namespace(), crd);
    if recorded.contains(observed.name()) {
        return BTreeSet::new();
    }
    let chain = Chain::new(observed.siblings.iter().map(AsRef::as_ref));
    let names = chain.ancestors(&observed.csv).into_iter();
    let names = names.map(|csv| csv.metadata.name.as_deref().unwrap_or_default());
    names.take_while(|name| recorded.contains(name)).collect()
}

/// The names recorded for a namespace; values that are not `namespace/name` are ignored.
fn recorded_in<'a>(namespace: &str, crd: &'a CustomResourceDefinition) -> BTreeSet<&'a str> {
    let annotations = crd.metadata.annotations.iter().flatten();
    annotations
        .filter(|(key, _)| key.starts_with(INSTALLED_ALONGSIDE_PREFIX))
        .filter_map(|(_, value)| value.split_once('/'))
        .filter(|(home, name)| *home == namespace && !name.contains('/'))
        .map(|(_, name)| name)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use olm_types::api::ClusterServiceVersion;
    use rstest::rstest;
    use std::sync::Arc;

    fn mk_csv(name: &str, replaces: &str) -> Arc<ClusterServiceVersion> {
        let mut csv = ClusterServiceVersion::new(name, Default::default());
        csv.metadata.namespace = Some("ns".to_owned());
        csv.spec.replaces = Some(replaces.to_owned()).filter(|text| !text.is_empty());
        Arc::new(csv)
    }

    fn mk_crd(values: &[&str]) -> CustomResourceDefinition {
        let key = |index: usize| format!("{INSTALLED_ALONGSIDE_PREFIX}{index}");
        let annotations = values.iter().enumerate().map(|(i, value)| (key(i), (*value).to_owned()));
        let mut crd = CustomResourceDefinition::default();
        crd.metadata.annotations = Some(annotations.collect());
        crd
    }

    /// CSV `a` (replacing `replaces`) among siblings, given as name and what each replaces.
    #[rstest]
    #[case::other_namespace("b", &[("b", "")], &["other/b"], &[])]
    #[case::only_itself("b", &[("b", "")], &["ns/a"], &[])]
    #[case::itself_among_several("b", &[("b", "")], &["ns/a", "ns/b"], &[])]
    #[case::absent_or_copied("b", &[], &["ns/b"], &[])]
    #[case::no_ancestor("", &[("b", "")], &["ns/b"], &[])]
    #[case::two_ancestors("b", &[("b", "c"), ("c", "")], &["ns/b", "ns/c"], &["b", "c"])]
    #[case::unlisted_link("b", &[("b", "c"), ("c", "")], &["ns/c"], &[])]
    #[case::descendant("", &[("b", "a")], &["ns/b"], &[])]
    #[case::cycle("b", &[("b", "c"), ("c", "a")], &["ns/b", "ns/c"], &["b", "c"])]
    #[case::malformed("b", &[("b", "")], &["ns/b/c", "b"], &[])]
    fn ancestors(
        #[case] replaces: &str,
        #[case] siblings: &[(&str, &str)],
        #[case] values: &[&str],
        #[case] expected: &[&str],
    ) {
        let observed = Observed {
            csv: mk_csv("a", replaces),
            siblings: siblings.iter().map(|(name, replaces)| mk_csv(name, replaces)).collect(),
            ..Observed::default()
        };
        let crd = mk_crd(values);
        let found = ancestors_alongside(&observed, &crd);
        assert_eq!(found, expected.iter().copied().collect());
    }
}
