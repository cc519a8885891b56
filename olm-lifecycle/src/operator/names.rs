//! Names of Operators and the labels made from them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use olm_types::labels::COMPONENT_PREFIX;

/// Longest name of a cluster-scoped object.
const NAME_LIMIT: usize = 253;

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
    fn labels_name_operators() {
        let mut metadata = ObjectMeta::default();
        assert_eq!(operator_names(&metadata).count(), 0);
        let keys = ["a", "operators.coreos.com/etcd.ns", "operators.coreos.com/other"];
        let labels = keys.map(|key| (key.to_owned(), String::new()));
        metadata.labels = Some(labels.into());
        assert_eq!(operator_names(&metadata).collect::<Vec<_>>(), ["etcd.ns", "other"]);
    }
}
