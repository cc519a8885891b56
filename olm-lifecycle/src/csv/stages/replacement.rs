//! A replaced CSV goes once its replacement runs (spec olm-operator 1.5, 1.7).

use olm_effect::{Action, Effect, Propagation};
use olm_types::api::{ClusterServiceVersion, CsvPhase};
use olm_types::reasons::csv as reasons;

use super::being_replaced::fails_forward;
use super::{Stage, Verdict};
use crate::csv::decision::Decision;
use crate::csv::observed::Observed;
use crate::csv::pass::Pass;
use crate::writes::target_of;

/// Moves the oldest link of a chain from `Replacing` to `Deleting`, and deletes it there.
pub struct Replacement;

impl Stage for Replacement {
    fn judge(&self, pass: &Pass<'_>) -> Verdict {
        match pass.observed.phase() {
            CsvPhase::Replacing => Verdict::Stop(replacing(pass)),
            CsvPhase::Deleting => Verdict::Stop(delete(pass.observed)),
            CsvPhase::None
            | CsvPhase::Pending
            | CsvPhase::InstallReady
            | CsvPhase::Installing
            | CsvPhase::Succeeded
            | CsvPhase::Failed
            | CsvPhase::Unknown => Verdict::Continue,
        }
    }
}

fn replacing(pass: &Pass<'_>) -> Decision {
    if let Some(circle) = pass.circle() {
        let name = pass.successor().and_then(|next| next.metadata.name.as_deref());
        let message = format!("being replaced by csv: {}; {circle}", name.unwrap_or_default());
        return Decision::enter(CsvPhase::Replacing, reasons::BEING_REPLACED, message);
    }
    if pass.predecessor().is_some() {
        return Decision::nothing().note("waiting: not the oldest link of the chain");
    }
    let Some(next) = pass.successor() else {
        let note = "marked as replacement, but no replacement CSV found in cluster";
        return Decision::nothing().note(note);
    };
    let Some(last) = replacement_to_wait_for(pass, next) else {
        let namespace = pass.observed.namespace();
        let name = next.metadata.name.as_deref().unwrap_or_default();
        return Decision::nothing().note(format!("csv {namespace}/{name} has already been seen"));
    };
    if last.phase() != CsvPhase::Succeeded {
        return Decision::nothing();
    }
    // What both versions bring belongs to the old one alone until the plan has come to it, and would go with it.
    if last.metadata.name.as_ref().is_some_and(|name| pass.observed.installing.contains(name)) {
        return Decision::nothing().note("waiting: the InstallPlan of the replacement is not done");
    }
    Decision::enter(
        CsvPhase::Deleting,
        reasons::REPLACED,
        "has been replaced by a newer ClusterServiceVersion that has successfully installed.",
    )
}

/// The next link or, under fail-forward, the last one; `None` when the links form a cycle.
fn replacement_to_wait_for<'a>(
    pass: &Pass<'a>,
    next: &'a ClusterServiceVersion,
) -> Option<&'a ClusterServiceVersion> {
    if !fails_forward(pass) {
        return Some(next);
    }
    let chain = pass.chain();
    if chain.is_cyclic(next) {
        return None;
    }
    Some(chain.last_replacement_of(next).unwrap_or(next))
}

fn delete(observed: &Observed) -> Decision {
    let action = Action::Delete {
        uid: observed.csv.metadata.uid.clone(),
        propagation: Propagation::Background,
        grace_seconds: None,
    };
    Decision::act(vec![Effect::new(target_of(observed.csv.as_ref()), action)])
}
