//! Names of CustomResourceDefinitions must have a group (spec olm-operator 1.4 gate 2).
//!
//! v0 stops silently on such a CSV. Here its status names the field and the remedy.

use olm_types::api::{CrdDescription, CsvPhase};
use olm_types::gvk::CrdName;
use olm_types::reasons::csv as reasons;

use super::{Stage, Verdict};
use crate::csv::decision::Decision;
use crate::csv::pass::Pass;

/// Refuses CSVs with malformed names of owned or required definitions.
pub struct ApiNames;

impl Stage for ApiNames {
    fn judge(&self, pass: &Pass<'_>) -> Verdict {
        let Some(crds) = &pass.observed.csv.spec.customresourcedefinitions else {
            return Verdict::Continue;
        };
        let problem = problem("owned", &crds.owned).or_else(|| problem("required", &crds.required));
        let Some(problem) = problem else { return Verdict::Continue };
        let message = format!("install strategy invalid: {problem}");
        let reason = reasons::INVALID_INSTALL_STRATEGY;
        Verdict::Stop(Decision::enter(CsvPhase::Failed, reason, message))
    }
}

fn problem(list: &str, crds: &[CrdDescription]) -> Option<String> {
    crds.iter().enumerate().find_map(|(index, crd)| {
        let error = CrdName::parse(&crd.name).err()?;
        Some(format!("spec.customresourcedefinitions.{list}[{index}].name: {error}"))
    })
}
