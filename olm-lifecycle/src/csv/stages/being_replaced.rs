//! A CSV makes way for the one that replaces it (spec olm-operator 1.5, 1.7, 4.9).

use olm_types::api::{CsvPhase, UpgradeStrategy};
use olm_types::reasons::csv as reasons;

use super::{Stage, Verdict};
use crate::csv::decision::Decision;
use crate::csv::pass::Pass;

/// Moves a succeeded CSV, or under fail-forward a failed one, to `Replacing` as soon as its
/// replacement exists, however far that is.
///
/// A CSV whose own predecessor is still about to go stays `Succeeded` until then: that is the phase
/// the predecessor waits for. In v0 the two race, and a chain whose middle link is first never ends.
pub struct BeingReplaced;

impl Stage for BeingReplaced {
    fn judge(&self, pass: &Pass<'_>) -> Verdict {
        let prefix = match pass.observed.phase() {
            CsvPhase::Succeeded if is_waited_for(pass) => return Verdict::Continue,
            CsvPhase::Succeeded => "being replaced by csv: ",
            CsvPhase::Failed if fails_forward(pass) => {
                "Fail Forward is enabled, allowing Failed csv to be replaced by csv: "
            }
            CsvPhase::None
            | CsvPhase::Pending
            | CsvPhase::InstallReady
            | CsvPhase::Installing
            | CsvPhase::Failed
            | CsvPhase::Replacing
            | CsvPhase::Deleting
            | CsvPhase::Unknown => return Verdict::Continue,
        };
        let Some(successor) = pass.successor() else { return Verdict::Continue };
        let name = successor.metadata.name.as_deref().unwrap_or_default();
        let message = format!("{prefix}{name}");
        Verdict::Stop(Decision::enter(CsvPhase::Replacing, reasons::BEING_REPLACED, message))
    }
}

/// Whether the CSV that this one replaces goes as soon as it sees this one succeeded.
fn is_waited_for(pass: &Pass<'_>) -> bool {
    let before = pass.predecessor().and_then(|before| before.status.as_ref());
    let leaving = before.map(|status| status.phase);
    matches!(leaving, Some(CsvPhase::Replacing | CsvPhase::Deleting)) && !fails_forward(pass)
}

/// Whether the OperatorGroup lets failed versions be replaced.
pub(super) fn fails_forward(pass: &Pass<'_>) -> bool {
    let strategy = pass.group().and_then(|group| group.spec.upgrade_strategy);
    strategy == Some(UpgradeStrategy::TechPreviewUnsafeFailForward)
}
