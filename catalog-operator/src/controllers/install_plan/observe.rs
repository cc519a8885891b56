//! What is known about an InstallPlan.

use std::sync::Arc;
use std::time::Duration;

use kube::ResourceExt;
use olm_lifecycle::crd;
use olm_lifecycle::install_plan::phase::Observed;
use olm_types::api::InstallPlan;

use crate::stores::Stores;

/// Gathers the plan's surroundings.
pub(super) fn observe(
    plan: Arc<InstallPlan>,
    stores: &Stores,
    operator_namespace: &str,
    retry_timeout: Duration,
    rights_changed: bool,
) -> Observed {
    let namespace = plan.namespace().unwrap_or_default();
    let csvs = stores.csvs.list();
    let names = csvs.iter().map(|csv| (csv.namespace().unwrap_or_default(), csv.name_any()));
    Observed {
        groups: stores.groups.list_in(&namespace),
        csvs: names.collect(),
        crd_owners: crd::owners(&csvs),
        rights_changed,
        operator_namespace: operator_namespace.to_owned(),
        retry_timeout,
        plan,
    }
}
