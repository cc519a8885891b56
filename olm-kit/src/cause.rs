//! What asks for a reconcile, and whether one had an effect: where work is done for nothing, something asks for too
//! much.
//!
//! Keys are added to queues by what listens to stores, and by nothing else that knows of objects; so a store says whose
//! change it reports, on the thread on which it does.

use std::any::type_name;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A delay is over, or the pause after a failure.
pub(crate) const TIME: &str = "time";

/// Anything but time, and a change of an object.
const OTHER: &str = "other";

thread_local! {
    static CAUSE: Cell<&'static str> = const { Cell::new(OTHER) };
}

tokio::task_local! {
    static HAD_EFFECT: Arc<AtomicBool>;
}

/// The former cause, which is there again when this is dropped.
struct RestoreCause(&'static str);

impl Drop for RestoreCause {
    fn drop(&mut self) {
        CAUSE.set(self.0);
    }
}

/// Reports changes of objects of a type; what is added to queues meanwhile is due to them.
pub(crate) fn changing<K>(report: impl FnOnce()) {
    let _former = RestoreCause(CAUSE.replace(name_of(type_name::<K>())));
    report();
}

/// What a key is due to that is added now.
pub(crate) fn current() -> &'static str {
    CAUSE.get()
}

/// Does work, and notes whether it has an effect.
pub(crate) async fn observed<T>(had_effect: Arc<AtomicBool>, work: impl Future<Output = T>) -> T {
    HAD_EFFECT.scope(had_effect, work).await
}

/// The work of this task has an effect, where that is of interest.
pub(crate) fn note_effect() {
    // Most writes are part of a reconcile, some are not.
    let _ = HAD_EFFECT.try_with(|had| had.store(true, Ordering::Relaxed));
}

/// The name of a type without its modules.
fn name_of(path: &'static str) -> &'static str {
    let name = path.rsplit("::").next().unwrap_or(path);
    name.trim_end_matches('>')
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("olm_types::api::subscription::Subscription", "Subscription")]
    #[case("kube_core::metadata::PartialObjectMeta<k8s_openapi::api::core::v1::Pod>", "Pod")]
    #[case("Pod", "Pod")]
    fn names(#[case] path: &'static str, #[case] expected: &str) {
        assert_eq!(name_of(path), expected);
    }

    #[test]
    fn what_one_change_leads_to_is_due_to_that() {
        let mut seen = Vec::new();
        changing::<String>(|| {
            seen.push(current());
            changing::<u8>(|| seen.push(current()));
            seen.push(current());
        });
        assert_eq!((seen, current()), (vec!["String", "u8", "String"], OTHER));
    }
}
