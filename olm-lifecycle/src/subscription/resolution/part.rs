//! What an unusable catalog stops, and what it does not.
//!
//! In v0 one catalog that cannot be used stops every namespace that sees it (spec catalog-operator
//! 3.2). Here it stops the Subscriptions that name it; the others are resolved without it.

use std::collections::BTreeMap;

use olm_types::bundle::CatalogKey;

use super::Namespace;
use super::fail::Failure;

/// Why catalogs cannot be used, by catalog.
pub type Unusable = BTreeMap<CatalogKey, String>;

/// A namespace in two parts.
#[derive(Clone, Debug, Default)]
pub struct Parted {
    /// The namespace with those Subscriptions only that can be resolved.
    pub able: Namespace,
    /// By unusable catalog: the namespace with those Subscriptions only that name it.
    pub stuck: BTreeMap<CatalogKey, Namespace>,
}

/// Sets the Subscriptions aside that name a catalog that cannot be used.
pub fn part(namespace: &Namespace, unusable: &Unusable) -> Parted {
    let mut parted = Parted { able: without_subscriptions(namespace), ..Parted::default() };
    for subscription in &namespace.subscriptions {
        let spec = &subscription.spec;
        let catalog = CatalogKey::new(&spec.source_namespace, &spec.source);
        let place = if unusable.contains_key(&catalog) {
            parted.stuck.entry(catalog).or_insert_with(|| without_subscriptions(namespace))
        } else {
            &mut parted.able
        };
        place.subscriptions.push(subscription.clone());
    }
    parted
}

impl Failure {
    /// What the Subscriptions say that name an unusable catalog; the text is v0's.
    pub fn unusable(catalog: &CatalogKey, reason: &str) -> Self {
        Self::Prevented(format!("error using catalogsource {catalog}: {reason}"))
    }

    /// The failure of those who were resolved without some catalogs: with these it might have
    /// been a success, so they are named first and it is tried again.
    #[must_use]
    pub fn without(self, unusable: &Unusable) -> Self {
        if unusable.is_empty() {
            return self;
        }
        let catalogs = unusable.iter().map(|(key, reason)| Self::unusable(key, reason).message());
        let catalogs: Vec<_> = catalogs.collect();
        Self::Prevented(format!("{}; without: {}", catalogs.join(", "), self.message()))
    }
}

fn without_subscriptions(namespace: &Namespace) -> Namespace {
    Namespace { subscriptions: Vec::new(), ..namespace.clone() }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use olm_types::api::Subscription;
    use serde_json::json;

    use super::*;

    fn to(name: &str, source: &str) -> Arc<Subscription> {
        let object = json!({
            "metadata": {"name": name},
            "spec": {"name": "p", "source": source, "sourceNamespace": if source.is_empty() { "" } else { "ns" }},
        });
        Arc::new(serde_json::from_value(object).unwrap())
    }

    fn names(namespace: &Namespace) -> Vec<&str> {
        let names = namespace.subscriptions.iter().map(|wish| wish.metadata.name.as_deref());
        names.map(Option::unwrap_or_default).collect()
    }

    fn unusable() -> Unusable {
        Unusable::from([(CatalogKey::new("ns", "dead"), "connection refused".to_owned())])
    }

    #[test]
    fn only_those_who_name_the_catalog_are_stuck() {
        let subscriptions = vec![to("a", "dead"), to("b", "good"), to("c", ""), to("d", "dead")];
        let namespace = Namespace { subscriptions, name: "ns".to_owned(), ..Default::default() };
        let parted = part(&namespace, &unusable());
        assert_eq!(names(&parted.able), ["b", "c"]);
        assert_eq!(names(&parted.stuck[&CatalogKey::new("ns", "dead")]), ["a", "d"]);
        assert_eq!(parted.able.name, "ns");
        assert!(part(&namespace, &Unusable::new()).stuck.is_empty());
    }

    #[test]
    fn a_failure_names_the_catalogs_that_were_left_out() {
        let failure = Failure::NotSatisfiable("constraints not satisfiable: x".to_owned());
        assert_eq!(failure.clone().without(&Unusable::new()), failure);
        assert_eq!(
            failure.without(&unusable()),
            Failure::Prevented(
                "error using catalogsource ns/dead: connection refused; \
                 without: constraints not satisfiable: x"
                    .to_owned()
            )
        );
    }
}
