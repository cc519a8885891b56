//! Two operators of one namespace must not own the same API (spec olm-operator 1.5).

use std::collections::BTreeSet;

use olm_types::api::{ClusterServiceVersion, CsvPhase};
use olm_types::reasons::csv as reasons;

use super::{Stage, Verdict};
use crate::api_service::is_adoptable;
use crate::certificates::owned_api_services;
use crate::csv::decision::Decision;
use crate::csv::pass::Pass;

/// Refuses a CSV that owns a definition which a CSV outside its chain of replacements owns, or an
/// API service of another owner.
///
/// A CSV that failed for this reason stays so while the conflict lasts, so that nothing loops.
pub struct OwnerConflicts;

impl Stage for OwnerConflicts {
    fn judge(&self, pass: &Pass<'_>) -> Verdict {
        let failed_for_this = pass.observed.reason() == reasons::OWNER_CONFLICT;
        let concerned = match pass.observed.phase() {
            CsvPhase::Pending => true,
            CsvPhase::Failed => failed_for_this,
            CsvPhase::None
            | CsvPhase::InstallReady
            | CsvPhase::Installing
            | CsvPhase::Succeeded
            | CsvPhase::Replacing
            | CsvPhase::Deleting
            | CsvPhase::Unknown => false,
        };
        if !concerned {
            return Verdict::Continue;
        }
        let message = match (has_conflict(pass), has_foreign_api(pass)) {
            (true, _) => "conflicting CRD owner in namespace",
            (false, true) => "unable to adopt APIService",
            (false, false) => return Verdict::Continue,
        };
        Verdict::Stop(Decision::enter(CsvPhase::Failed, reasons::OWNER_CONFLICT, message))
    }
}

fn has_conflict(pass: &Pass<'_>) -> bool {
    let owned = owned_crds(&pass.observed.csv);
    let chain = pass.chain();
    let related = chain.members(&pass.observed.csv);
    pass.observed
        .siblings
        .iter()
        .filter(|other| !related.contains(other.metadata.name.as_deref().unwrap_or_default()))
        .any(|other| !owned_crds(other).is_disjoint(&owned))
}

/// Whether an API that the CSV owns is served already by an owner that does not make way.
fn has_foreign_api(pass: &Pass<'_>) -> bool {
    let observed = pass.observed;
    let names = owned_api_services(&observed.csv).map(|api| api.api_service_name());
    let mut present = names.filter_map(|name| observed.api_services.get(&name));
    let serving = observed.serving_csv();
    present.any(|service| !is_adoptable(&serving, service))
}

fn owned_crds(csv: &ClusterServiceVersion) -> BTreeSet<&str> {
    let crds = csv.spec.customresourcedefinitions.iter().flat_map(|crds| &crds.owned);
    crds.map(|crd| crd.name.as_str()).collect()
}
