//! A stage: a CSV that has not been reviewed waits.

use olm_lifecycle::csv::stages::{Stage, Verdict};
use olm_lifecycle::csv::{Decision, Pass};
use olm_types::api::CsvPhase;

/// The annotation that says who has reviewed a CSV.
const REVIEWED_BY: &str = "example.com/reviewed-by";

/// Why a CSV waits, in one word.
const REASON: &str = "NotReviewed";

/// Keeps a CSV Pending until it says who has reviewed it.
pub(crate) struct Reviewed;

impl Stage for Reviewed {
    fn judge(&self, pass: &Pass<'_>) -> Verdict {
        let observed = pass.observed;
        let waits = matches!(observed.phase(), CsvPhase::None | CsvPhase::Pending);
        let reviewer = observed.annotation(REVIEWED_BY).unwrap_or_default();
        if !waits || !reviewer.is_empty() {
            return Verdict::Continue;
        }
        let name = observed.name();
        let message =
            format!("{name} has not been reviewed: the annotation {REVIEWED_BY} names who did");
        Verdict::Stop(Decision::enter(CsvPhase::Pending, REASON, message))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use olm_lifecycle::csv::Observed;
    use olm_types::api::{ClusterServiceVersion, ClusterServiceVersionStatus};

    use super::*;

    fn verdict(phase: CsvPhase, reviewer: Option<&str>) -> Verdict {
        let mut csv = ClusterServiceVersion::default();
        csv.metadata.annotations =
            reviewer.map(|name| [(REVIEWED_BY.to_owned(), name.to_owned())].into());
        csv.status = Some(ClusterServiceVersionStatus { phase, ..Default::default() });
        let observed = Observed { csv: Arc::new(csv), ..Observed::default() };
        Reviewed.judge(&Pass::new(&observed, jiff::Timestamp::UNIX_EPOCH))
    }

    #[test]
    fn a_csv_waits_for_its_review() {
        let Verdict::Stop(decision) = verdict(CsvPhase::None, None) else { panic!() };
        let entered = decision.status.phase.unwrap();
        assert_eq!((entered.phase, entered.reason), (CsvPhase::Pending, REASON));
        assert!(matches!(verdict(CsvPhase::Pending, Some("")), Verdict::Stop(_)));
    }

    #[test]
    fn a_reviewed_one_goes_on_and_an_installed_one_stays() {
        assert_eq!(verdict(CsvPhase::Pending, Some("ann")), Verdict::Continue);
        assert_eq!(verdict(CsvPhase::Succeeded, None), Verdict::Continue);
    }
}
