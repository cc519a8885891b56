//! Which catalogs the operator serves itself. Whoever may write a CatalogSource can choose a Pod for it,
//! never the operator: nothing is parsed in the operator because a tenant asks for it.

use std::collections::BTreeSet;

use kube_core::ResourceExt;
use olm_types::annotations::{SERVED_BY, SERVED_BY_POD};
use olm_types::api::CatalogSource;

use super::super::spec::{Backend, backend};

/// The namespaces whose catalogs the operator serves (`--catalogs`, `--catalogs-process-namespaces`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope(Namespaces);

/// Namespaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Namespaces {
    /// Those with these names.
    Some(BTreeSet<String>),
    /// All.
    All,
}

impl Default for Namespaces {
    fn default() -> Self {
        Self::Some(BTreeSet::new())
    }
}

impl Scope {
    /// Global catalogs, and those of other namespaces that are named, `*` for all.
    pub fn process(global_namespace: &str, others: &[String]) -> Self {
        if others.iter().any(|name| name == "*") {
            return Self(Namespaces::All);
        }
        let names = others.iter().filter(|name| !name.is_empty()).cloned();
        Self(Namespaces::Some(names.chain([global_namespace.to_owned()]).collect()))
    }

    /// Whether the operator serves any catalog.
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, Namespaces::Some(names) if names.is_empty())
    }

    /// Whether the operator serves catalogs of the namespace.
    pub fn includes(&self, namespace: &str) -> bool {
        match &self.0 {
            Namespaces::All => true,
            Namespaces::Some(names) => names.contains(namespace),
        }
    }

    /// Whether the operator serves the catalog: one of an image that its spec does not say to be
    /// served elsewhere.
    pub fn covers(&self, catalog: &CatalogSource) -> bool {
        let inside = self.includes(&catalog.namespace().unwrap_or_default());
        let elsewhere = catalog.spec.address.as_ref().is_some_and(|address| !address.is_empty());
        let served_by = catalog.annotations().get(SERVED_BY).map(String::as_str);
        inside
            && served_by != Some(SERVED_BY_POD)
            && !elsewhere
            && matches!(backend(catalog), Ok(Backend::Image))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn catalog(namespace: &str, spec: Value, annotations: Value) -> CatalogSource {
        let metadata = json!({"name": "c", "namespace": namespace, "annotations": annotations});
        serde_json::from_value(json!({"metadata": metadata, "spec": spec})).unwrap()
    }

    #[rstest]
    #[case::global("olm", json!({"sourceType": "grpc", "image": "i"}), json!({}), true)]
    #[case::of_a_tenant("team", json!({"sourceType": "grpc", "image": "i"}), json!({}), false)]
    #[case::named("ours", json!({"sourceType": "grpc", "image": "i"}), json!({}), true)]
    #[case::chosen("olm", json!({"sourceType": "grpc", "image": "i"}), json!({SERVED_BY: "pod"}), false)]
    #[case::no_tenant_chooses_it("team", json!({"sourceType": "grpc", "image": "i"}), json!({SERVED_BY: "process"}), false)]
    #[case::unknown_word("olm", json!({"sourceType": "grpc", "image": "i"}), json!({SERVED_BY: "x"}), true)]
    #[case::address("olm", json!({"sourceType": "grpc", "address": "a:1"}), json!({}), false)]
    #[case::both("olm", json!({"sourceType": "grpc", "image": "i", "address": "a:1"}), json!({}), false)]
    #[case::config_map("olm", json!({"sourceType": "internal", "configMap": "m"}), json!({}), false)]
    fn which_catalogs(
        #[case] namespace: &str,
        #[case] spec: Value,
        #[case] annotations: Value,
        #[case] expected: bool,
    ) {
        let catalog = catalog(namespace, spec, annotations);
        let scope = Scope::process("olm", &["ours".to_owned(), String::new()]);
        assert_eq!(scope.covers(&catalog), expected);
        assert!(!Scope::default().covers(&catalog));
        let all = Scope::process("olm", &["*".to_owned()]);
        assert_eq!(all.covers(&catalog), expected || namespace == "team");
    }

    #[test]
    fn nothing_is_served_by_default() {
        assert!(Scope::default().is_empty());
        assert!(!Scope::process("olm", &[]).is_empty());
    }
}
