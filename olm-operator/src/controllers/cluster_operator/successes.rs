//! Notes that work succeeds: only an OLM that has done something reports that it works.

use async_trait::async_trait;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::key::QueueKey;

use super::Report;
use crate::queues::Queues;

/// A reconciler whose first success is reported.
pub struct Successes<R> {
    /// Does the work.
    pub inner: R,
    /// Where successes are noted.
    pub report: Report,
    /// Who is woken by the first.
    pub queues: Queues,
}

#[async_trait]
impl<Key: QueueKey, R: Reconciler<Key>> Reconciler<Key> for Successes<R> {
    async fn reconcile(&self, key: &Key) -> Result<Conclusion, ReconcileError> {
        let conclusion = self.inner.reconcile(key).await;
        if conclusion.is_ok() && self.report.note_success() {
            self.queues.add_reports();
        }
        conclusion
    }
}
