//! Versions of objects that this process wrote and does not watch.
//!
//! Definitions, and what else a step of an InstallPlan changes, are read from the API server before each change.
//! Two InstallPlans may read the same object at the same time: when one of them has written it, the other
//! one's write could only conflict, and is not sent. What is decided on such an object is sent within moments, so
//! that a version is soon forgotten; and an API server that was restored from a backup begins again with
//! lower ones.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use olm_effect::Target;
use parking_lot::Mutex;
use tokio::time::Instant;

/// How long a version is known.
const KNOWN: Duration = Duration::from_secs(10);

/// What was written lately.
#[derive(Default)]
pub(super) struct RecentWrites {
    recent: Mutex<Recent>,
}

#[derive(Default)]
struct Recent {
    versions: BTreeMap<Target, (String, Instant)>,
    /// In the order of the writes, each with its time.
    order: VecDeque<(Instant, Target)>,
}

impl RecentWrites {
    /// Remembers the version that an own write gave an object.
    pub(super) fn note(&self, target: &Target, version: &str, now: Instant) {
        let mut recent = self.recent.lock();
        recent.forget(now);
        recent.versions.insert(target.clone(), (version.to_owned(), now));
        recent.order.push_back((now, target.clone()));
    }

    /// The version of the last own write, if there was one lately.
    pub(super) fn version_of(&self, target: &Target, now: Instant) -> Option<String> {
        let recent = self.recent.lock();
        let (version, written) = recent.versions.get(target)?;
        (!is_past(*written, now)).then(|| version.clone())
    }
}

impl Recent {
    fn forget(&mut self, now: Instant) {
        while self.order.front().is_some_and(|(written, _)| is_past(*written, now)) {
            let Some((written, target)) = self.order.pop_front() else { return };
            // It may have been written again since.
            if self.versions.get(&target).is_some_and(|(_, last)| *last == written) {
                self.versions.remove(&target);
            }
        }
    }
}

fn is_past(written: Instant, now: Instant) -> bool {
    now.duration_since(written) >= KNOWN
}

#[cfg(test)]
mod tests {
    use olm_effect::Resource;

    use super::*;

    #[test]
    fn what_was_written_is_known_for_a_while() {
        let target = |name| Target::cluster(Resource::new("", "v1", "Node", "nodes"), name);
        let (writes, start) = (RecentWrites::default(), Instant::now());
        let half = start + KNOWN / 2;
        writes.note(&target("a"), "5", start);
        writes.note(&target("b"), "6", start);
        writes.note(&target("a"), "7", half);
        assert_eq!(writes.version_of(&target("a"), half).as_deref(), Some("7"));
        assert_eq!(writes.version_of(&target("b"), half).as_deref(), Some("6"));
        assert_eq!(writes.version_of(&target("b"), start + KNOWN), None);
        assert_eq!(writes.version_of(&target("a"), start + KNOWN).as_deref(), Some("7"));
        writes.note(&target("c"), "8", half + KNOWN);
        let recent = writes.recent.lock();
        assert_eq!((recent.versions.len(), recent.order.len()), (1, 1), "the others are forgotten");
    }
}
