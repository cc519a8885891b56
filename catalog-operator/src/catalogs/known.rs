//! What is known of one catalog, and what follows for those who want its content.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use olm_catalog::connection::{ConnectionState, ConnectionStatus};
use olm_catalog::snapshot::CatalogSnapshot;
use olm_kit::tasks::Cause;
use olm_lifecycle::catalog_source::{Connection, Content as ContentFacts};
use serde_json::{Value, json};

use super::{CatalogChange, Content, UnhealthyCatalogs};
use crate::clock;

/// What is known of one catalog.
pub(super) struct Known {
    address: String,
    unhealthy: UnhealthyCatalogs,
    facts: Mutex<Facts>,
}

#[derive(Default)]
struct Facts {
    status: ConnectionStatus,
    since: Timestamp,
    /// What was read last, and when.
    snapshot: Option<(Arc<CatalogSnapshot>, Timestamp)>,
    /// Why it could not be read since.
    problem: Option<String>,
    /// Why not all of its packages are shown.
    hidden: Option<String>,
    /// Whether it is being read for the first time since the connection was made, so that what was
    /// read before may be stale.
    fresh: bool,
    /// Generation of the connection over which it was tried to read it last.
    tried: Option<u64>,
    /// Whether a resolution asked for it meanwhile, and waits.
    awaited: bool,
}

impl Known {
    pub(super) fn new(address: &str, unhealthy: UnhealthyCatalogs) -> Self {
        let facts = Facts { since: clock::now(), ..Facts::default() };
        Self { address: address.to_owned(), unhealthy, facts: Mutex::new(facts) }
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Takes in a state of the connection. Says whether the content became unavailable with it, or
    /// a resolution waited for what will not come now.
    pub(super) fn note_status(&self, status: &ConnectionStatus) -> bool {
        let mut facts = self.facts();
        let before = facts.unavailable(self.unhealthy).is_some();
        if facts.status.state != status.state {
            facts.since = clock::now();
        }
        facts.status = status.clone();
        let failed = status.state == ConnectionState::TransientFailure;
        let awaited = failed && std::mem::take(&mut facts.awaited);
        awaited || (facts.unavailable(self.unhealthy).is_some() && !before)
    }

    /// Loading begins over a connection of this generation. Resolution waits for the result of the
    /// first attempt over one.
    pub(super) fn note_loading(&self, generation: u64) {
        let mut facts = self.facts();
        facts.fresh = facts.tried.replace(generation) != Some(generation);
    }

    /// What follows the catalog does not run until its next start.
    pub(super) fn note_failed(&self, cause: &Cause) {
        let mut facts = self.facts();
        (facts.fresh, facts.awaited) = (false, false);
        facts.problem = Some(match cause {
            Cause::Panicked(panicked) => {
                format!(
                    "reading it {panicked} (an error of the operator); it is read again after a pause"
                )
            }
            Cause::Ended => {
                "reading it ended unexpectedly; it is read again after a pause".to_owned()
            }
        });
    }

    /// Loading ended because the connection did.
    pub(super) fn note_interrupted(&self) {
        self.facts().fresh = false;
    }

    /// Loading takes too long to be waited for.
    pub(super) fn note_slow(&self) {
        let mut facts = self.facts();
        facts.fresh = false;
        // What is wrong with it stays said while it is tried again.
        if facts.snapshot.is_none() && facts.problem.is_none() {
            facts.problem = Some("it is still being read".to_owned());
        }
    }

    /// Takes in the result of loading, and says what changed. A snapshot whose content is the same
    /// stays: it is not looked at again.
    pub(super) fn note_loaded(&self, result: Result<CatalogSnapshot, String>) -> CatalogChange {
        let mut facts = self.facts();
        let recovered = facts.problem.is_some() || std::mem::take(&mut facts.awaited);
        facts.fresh = false;
        match result {
            Ok(snapshot) => {
                let known = facts.snapshot.take().map(|(known, _)| known);
                let same = known.filter(|known| known.has_content_of(&snapshot));
                let changed = same.is_none() || recovered || self.unhealthy.blocks();
                let snapshot = same.unwrap_or_else(|| Arc::new(snapshot));
                facts.snapshot = Some((snapshot, clock::now()));
                facts.problem = None;
                if changed { CatalogChange::Loaded } else { CatalogChange::Unchanged }
            }
            Err(error) => {
                facts.problem = Some(error);
                CatalogChange::Lost
            }
        }
    }

    /// Takes in why packages are not shown, or that all are. Says whether that is another answer.
    pub(super) fn note_hidden(&self, reason: Option<String>) -> bool {
        let mut facts = self.facts();
        let changed = facts.hidden != reason;
        facts.hidden = reason;
        changed
    }

    pub(super) fn connection(&self) -> Connection {
        let facts = self.facts();
        let state = facts.status.state.as_str().to_owned();
        Connection { address: self.address.clone(), state, since: facts.since }
    }

    pub(super) fn content(&self) -> Content {
        let mut facts = self.facts();
        if facts.fresh {
            facts.awaited = true;
            return Content::Waiting;
        }
        match (facts.unavailable(self.unhealthy), &facts.snapshot) {
            (Some(reason), _) => Content::Unavailable(reason),
            (None, Some((snapshot, _))) => Content::Loaded(Arc::clone(snapshot)),
            (None, None) => Content::Waiting,
        }
    }

    pub(super) fn content_facts(&self) -> ContentFacts {
        let facts = self.facts();
        ContentFacts {
            read_at: facts.snapshot.as_ref().map(|(_, at)| *at),
            entries: facts.snapshot.as_ref().map_or(0, |(snapshot, _)| snapshot.entries().len()),
            problem: facts.problem.clone(),
            blocks: self.unhealthy.blocks(),
            hidden: facts.hidden.clone(),
        }
    }

    pub(super) fn dump(&self) -> Value {
        let facts = self.facts();
        let content = facts.snapshot.as_ref().map(|(snapshot, at)| {
            json!({
                "entries": snapshot.entries().len(),
                "skipped": snapshot.skipped_count(),
                "bytes": snapshot.bytes(),
                "readAt": at.to_string(),
            })
        });
        json!({
            "address": self.address, "state": facts.status.state.as_str(),
            "since": facts.since.to_string(), "reason": facts.status.reason,
            "content": content, "problem": facts.problem, "loading": facts.fresh,
        })
    }

    fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Facts {
    /// Why there is no content to be used.
    fn unavailable(&self, unhealthy: UnhealthyCatalogs) -> Option<String> {
        if self.snapshot.is_some() && !unhealthy.blocks() {
            return None;
        }
        let failed = self.status.state == ConnectionState::TransientFailure;
        self.problem.clone().or_else(|| failed.then(|| unreachable_text(&self.status)))
    }
}

/// What listing the bundles of an unreachable server answers in v0.
fn unreachable_text(status: &ConnectionStatus) -> String {
    match status.reason.as_deref().unwrap_or("the connection cannot be established") {
        reason if reason.starts_with("rpc error: ") => format!("failed to list bundles: {reason}"),
        reason => {
            format!("failed to list bundles: rpc error: code = Unavailable desc = {reason}")
        }
    }
}
