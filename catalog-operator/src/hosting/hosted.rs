//! One hosted catalog: what it is to have, what it has, and the task that brings the two together.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use olm_catalog::connection::CatalogConnection;
use olm_catalog::index::Index;
use olm_catalog::snapshot::CatalogSnapshot;
use olm_catalog::store::StoredCatalog;
use olm_kit::tasks::{Cause, Pauses, Restart, Task, restarted};
use olm_lifecycle::catalog_source::hosting::{
    HostedContent, PullFailure, Pulling, Resolved, Target, content_name,
};
use olm_types::bundle::CatalogKey;
use olm_types::reasons::catalog_source::INTERNAL_ERROR;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{Shared, View, work};
use crate::clock;
use crate::unpack::Account;

/// What a catalog is to have, and with whose credentials it is pulled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DesiredContent {
    pub(super) target: Target,
    pub(super) account: Account,
}

/// A catalog and its task, which ends when this is dropped.
pub(super) struct Hosted {
    pub(super) key: CatalogKey,
    pub(super) wanted: watch::Sender<DesiredContent>,
    catalog: Arc<StoredCatalog>,
    state: Mutex<State>,
    task: Mutex<Option<Task>>,
}

/// What clients of a catalog get.
#[derive(Clone)]
pub(super) struct Served {
    pub(super) index: Arc<Index>,
    /// The name of the content.
    pub(super) content: String,
}

struct State {
    since: jiff::Timestamp,
    content: Option<HostedContent>,
    served: Option<Served>,
    resolved: Option<Resolved>,
    /// How the registry failed to say what the image is, last.
    failed_look: Option<PullFailure>,
    /// How a pull failed last. Each has pauses of its own: what follows upon the other would be tried at once.
    failed_pull: Option<PullFailure>,
    /// Whether it was tried to get the content that counts.
    tried: bool,
}

impl State {
    /// What is said about it: that a pull failed says more than that the registry cannot be asked.
    fn failure(&self) -> Option<&PullFailure> {
        self.failed_pull.as_ref().or(self.failed_look.as_ref())
    }

    fn note(&mut self, failure: PullFailure) {
        let of_another = |other: &mut PullFailure| other.image != failure.image;
        match failure.digest {
            None => {
                self.failed_pull.take_if(of_another);
                self.failed_look = Some(failure);
            }
            Some(_) => {
                self.failed_look.take_if(of_another);
                self.failed_pull = Some(failure);
            }
        }
    }
}

impl Hosted {
    fn new(key: CatalogKey, wanted: DesiredContent) -> Self {
        let state = State {
            since: clock::now(),
            content: None,
            served: None,
            resolved: None,
            failed_look: None,
            failed_pull: None,
            tried: false,
        };
        Self {
            catalog: Arc::new(StoredCatalog::new(key.clone())),
            wanted: watch::Sender::new(wanted),
            state: Mutex::new(state),
            task: Mutex::default(),
            key,
        }
    }

    pub(super) fn start(shared: Arc<Shared>, key: CatalogKey, wanted: DesiredContent) -> Arc<Self> {
        let hosted = Arc::new(Self::new(key, wanted));
        let name = format!("host of catalog {}", hosted.key);
        let (me, reported) = (Arc::downgrade(&hosted), Arc::downgrade(&hosted));
        let said = Arc::clone(&shared);
        let start = move || work::run(Arc::clone(&shared), Weak::clone(&me));
        let task = restarted(&name, Pauses::default(), start, move |restart| {
            if let Some(hosted) = reported.upgrade() {
                hosted.panicked(restart);
                (said.changed)(&hosted.key);
            }
        });
        *hosted.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
        hosted
    }

    /// Takes in what the catalog is to have; the task is woken only by a change.
    pub(super) fn want(&self, wanted: DesiredContent) {
        self.wanted.send_if_modified(|before| {
            let changed = *before != wanted;
            *before = wanted;
            changed
        });
    }

    pub(super) fn view(&self) -> View {
        let state = self.state();
        View { content: state.content.clone(), failure: state.failure().cloned() }
    }

    pub(super) fn connection(&self) -> Arc<dyn CatalogConnection> {
        Arc::clone(&self.catalog) as Arc<_>
    }

    pub(super) fn served(&self) -> Option<Served> {
        self.state().served.clone()
    }

    pub(super) fn tried(&self) -> bool {
        self.state().tried
    }

    /// What the next step follows from.
    pub(super) fn pulling(&self, target: Target) -> Pulling {
        let state = self.state();
        Pulling {
            target,
            content: state.content.clone(),
            resolved: state.resolved.clone(),
            failed_look: state.failed_look.clone(),
            failed_pull: state.failed_pull.clone(),
            since: state.since,
        }
    }

