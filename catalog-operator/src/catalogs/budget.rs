//! What catalogs may keep in memory: those of one namespace, and those of all namespaces together.
//!
//! Global catalogs have a share of their own, which no other namespace can use up. What does not fit is
//! refused, and says so; what is kept already stays.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use olm_types::bundle::CatalogKey;
use thiserror::Error;

/// How much is kept, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetLimits {
    /// By the catalogs of a namespace.
    pub namespace: usize,
    /// By the catalogs of all namespaces but the global one.
    pub namespaces: usize,
    /// By global catalogs.
    pub global: usize,
}

impl Default for BudgetLimits {
    /// The two catalogs that people use most take 15 MB together.
    fn default() -> Self {
        Self { namespace: 128 << 20, namespaces: 256 << 20, global: 256 << 20 }
    }
}

/// What a catalog keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// What resolution uses.
    Content,
    /// What the packages API shows.
    Packages,
}

/// A catalog that would keep too much.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OverBudget {
    /// Its namespace would.
    #[error(
        "it takes {bytes} bytes of memory, and the catalogs of namespace {namespace} take no more \
         than {limit} together: delete CatalogSources there, or serve fewer bundles"
    )]
    Namespace {
        /// What the catalog takes.
        bytes: usize,
        /// Its namespace.
        namespace: Arc<str>,
        /// What there is for the namespace.
        limit: usize,
    },
    /// All namespaces together would.
    #[error(
        "it takes {bytes} bytes of memory, and the catalogs of all namespaces but {global} take no \
         more than {limit} together: delete CatalogSources, or have it served in {global} for all"
    )]
    Namespaces {
        /// What the catalog takes.
        bytes: usize,
        /// The namespace of global catalogs.
        global: Arc<str>,
        /// What there is for all others.
        limit: usize,
    },
}

/// Counts what catalogs keep.
#[derive(Debug)]
pub struct Budget {
    limits: BudgetLimits,
    global: Arc<str>,
    kept: Mutex<BTreeMap<CatalogKey, CachedCatalog>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct CachedCatalog {
    content: usize,
    packages: usize,
}

impl CachedCatalog {
    fn with(self, part: Part, bytes: usize) -> Self {
        match part {
            Part::Content => Self { content: bytes, ..self },
            Part::Packages => Self { packages: bytes, ..self },
        }
    }

    fn bytes(self) -> usize {
        self.content.saturating_add(self.packages)
    }
}

impl Budget {
    /// Nothing is kept yet. Catalogs of `global` have a share of their own.
    pub fn new(limits: BudgetLimits, global: &str) -> Self {
        Self { limits, global: global.into(), kept: Mutex::default() }
    }

    /// A part of a catalog takes `bytes` from now on, in place of what it took.
    ///
    /// # Errors
    /// That is more than there is; it counts as before then.
    pub fn keep(&self, key: &CatalogKey, part: Part, bytes: usize) -> Result<(), OverBudget> {
        let mut kept = self.kept();
        let before = kept.get(key).copied().unwrap_or_default();
        let after = before.with(part, bytes);
        // What shrinks is never refused.
        if after.bytes() > before.bytes() {
            self.check(&kept, key, after.bytes())
                .map_err(|exceeded| self.refusal(exceeded, key, bytes))?;
        }
        kept.insert(key.clone(), after);
        Ok(())
    }

    /// A catalog keeps nothing of a part any more.
    pub fn release(&self, key: &CatalogKey, part: Part) {
        let mut kept = self.kept();
        let after = kept.get(key).copied().unwrap_or_default().with(part, 0);
        match after.bytes() {
            0 => drop(kept.remove(key)),
            _ => drop(kept.insert(key.clone(), after)),
        }
    }

