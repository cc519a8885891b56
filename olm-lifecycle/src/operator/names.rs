//! Names of Operators and the labels made from them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use olm_types::labels::COMPONENT_PREFIX;

/// Longest name of a cluster-scoped object.
const NAME_LIMIT: usize = 253;

/// Names in labels that are as long as this may have lost their end ([`olm_types::labels::component`]).
const CUT: usize = 61;

/// Most labels that a CSV passes on to what it owns, in alphabetical order. It has one for each package that
/// installed it.
const PASSED_ON: usize = 64;

/// The name of the Operator of a package that is installed in a namespace.
pub fn operator_name(package: &str, namespace: &str) -> String {
    match namespace {
        "" => package.to_owned(),
        namespace => format!("{package}.{namespace}"),
    }
}

/// The component labels of an object, as keys.
pub fn component_keys(metadata: &ObjectMeta) -> impl Iterator<Item = &str> {
    let keys = metadata.labels.iter().flat_map(|labels| labels.keys());
    keys.map(String::as_str).filter(|key| key.starts_with(COMPONENT_PREFIX))
}

/// The component labels that a CSV passes on to what it owns: those of Operators of its namespace. Its labels are
/// written by users of the namespace, and what it owns may be the cluster's.
pub(super) fn passed_on(metadata: &ObjectMeta) -> impl Iterator<Item = &str> {
    let namespace = metadata.namespace.as_deref();
    let is_own = move |key: &&str| {
        let name = key.strip_prefix(COMPONENT_PREFIX).unwrap_or_default();
        is_cut(name) || home_of(name) == namespace
    };
    component_keys(metadata).filter(is_own).take(PASSED_ON)
}

/// The namespace that the name of an Operator ends with.
pub(super) fn home_of(operator: &str) -> Option<&str> {
    operator.rsplit_once('.').map(|(_, namespace)| namespace)
}

/// Whether a name in a label is that of a longer one, whose end is not known.
pub fn is_cut(operator: &str) -> bool {
    operator.len() >= CUT
}

/// Whether two Operators are of one namespace, as far as their names say.
pub fn have_one_home(one: &str, other: &str) -> bool {
    match (is_cut(one), is_cut(other)) {
        (false, false) => home_of(one) == home_of(other),
        (one, other) => one == other,
    }
}

/// The Operators that the labels of an object name.
pub fn operator_names(metadata: &ObjectMeta) -> impl Iterator<Item = &str> {
    component_keys(metadata).filter_map(|key| key.strip_prefix(COMPONENT_PREFIX))
}

/// Whether an API server accepts an Operator of this name. A label may have upper case letters and
/// underscores, the name of an object may not.
pub(crate) fn is_operator_name(name: &str) -> bool {
    let allowed = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_part = |part: &str| {
        let (first, last) = (part.as_bytes().first(), part.as_bytes().last());
        first.is_some_and(allowed)
            && last.is_some_and(allowed)
            && part.bytes().all(|byte| allowed(&byte) || byte == b'-')
    };
    name.len() <= NAME_LIMIT && name.split('.').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("etcd", "ns", "etcd.ns")]
    #[case("etcd", "", "etcd")]
    fn names_of_operators(#[case] package: &str, #[case] namespace: &str, #[case] name: &str) {
        assert_eq!(operator_name(package, namespace), name);
    }

    #[rstest]
    #[case("etcd.ns", true)]
    #[case("3scale.my-ns", true)]
    #[case("", false)]
    #[case("a..b", false)]
    #[case("Etcd", false)]
    #[case("a_b", false)]
    #[case("-a", false)]
    fn names_that_an_api_server_accepts(#[case] name: &str, #[case] accepted: bool) {
        assert_eq!(is_operator_name(name), accepted);
    }

    #[test]
    fn a_csv_passes_on_labels_of_its_own_namespace() {
        let long = format!("operators.coreos.com/{}", "a".repeat(63));
        let keys =
            ["etcd.ns", "etcd.other", "etcd"].map(|name| format!("operators.coreos.com/{name}"));
        let labels = keys.into_iter().chain([long.clone()]).map(|key| (key, String::new()));
        let namespace = Some("ns".to_owned());
        let metadata =
            ObjectMeta { namespace, labels: Some(labels.collect()), ..ObjectMeta::default() };
        let passed_on: Vec<&str> = passed_on(&metadata).collect();
        assert_eq!(passed_on, [long.as_str(), "operators.coreos.com/etcd.ns"]);
    }

    #[test]
    fn a_csv_passes_on_a_bounded_number_of_labels() {
        let keys = (0..1_000).map(|number| format!("operators.coreos.com/p{number}.ns"));
        let labels = keys.map(|key| (key, String::new())).collect();
        let namespace = Some("ns".to_owned());
        let metadata = ObjectMeta { namespace, labels: Some(labels), ..ObjectMeta::default() };
        assert_eq!(passed_on(&metadata).count(), PASSED_ON);
    }

    #[rstest]
    #[case("a.ns", "b.ns", true)]
    #[case("a.ns", "b.other", false)]
    #[case("a", "b", true)]
    #[case("a.ns", "b", false)]
    fn homes(#[case] one: &str, #[case] other: &str, #[case] alike: bool) {
        assert_eq!(have_one_home(one, other), alike);
        let long = "a".repeat(63);
        assert!(have_one_home(&long, &"b".repeat(63)) && !have_one_home(&long, one));
    }

    #[test]
    fn labels_name_operators() {
        let mut metadata = ObjectMeta::default();
        assert_eq!(operator_names(&metadata).count(), 0);
        let keys = ["a", "operators.coreos.com/etcd.ns", "operators.coreos.com/other"];
        let labels = keys.map(|key| (key.to_owned(), String::new()));
        metadata.labels = Some(labels.into());
        assert_eq!(operator_names(&metadata).collect::<Vec<_>>(), ["etcd.ns", "other"]);
    }
}