    /// The registry says what the image is. Says whether something is another with it: a failure to ask
    /// is over, or one about content that is not the image's any more; or content has another name.
    pub(super) fn note_resolved(&self, image: &str, digest: String) -> bool {
        let mut state = self.state();
        let held = state.content.as_mut().filter(|content| content.digest == digest);
        let is_current = held.is_some();
        let renamed = held.is_some_and(|content| {
            let before = std::mem::replace(&mut content.image, image.to_owned());
            before != image
        });
        let looks_again = state.failed_look.take().is_some();
        let pulls_again = state.failed_pull.take_if(|_| is_current).is_some();
        state.resolved = Some(Resolved { image: image.to_owned(), digest, at: clock::now() });
        looks_again || pulls_again || renamed
    }

    /// Has this content from now on.
    pub(super) fn show(
        &self,
        content: HostedContent,
        index: Arc<Index>,
        snapshot: Option<CatalogSnapshot>,
    ) {
        let name = content_name(&self.key.namespace, &self.key.name, &content);
        let mut state = self.state();
        state.served = Some(Served { index: Arc::clone(&index), content: name });
        state.content = Some(content);
        (state.failed_look, state.failed_pull) = (None, None);
        state.tried = true;
        drop(state);
        self.catalog.show(index, snapshot);
    }

    /// Something failed, once more if it is about the same.
    pub(super) fn fail(&self, failure: PullFailure) {
        let mut state = self.state();
        let before = match failure.digest {
            None => state.failed_look.take(),
            Some(_) => state.failed_pull.take(),
        };
        let failure = failure.after(before.as_ref());
        let (digest, reason) = (failure.digest.as_deref().unwrap_or_default(), failure.reason);
        let (message, attempts) = (&failure.message, failure.attempts);
        tracing::warn!(catalog = %self.key, image = failure.image, digest, reason, message, attempts,
            "the catalog is not pulled");
        if state.content.is_none() {
            self.catalog.fail(message);
        }
        state.note(failure);
        state.tried = true;
    }

    pub(super) fn dump(&self) -> (CatalogKey, Value) {
        let (state, wanted) = (self.state(), self.wanted.borrow());
        let target = &wanted.target;
        let dump = json!({
            "image": target.image, "leads": target.leads,
            "recorded": target.recorded.as_ref().map(|record| &record.digest),
            "resolved": state.resolved.as_ref().map(|found| &found.digest),
            "content": state.content.as_ref().map(|content| json!({
                "digest": content.digest, "image": content.image,
                "pulledAt": content.pulled_at.to_string(),
            })),
            "failure": state.failure().map(|failure| json!({
                "reason": failure.reason, "message": failure.message,
                "attempts": failure.attempts, "at": failure.at.to_string(),
            })),
        });
        (self.key.clone(), dump)
    }

    /// Ends the task.
    pub(super) fn stop(&self) {
        drop(self.task.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    fn panicked(&self, restart: &Restart) {
        let image = self.wanted.borrow().target.image.clone();
        let cause = match &restart.cause {
            Cause::Panicked(panicked) => panicked.to_string(),
            Cause::Ended => "ended unexpectedly".to_owned(),
        };
        // The pause is another one each time; the condition says the same as long as the cause is the same.
        self.fail(PullFailure {
            image,
            digest: None,
            reason: INTERNAL_ERROR,
            message: format!(
                "pulling it {cause} (an error of the operator); it is pulled again after a pause"
            ),
            attempts: 0,
            at: clock::now(),
            retry_after: 0,
        });
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use olm_kit::tasks::Panicked;

    use super::*;

    fn hosted() -> Hosted {
        let key = CatalogKey::new("team", "shelf");
        let target = Target { image: "quay.io/a/shelf:v1".to_owned(), ..Target::default() };
        let account =
            Account { namespace: "team".to_owned(), secrets: Vec::new(), account: String::new() };
        Hosted::new(key, DesiredContent { target, account })
    }

    #[test]
    fn a_panic_is_said_at_the_catalog_in_the_same_words_each_time() {
        let hosted = hosted();
        let mut said = Vec::new();
        for seconds in [1, 2] {
            let cause = Cause::Panicked(Panicked("no entry 7".to_owned()));
            hosted.panicked(&Restart { cause, after: Duration::from_secs(seconds) });
            let failure = hosted.view().failure.unwrap();
            assert_eq!((failure.reason, u64::from(failure.attempts)), (INTERNAL_ERROR, seconds));
            said.push(failure.message);
        }
        assert!(said[0].starts_with("pulling it panicked: no entry 7 (an error"), "{said:?}");
        assert_eq!(said[0], said[1]);
        assert!(hosted.tried(), "a start does not wait for it");
    }
}
