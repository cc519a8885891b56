//! What this version does not install is said, not skipped.
//!
//! Webhooks and owned API services need certificates and configurations that are not built yet. A
//! CSV that declares them would run without them and look healthy.

use olm_types::api::{ClusterServiceVersionSpec, CsvPhase};
use olm_types::reasons::csv as reasons;

use super::{Stage, Verdict};
use crate::csv::decision::Decision;
use crate::csv::pass::Pass;

/// Refuses CSVs that declare webhooks or own API services, before anything is installed.
pub struct Unsupported;

impl Stage for Unsupported {
    fn judge(&self, pass: &Pass<'_>) -> Verdict {
        let concerned = match pass.observed.phase() {
            CsvPhase::Pending | CsvPhase::InstallReady | CsvPhase::Failed => true,
            CsvPhase::None
            | CsvPhase::Installing
            | CsvPhase::Succeeded
            | CsvPhase::Replacing
            | CsvPhase::Deleting
            | CsvPhase::Unknown => false,
        };
        let Some(part) = unsupported_part(&pass.observed.csv.spec).filter(|_| concerned) else {
            return Verdict::Continue;
        };
        let message = format!(
            "install strategy failed: {part} not installed by this version of olm-operator yet; \
             nothing was installed, use a version of the operator without them"
        );
        let reason = reasons::INSTALL_COMPONENT_FAILED;
        Verdict::Stop(Decision::enter(CsvPhase::Failed, reason, message))
    }
}

fn unsupported_part(spec: &ClusterServiceVersionSpec) -> Option<&'static str> {
    if !spec.webhookdefinitions.is_empty() {
        return Some("spec.webhookdefinitions: webhooks are");
    }
    let services = spec.apiservicedefinitions.as_ref()?;
    (!services.owned.is_empty()).then_some("spec.apiservicedefinitions.owned: API services are")
}
