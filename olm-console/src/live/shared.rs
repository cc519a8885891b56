//! Watches that pages share, and how many pages and watches there are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use futures::future::select_all;
use olm_client::{Cluster, Notices};
use tokio::sync::watch::{self, Receiver, Sender};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::kinds::{self, Kind, WatchScope};
use super::report::{KindState, digest};
use super::watch::{WatchState, Watched, run};
use crate::pages::Page;
use crate::session::Identity;

/// Pages that are live at once.
pub(crate) const PAGES: usize = 50;

/// Watches at once, of all of them.
const WATCHES: usize = 300;

/// All live pages of a console. Clones share them.
#[derive(Clone)]
pub(crate) struct Live(Arc<Shared>);

struct Shared {
    /// The namespace of global catalogs, where a flag names it.
    global: Option<String>,
    places: Arc<Semaphore>,
    watches: Mutex<HashMap<Key, Weak<Receiver<WatchState>>>>,
}

/// Whose watch, where and of what: nothing that one session sees goes to another. The namespace of global catalogs has
/// no name here, and all namespaces have none, as they are the same for all pages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    session: u64,
    namespace: String,
    kind: &'static Kind,
}

/// What one page follows. Watches end with the last page that follows them.
pub(crate) struct Followed {
    namespace: String,
    watches: Vec<One>,
    _place: OwnedSemaphorePermit,
}

struct One {
    kind: &'static Kind,
    seen: Receiver<WatchState>,
    /// Keeps it in the list of those that can be shared.
    _shared: Arc<Receiver<WatchState>>,
}

impl Key {
    fn new(session: u64, namespace: &str, kind: &'static Kind) -> Self {
        let namespace = match kind.place {
            WatchScope::Home => namespace.to_owned(),
            WatchScope::Global | WatchScope::Everywhere => String::new(),
        };
        Self { session, namespace, kind }
    }
}

impl Live {
    /// No page is live. A flag may name the namespace of global catalogs.
    pub(crate) fn new(global: Option<String>) -> Self {
        let places = Arc::new(Semaphore::new(PAGES));
        Self(Arc::new(Shared { global, places, watches: Mutex::default() }))
    }

    /// Begins to follow what a page shows; nothing if there are too many pages or watches.
    pub(crate) fn begin(
        &self,
        identity: &Identity,
        page: Page,
        namespace: &str,
    ) -> Option<Followed> {
        self.follow(identity.session, page, namespace, |kind, seen| {
            // What could not be read is said on the page.
            let cluster = Cluster { notices: Notices::new(|_| {}), ..identity.cluster.clone() };
            let (namespace, global) = (namespace.to_owned(), self.0.global.clone());
            let watched = Watched { cluster, kind, namespace, global };
            olm_tasks::contained("live watch", run(watched, seen));
        })
    }

    /// What stands for all that a page shows, where other pages of the session follow it already.
    pub(crate) fn digest(&self, session: u64, page: Page, namespace: &str) -> Option<u64> {
        let (watches, wanted) = (self.watches(), kinds::of(page));
        let known = |&kind: &&'static Kind| {
            let seen = *watches.get(&Key::new(session, namespace, kind))?.upgrade()?.borrow();
            Some(look(kind, seen))
        };
        let looks: Vec<KindState> = wanted.iter().map(known).collect::<Option<_>>()?;
        digest(&looks).filter(|_| !wanted.is_empty())
    }

    fn follow(
        &self,
        session: u64,
        page: Page,
        namespace: &str,
        start: impl Fn(&'static Kind, Sender<WatchState>),
    ) -> Option<Followed> {
        let place = self.0.places.clone().try_acquire_owned().ok()?;
        let key = |kind| Key::new(session, namespace, kind);
        let mut watches = self.watches();
        watches.retain(|_, shared| shared.strong_count() > 0);
        let wanted = kinds::of(page);
        let new = wanted.iter().filter(|&&kind| !watches.contains_key(&key(kind))).count();
        if watches.len() + new > WATCHES {
            return None;
        }
        let one = |&kind: &&'static Kind| {
            let known = watches.get(&key(kind)).and_then(Weak::upgrade);
            let shared = known.unwrap_or_else(|| {
                let (sender, receiver) = watch::channel(WatchState::BEGIN);
                let shared = Arc::new(receiver);
                watches.insert(key(kind), Arc::downgrade(&shared));
                start(kind, sender);
                shared
            });
            One { kind, seen: Receiver::clone(&shared), _shared: shared }
        };
        let watches = wanted.iter().map(one).collect();
        Some(Followed { namespace: namespace.to_owned(), watches, _place: place })
    }

    fn watches(&self) -> MutexGuard<'_, HashMap<Key, Weak<Receiver<WatchState>>>> {
        self.0.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Followed {
    /// The namespace of the page.
    pub(super) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// What is there now.
    pub(super) fn look(&mut self) -> Vec<KindState> {
        let looks = self.watches.iter_mut();
        looks.map(|one| look(one.kind, *one.seen.borrow_and_update())).collect()
    }

    /// Waits until something else is there than at the last look.
    pub(super) async fn changed(&mut self) {
        let changes = self.watches.iter_mut().map(|one| {
            Box::pin(async move {
                // What has ended changes no more.
                if one.seen.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            })
        });
        select_all(changes).await;
    }
}

