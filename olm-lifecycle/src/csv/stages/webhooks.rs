//! What a CSV's webhooks ask for is checked before anything is installed
//! (spec olm-operator 1.5, 3.8).

use olm_types::api::CsvPhase;
use olm_types::reasons::csv as reasons;

use super::{Stage, Verdict};
use crate::csv::decision::Decision;
use crate::csv::observed::Observed;
use crate::csv::pass::Pass;
use crate::webhook::{check_descriptions, placeholders};

/// Takes placeholders for certificates out of definitions, which would never be established.
pub struct Placeholders;

impl Stage for Placeholders {
    fn judge(&self, pass: &Pass<'_>) -> Verdict {
        let observed = pass.observed;
        // Whoever names a definition as his own does not own it: the account says whether he may.
        let is_concerned = observed.phase() == CsvPhase::Pending && may_write(observed);
        let effects =
            if is_concerned { placeholders(&pass.observed.serving_csv()) } else { Vec::new() };
        match effects.is_empty() {
            true => Verdict::Continue,
            false => Verdict::Stop(Decision::act(effects)),
        }
    }
}

/// Whether OLM's own rights may serve what the CSV says about definitions.
fn may_write(observed: &Observed) -> bool {
    observed.trust.csv(&observed.csv)
}

/// Refuses webhook descriptions that are malformed or ask for too much. A CSV that failed for this
/// stays so until its spec changes; in v0 it fails anew with every look.
pub struct Webhooks;

impl Stage for Webhooks {
    fn judge(&self, pass: &Pass<'_>) -> Verdict {
        let reason = reasons::INVALID_WEBHOOK_DESCRIPTION;
        let is_concerned = match pass.observed.phase() {
            // A phase is what a tenant writes, too: it is looked at again before the install.
            CsvPhase::Pending | CsvPhase::InstallReady => true,
            CsvPhase::Failed => pass.observed.reason() == reason,
            CsvPhase::None
            | CsvPhase::Installing
            | CsvPhase::Succeeded
            | CsvPhase::Replacing
            | CsvPhase::Deleting
            | CsvPhase::Unknown => false,
        };
        match check_descriptions(&pass.observed.csv) {
            Err(error) if is_concerned => {
                Verdict::Stop(Decision::enter(CsvPhase::Failed, reason, error.to_string()))
            }
            Ok(()) | Err(_) => Verdict::Continue,
        }
    }
}
