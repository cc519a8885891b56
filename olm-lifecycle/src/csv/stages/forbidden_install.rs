//! An install that was forbidden waits for rights to change (spec olm-operator 1.4 gate 1, 1.8).

use olm_types::api::CsvPhase;
use olm_types::reasons::csv as reasons;

use super::{Stage, Verdict};
use crate::csv::decision::Decision;
use crate::csv::pass::Pass;

/// Holds a CSV whose install was forbidden until something around it changes.
pub struct ForbiddenInstall;

impl Stage for ForbiddenInstall {
    fn judge(&self, pass: &Pass<'_>) -> Verdict {
        if pass.observed.reason() != reasons::INSTALL_COMPONENT_FAILED_NO_RETRY {
            return Verdict::Continue;
        }
        if !pass.observed.cluster_changed {
            return Verdict::Stop(Decision::nothing());
        }
        let message = "Cluster resources changed state";
        let mut decision =
            Decision::enter(CsvPhase::Pending, reasons::DETECTED_CLUSTER_CHANGE, message);
        decision.status.quiet = true;
        Verdict::Stop(decision)
    }
}
