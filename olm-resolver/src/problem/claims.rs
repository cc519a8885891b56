//! What bundles claim to be, by their properties; decoded once per catalog content.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use olm_types::bundle::Property;
use olm_types::gvk::Gvk;
use olm_types::properties::value;
use olm_types::version::Version;

/// So many lists of properties are remembered: a few megabytes.
const REMEMBERED: usize = 16_384;

/// The claims of one list of properties. Malformed properties claim nothing.
#[derive(Clone, Debug)]
pub struct Claims {
    /// `olm.package`: name, and version if it is one.
    pub packages: Arc<[(String, Option<Version>)]>,
    /// `olm.gvk`.
    pub apis: Arc<[Gvk]>,
    /// `olm.label`.
    pub labels: Arc<[String]>,
}

impl Claims {
    /// Decodes properties.
    pub fn of(properties: &[Property]) -> Self {
        let packages = properties.iter().filter_map(value::package);
        let packages = packages
            .map(|package| (package.package_name, Version::parse(&package.version).ok()))
            .collect();
        let apis = properties.iter().filter_map(value::gvk).collect();
        let labels = properties.iter().filter_map(value::label).collect();
        Self { packages, apis, labels }
    }
}

/// Claims by the list that they were decoded from. Catalogs share their lists among resolutions, so
/// that the next one finds them here.
///
/// A list is known by its address. The memory at that address is not used for another list as long
/// as it is remembered here, which does not keep its content alive.
#[derive(Debug, Default)]
pub struct ClaimsCache(Mutex<HashMap<usize, Remembered>>);

/// A list and its claims.
type Remembered = (Weak<[Property]>, Claims);

impl ClaimsCache {
    /// The claims of a list, decoded if they are not known.
    pub(crate) fn of(&self, properties: &Arc<[Property]>) -> Claims {
        let address = Arc::as_ptr(properties).addr();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, claims)) = known.get(&address) {
            return claims.clone();
        }
        if known.len() >= REMEMBERED {
            known.retain(|_, (list, _)| list.strong_count() > 0);
        }
        if known.len() >= REMEMBERED {
            known.clear();
        }
        let claims = Claims::of(properties);
        known.insert(address, (Arc::downgrade(properties), claims.clone()));
        claims
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(label: &str) -> Arc<[Property]> {
        [Property::new("olm.label", &format!("{{\"label\":{label:?}}}"))].into()
    }

    #[test]
    fn a_list_is_decoded_once() {
        let (cache, list) = (ClaimsCache::default(), list("a"));
        let labels = cache.of(&list).labels;
        assert_eq!(*labels, ["a".to_owned()]);
        assert!(Arc::ptr_eq(&labels, &cache.of(&list).labels));
    }

    #[test]
    fn lists_that_are_gone_are_never_mistaken_and_soon_forgotten() {
        let cache = ClaimsCache::default();
        for number in 0..REMEMBERED + 10 {
            let label = number.to_string();
            assert_eq!(*cache.of(&list(&label)).labels, [label]);
        }
        assert!(cache.0.lock().unwrap().len() <= 11);
    }
}