fn look(kind: &'static Kind, seen: WatchState) -> KindState {
    KindState { plural: kind.plural, place: kind.place, seen }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::live::watch::Condition;

    /// Watches that were started, by the kind.
    type Started = RefCell<Vec<(&'static str, Sender<WatchState>)>>;

    fn follow(
        live: &Live,
        session: u64,
        page: Page,
        namespace: &str,
        started: &Started,
    ) -> Option<Followed> {
        live.follow(session, page, namespace, |kind, seen| {
            started.borrow_mut().push((kind.plural, seen));
        })
    }

    #[test]
    fn watches_are_shared_by_pages_of_one_session_and_namespace() {
        let (live, started) = (Live::new(None), Started::default());
        let count = |expected| assert_eq!(started.borrow().len(), expected);
        let first = follow(&live, 1, Page::Installed, "a", &started).unwrap();
        count(4);
        let second = follow(&live, 1, Page::Health, "a", &started).unwrap();
        count(6);
        let _other = follow(&live, 1, Page::Installed, "b", &started).unwrap();
        count(10);
        let _another = follow(&live, 2, Page::Installed, "a", &started).unwrap();
        count(14);
        drop(first);
        let is_open = |place: usize| !started.borrow()[place].1.is_closed();
        assert!(is_open(0), "the second page follows it");
        drop(second);
        assert!(!is_open(0) && !is_open(5) && is_open(6), "watches end with their pages");
    }

    #[test]
    fn global_catalogs_are_watched_once_for_all_namespaces() {
        let (live, started) = (Live::new(None), Started::default());
        let _first = follow(&live, 1, Page::Catalog, "a", &started).unwrap();
        assert_eq!(started.borrow().len(), 3);
        let mut second = follow(&live, 1, Page::Package, "b", &started).unwrap();
        assert_eq!(started.borrow().len(), 6, "three of its own");
        let global = |looks: Vec<KindState>| {
            looks.iter().filter(|look| look.place == WatchScope::Global).count()
        };
        assert_eq!(global(second.look()), 1);
    }

    #[test]
    fn what_is_in_all_namespaces_is_watched_once() {
        let (live, started) = (Live::new(None), Started::default());
        let _one = follow(&live, 1, Page::Installed, "a", &started).unwrap();
        let mut first = follow(&live, 1, Page::AllInstalled, "a", &started).unwrap();
        assert_eq!(started.borrow().len(), 8);
        assert!(first.look().iter().all(|look| look.place == WatchScope::Everywhere));
        let _second = follow(&live, 1, Page::AllInstalled, "b", &started).unwrap();
        assert_eq!(started.borrow().len(), 8);
    }

    #[test]
    fn the_page_after_the_last_is_refused_until_one_is_closed() {
        let (live, started) = (Live::new(None), Started::default());
        let all: Vec<Followed> =
            (0..PAGES).map(|_| follow(&live, 1, Page::Installed, "a", &started).unwrap()).collect();
        assert_eq!(started.borrow().len(), 4);
        assert!(follow(&live, 1, Page::Installed, "a", &started).is_none());
        drop(all);
        assert!(follow(&live, 1, Page::Installed, "a", &started).is_some());
    }

    #[test]
    fn watches_have_a_limit_of_their_own() {
        let (live, started) = (Live::new(None), Started::default());
        let namespaces = (0..WATCHES / 7).map(|number| format!("n{number}"));
        // All but one place, so that the limit of pages is not the one that counts.
        let kept: Vec<Followed> = namespaces
            .take(PAGES - 1)
            .map(|namespace| follow(&live, 1, Page::Operator, &namespace, &started).unwrap())
            .collect();
        let filler: Vec<(Key, Arc<Receiver<WatchState>>)> = (0..2)
            .map(|number| {
                let key = Key {
                    session: 9,
                    namespace: number.to_string(),
                    kind: kinds::of(Page::Plan)[0],
                };
                (key, Arc::new(watch::channel(WatchState::BEGIN).1))
            })
            .collect();
        for (key, shared) in &filler {
            live.watches().insert(key.clone(), Arc::downgrade(shared));
        }
        assert_eq!(live.watches().len(), WATCHES - 4);
        assert!(follow(&live, 1, Page::Operator, "more", &started).is_none());
        assert!(follow(&live, 1, Page::Plan, "more", &started).is_some());
        drop(kept);
        assert!(follow(&live, 1, Page::Operator, "more", &started).is_some());
    }

    #[tokio::test]
    async fn a_digest_is_known_when_all_are_listed() {
        let (live, started) = (Live::new(None), Started::default());
        assert_eq!(live.digest(1, Page::Plan, "a"), None);
        let mut page = follow(&live, 1, Page::Plan, "a", &started).unwrap();
        assert_eq!(live.digest(1, Page::Plan, "a"), None);
        for (_, sender) in started.borrow().iter() {
            sender.send_replace(WatchState { condition: Condition::Following, digest: 7 });
        }
        page.changed().await;
        let found = digest(&page.look());
        assert!(found.is_some());
        assert_eq!(live.digest(1, Page::Plan, "a"), found);
        assert_eq!(live.digest(2, Page::Plan, "a"), None, "of another session");
        assert_eq!(live.digest(1, Page::Install, "a"), None, "of a page that is not live");
        drop(page);
        assert_eq!(live.digest(1, Page::Plan, "a"), None);
    }
}
