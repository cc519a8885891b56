//! Why there is no newer version, kept for a moment. It is worked out from catalogs, which take long to read, and a page
//! that is open is read again with each Pod and event: with an operator that crashes, every few seconds.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};

use kube::ResourceExt;
use olm_client::operator::Reasons;
use olm_plan::observed::Observed;
use olm_plan::why::{Need, NeededBy};
use tokio::time::Instant;

use super::KEPT;

/// How many are kept, of all sessions together.
const MOST: usize = 16;

/// Why an operator is there, and why there is no newer version.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Explanation {
    pub(super) verdict: &'static str,
    pub(super) lists: Vec<(&'static str, Vec<String>)>,
    pub(super) unread: Vec<String>,
}

/// For whom, of what, and for which versions of the objects that OLM decides by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) session: u64,
    pub(super) home: String,
    pub(super) name: String,
    pub(super) versions: u64,
}

/// Those that were worked out last.
#[derive(Default)]
pub(super) struct Explanations(RefCell<Vec<(Key, Instant, Explanation)>>);

impl From<Reasons> for Explanation {
    fn from(found: Reasons) -> Self {
        let Reasons { why, unread } = found;
        let lists = vec![
            ("Needed by", why.needed_by.iter().map(NeededBy::line).collect()),
            ("It needs", why.needs.iter().map(Need::line).collect()),
            ("Next", why.next),
            ("Reasons", why.reasons),
            ("Would help", why.repairs),
            ("Newer in other channels", why.elsewhere),
            ("OLM says", why.says),
        ];
        let lists: Vec<(&str, Vec<String>)> =
            lists.into_iter().filter(|(_, lines)| !lines.is_empty()).collect();
        Self { verdict: why.verdict.sentence(), lists, unread }
    }
}

impl Explanations {
    /// One that was worked out a moment ago.
    pub(super) fn get(&self, key: &Key) -> Option<Explanation> {
        let known = self.0.borrow();
        let (_, _, found) = known.iter().find(|(one, at, _)| one == key && at.elapsed() < KEPT)?;
        Some(found.clone())
    }

    /// Keeps one, in place of the oldest when there are too many.
    pub(super) fn keep(&self, key: Key, found: Explanation) {
        let mut known = self.0.borrow_mut();
        known.retain(|(one, at, _)| *one != key && at.elapsed() < KEPT);
        if known.len() >= MOST {
            known.remove(0);
        }
        known.push((key, Instant::now(), found));
    }
}

/// Stands for the versions of the objects that OLM decides by: Pods and events are none.
pub(super) fn versions(observed: &Observed) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut add = |uid: Option<String>, version: Option<String>| (uid, version).hash(&mut hasher);
    observed.subscriptions.iter().for_each(|one| add(one.uid(), one.resource_version()));
    observed.install_plans.iter().for_each(|one| add(one.uid(), one.resource_version()));
    observed.csvs.iter().for_each(|one| add(one.uid(), one.resource_version()));
    observed.catalog_sources.iter().for_each(|one| add(one.uid(), one.resource_version()));
    observed.operator_groups.iter().for_each(|one| add(one.uid(), one.resource_version()));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use k8s_openapi::api::core::v1::Pod;
    use olm_types::api::Subscription;
    use serde_json::{from_value, json};

    use super::*;

    fn key(session: u64, versions: u64) -> Key {
        Key { session, home: "ns".to_owned(), name: "kettle".to_owned(), versions }
    }

    fn explanation(verdict: &'static str) -> Explanation {
        Explanation { verdict, lists: Vec::new(), unread: Vec::new() }
    }

    #[tokio::test(start_paused = true)]
    async fn an_explanation_is_kept_for_a_moment_and_for_its_session() {
        let known = Explanations::default();
        known.keep(key(1, 7), explanation("a"));
        assert_eq!(known.get(&key(1, 7)), Some(explanation("a")));
        assert_eq!(known.get(&key(2, 7)), None, "another user");
        assert_eq!(known.get(&key(1, 8)), None, "something has changed");
        tokio::time::advance(KEPT - Duration::from_secs(1)).await;
        assert!(known.get(&key(1, 7)).is_some());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(known.get(&key(1, 7)), None);
    }

    #[tokio::test]
    async fn only_so_many_are_kept() {
        let known = Explanations::default();
        for session in 0..=MOST as u64 {
            known.keep(key(session, 7), explanation("a"));
            known.keep(key(session, 7), explanation("b"));
        }
        assert_eq!(known.0.borrow().len(), MOST);
        assert_eq!(known.get(&key(0, 7)), None, "the oldest");
        assert_eq!(known.get(&key(1, 7)), Some(explanation("b")));
    }

    #[test]
    fn pods_do_not_count() {
        let subscription = |version: &str| -> Subscription {
            let metadata = json!({"name": "a", "uid": "u", "resourceVersion": version});
            from_value(json!({"metadata": metadata, "spec": {"name": "a", "source": "c",
                "sourceNamespace": "ns"}}))
            .unwrap()
        };
        let mut observed =
            Observed { subscriptions: vec![subscription("1")], ..Observed::default() };
        let first = versions(&observed);
        observed.pods.push(Pod::default());
        assert_eq!(versions(&observed), first);
        observed.subscriptions[0] = subscription("2");
        assert_ne!(versions(&observed), first);
    }
}
