//! Changes of InstallPlans.

use std::collections::BTreeSet;

use olm_kit::watch::Change;
use olm_lifecycle::operator::PlanSummary;

use super::Triggers;

impl Triggers {
    /// Wakes the CSVs of a plan that is executed from now on, or was, and those linked to them by replacement: what
    /// is replaced stays until the plan is done.
    pub(super) fn plan(&self, change: &Change<PlanSummary>) {
        let installing = |plan: Option<&PlanSummary>| -> BTreeSet<String> {
            plan.into_iter().flat_map(PlanSummary::installing).cloned().collect()
        };
        let (old, new) = (installing(change.old.as_deref()), installing(change.new.as_deref()));
        let namespace = change.latest().and_then(|plan| plan.metadata.namespace.clone());
        for name in old.symmetric_difference(&new) {
            if let Some(csv) = self.stores.csvs.get(namespace.as_deref(), name) {
                self.wake_related(&csv);
            }
        }
    }
}
