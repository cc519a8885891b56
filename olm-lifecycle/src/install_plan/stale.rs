//! Whether an approval is for what the plan would do.
//!
//! Who approves a plan looked at its steps. When a user changed the names of its CSVs since the
//! steps were found, the approval is for something else, and nothing is installed.

use olm_types::api::{ClusterServiceVersion, InstallPlan};

/// Why the approval of the plan does not count, if it does not.
pub(super) fn problem(plan: &InstallPlan) -> Option<String> {
    let status = plan.status.as_ref()?;
    let steps = status.plan.iter().map(|step| &step.resource);
    let csvs = steps.filter(|resource| resource.kind == ClusterServiceVersion::KIND);
    let looked_up = status.bundle_lookups.iter().map(|lookup| &lookup.identifier);
    let known: Vec<_> = csvs.map(|resource| &resource.name).chain(looked_up).collect();
    let names = &plan.spec.cluster_service_version_names;
    // A plan without any CSV step was never made for CSVs: v0's tools make such plans by hand.
    if known.is_empty() {
        return None;
    }
    let unknown = names.iter().find(|name| !known.contains(name))?;
    Some(format!(
        "spec.clusterServiceVersionNames names {unknown}, for which the plan has no step: it was changed after the \
         steps were found, so the approval does not count; create another InstallPlan"
    ))
}
