//! Order of catalogs: installed CSVs, the asking bundle's own catalog, priority, the resolved
//! namespace before others, name (spec catalog-operator 3.6).

use std::cmp::Reverse;

use olm_types::bundle::{CatalogKey, CatalogView};

use crate::installed::VIRTUAL_CATALOG;

/// From where catalogs are looked at.
#[derive(Clone, Copy, Debug)]
pub struct CatalogViewpoint<'a> {
    /// The namespace that is resolved.
    pub namespace: &'a str,
    /// Catalog of the bundle that has the dependency; none for a Subscription.
    pub catalog: Option<&'a CatalogKey>,
}

pub(super) fn order(from: &CatalogViewpoint<'_>, catalogs: &mut [CatalogView]) {
    catalogs.sort_by_cached_key(|view| {
        (
            &*view.key.name != VIRTUAL_CATALOG,
            !super::same_catalog(from, &view.key),
            Reverse(view.priority),
            &*view.key.namespace != from.namespace,
            view.key.name.clone(),
            view.key.namespace.clone(),
        )
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn view(text: &str) -> CatalogView {
        let (place, priority) = text.split_once(':').unwrap_or((text, "0"));
        let (namespace, name) = place.split_once('/').unwrap();
        CatalogView {
            key: CatalogKey::new(namespace, name),
            priority: priority.parse().unwrap(),
            unavailable: None,
        }
    }

    #[rstest]
    #[case::name(None, &["olm/b", "olm/a"], &["olm/a", "olm/b"])]
    #[case::own_namespace(None, &["olm/a", "team/z"], &["team/z", "olm/a"])]
    #[case::priority(None, &["team/a", "olm/z:1"], &["olm/z:1", "team/a"])]
    #[case::negative_priority(None, &["team/a:-1", "olm/z"], &["olm/z", "team/a:-1"])]
    #[case::same_catalog(Some("olm/low"), &["olm/high:9", "olm/low"], &["olm/low", "olm/high:9"])]
    #[case::installed(Some("olm/low"), &["olm/low", "team/@existing"], &["team/@existing", "olm/low"])]
    #[case::two_of_one_name(None, &["olm/cat", "team/cat"], &["team/cat", "olm/cat"])]
    fn orders(#[case] own: Option<&str>, #[case] given: &[&str], #[case] wanted: &[&str]) {
        let own = own.map(|text| view(text).key);
        let mut views: Vec<_> = given.iter().map(|text| view(text)).collect();
        order(&CatalogViewpoint { namespace: "team", catalog: own.as_ref() }, &mut views);
        let keys =
            |views: Vec<CatalogView>| views.into_iter().map(|view| view.key).collect::<Vec<_>>();
        assert_eq!(keys(views), keys(wanted.iter().map(|text| view(text)).collect()));
    }
}