    fn check(
        &self,
        kept: &BTreeMap<CatalogKey, CachedCatalog>,
        key: &CatalogKey,
        bytes: usize,
    ) -> Result<(), Exceeded> {
        let sum = |counts: &dyn Fn(&CatalogKey) -> bool| {
            let others = kept.iter().filter(|(other, _)| *other != key && counts(other));
            others.fold(bytes, |sum, (_, kept)| sum.saturating_add(kept.bytes()))
        };
        let own = sum(&|other| other.namespace == key.namespace);
        if key.namespace == self.global {
            return if own > self.limits.global { Err(Exceeded::Namespace) } else { Ok(()) };
        }
        if own > self.limits.namespace {
            return Err(Exceeded::Namespace);
        }
        match sum(&|other| other.namespace != self.global) > self.limits.namespaces {
            true => Err(Exceeded::Namespaces),
            false => Ok(()),
        }
    }

    fn refusal(&self, exceeded: Exceeded, key: &CatalogKey, bytes: usize) -> OverBudget {
        let BudgetLimits { namespace: own, namespaces, global } = self.limits;
        match exceeded {
            Exceeded::Namespace => OverBudget::Namespace {
                bytes,
                namespace: Arc::clone(&key.namespace),
                limit: if key.namespace == self.global { global } else { own },
            },
            Exceeded::Namespaces => OverBudget::Namespaces {
                bytes,
                global: Arc::clone(&self.global),
                limit: namespaces,
            },
        }
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<CatalogKey, CachedCatalog>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Which limit is exceeded.
enum Exceeded {
    Namespace,
    Namespaces,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget() -> Budget {
        Budget::new(BudgetLimits { namespace: 100, namespaces: 150, global: 50 }, "olm")
    }

    fn key(text: &str) -> CatalogKey {
        let (namespace, name) = text.split_once('/').unwrap();
        CatalogKey::new(namespace, name)
    }

    /// Whether each of these fits, one after the other.
    fn fit(budget: &Budget, wanted: &[(&str, usize)]) -> Vec<bool> {
        let keep = |(name, bytes): &(&str, usize)| budget.keep(&key(name), Part::Content, *bytes);
        wanted.iter().map(|one| keep(one).is_ok()).collect()
    }

    #[test]
    fn a_namespace_and_all_namespaces_have_an_end_and_global_catalogs_a_share() {
        let wanted = [("a/1", 60), ("a/2", 41), ("a/3", 40), ("b/1", 51), ("b/2", 50), ("c/1", 1)];
        let found = fit(&budget(), &[&wanted[..], &[("olm/1", 50), ("olm/2", 1)]].concat());
        assert_eq!(found, [true, false, true, false, true, false, true, false]);
    }

    #[test]
    fn what_is_kept_anew_takes_the_place_of_what_was() {
        let budget = budget();
        assert_eq!(fit(&budget, &[("a/1", 90), ("a/1", 100), ("a/1", 101)]), [true, true, false]);
        assert!(budget.keep(&key("a/1"), Part::Packages, 1).is_err());
        assert_eq!(fit(&budget, &[("a/1", 40), ("a/2", 60), ("a/3", 1)]), [true, true, false]);
        budget.release(&key("a/1"), Part::Content);
        assert!(budget.keep(&key("a/2"), Part::Packages, 40).is_ok());
        assert!(budget.keep(&key("a/2"), Part::Content, 61).is_err());
    }

    #[test]
    fn a_refusal_names_the_namespace_and_what_helps() {
        let said = budget().keep(&key("a/1"), Part::Content, 101).unwrap_err().to_string();
        let expected = "it takes 101 bytes of memory, and the catalogs of namespace a take no more \
                        than 100 together: delete CatalogSources there, or serve fewer bundles";
        assert_eq!(said, expected);
        let budget = budget();
        assert_eq!(fit(&budget, &[("a/1", 100)]), [true]);
        let said = budget.keep(&key("b/1"), Part::Content, 51).unwrap_err().to_string();
        assert!(said.contains("all namespaces but olm take no more than 150 together"), "{said}");
    }
}
