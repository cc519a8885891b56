//! What is said about catalogs that cannot be used.
//!
//! In v0 one such catalog stops every namespace that sees it (spec catalog-operator 3.2). Here it
//! stops the Subscriptions that name it; the others are resolved without it.

use std::collections::BTreeMap;

use olm_types::bundle::CatalogKey;

use super::fail::Failure;

/// Why catalogs cannot be used, by catalog.
pub type Unusable = BTreeMap<CatalogKey, String>;

impl Failure {
    /// The failure of those who were resolved without some catalogs: with these it might have
    /// been a success, so they are named first and it is tried again.
    #[must_use]
    pub fn without(self, unusable: &Unusable) -> Self {
        if unusable.is_empty() {
            return self;
        }
        let catalogs = unusable
            .iter()
            .map(|(catalog, reason)| format!("error using catalogsource {catalog}: {reason}"));
        let catalogs: Vec<_> = catalogs.collect();
        Self::Prevented(format!("{}; without: {}", catalogs.join(", "), self.message()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_catalogs_that_were_left_out() {
        let dead = (CatalogKey::new("ns", "dead"), "connection refused".to_owned());
        let failure = Failure::NotSatisfiable("constraints not satisfiable: x".to_owned());
        assert_eq!(failure.clone().without(&Unusable::new()), failure);
        assert_eq!(
            failure.without(&Unusable::from([dead])),
            Failure::Prevented(
                "error using catalogsource ns/dead: connection refused; \
                 without: constraints not satisfiable: x"
                    .to_owned()
            )
        );
    }
}
