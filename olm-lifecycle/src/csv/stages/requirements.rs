//! Nothing is installed before everything required is there, and nothing counts as installed
//! after it is gone (spec olm-operator 1.5, 2.7).

use olm_types::api::CsvPhase;
use olm_types::reasons::csv as reasons;

use super::{Stage, Verdict};
use crate::csv::decision::Decision;
use crate::csv::pass::Pass;
use crate::csv::requirements::Evaluation;
use crate::csv::upgradeable::why_not_upgradeable;
use crate::install::strategy;

/// Checks requirements where the phase calls for it.
pub struct Requirements;

impl Stage for Requirements {
    fn judge(&self, pass: &Pass<'_>) -> Verdict {
        match pass.observed.phase() {
            // A phase that is never written is as good as none.
            CsvPhase::None | CsvPhase::Unknown => Verdict::Stop(Decision::enter(
                CsvPhase::Pending,
                reasons::REQUIREMENTS_UNKNOWN,
                "requirements not yet checked",
            )),
            CsvPhase::Pending => pending(pass),
            CsvPhase::Succeeded => check(pass, CsvPhase::Failed, "requirements no longer met"),
            CsvPhase::Failed => failed(pass),
            CsvPhase::InstallReady
            | CsvPhase::Installing
            | CsvPhase::Replacing
            | CsvPhase::Deleting => Verdict::Continue,
        }
    }
}

fn pending(pass: &Pass<'_>) -> Verdict {
    let conditions = &pass.observed.operator_conditions;
    if let Some(detail) = pass.predecessor().and_then(|csv| why_not_upgradeable(csv, conditions)) {
        let message = format!("operator is not upgradeable: {detail}");
        let reason = reasons::OPERATOR_CONDITION_NOT_UPGRADEABLE;
        return Verdict::Stop(Decision::enter(CsvPhase::Pending, reason, message));
    }
    check(pass, CsvPhase::Pending, "one or more requirements couldn't be found")
}

/// A failed CSV starts again once the reason of its failure is gone.
fn failed(pass: &Pass<'_>) -> Verdict {
    if let Err(error) = strategy(&pass.observed.csv.spec) {
        return invalid(&error.to_string());
    }
    // Getting here means that the gates, which stand before this stage, let the CSV pass now.
    let message = match pass.observed.reason() {
        reasons::NO_TARGET_NAMESPACES
        | reasons::NO_OPERATOR_GROUP
        | reasons::TOO_MANY_OPERATOR_GROUPS
        | reasons::UNSUPPORTED_OPERATOR_GROUP => "InstallModes now support target namespaces",
        reasons::INTER_OPERATOR_GROUP_OWNER_CONFLICT => {
            "OperatorGroup no longer intersecting with conflicting owner"
        }
        reasons::CANNOT_MODIFY_STATIC_OPERATOR_GROUP_PROVIDED_APIS => {
            "static OperatorGroup and intersecting groups now support providedAPIs"
        }
        _ => return check(pass, CsvPhase::Pending, "requirements not met"),
    };
    Verdict::Stop(Decision::enter(CsvPhase::Pending, reasons::REQUIREMENTS_UNKNOWN, message))
}

fn check(pass: &Pass<'_>, unmet: CsvPhase, message: &str) -> Verdict {
    match pass.requirements() {
        Evaluation::Need(request) => Verdict::Need(request.clone()),
        Evaluation::Invalid(error) => invalid(error),
        Evaluation::Known(requirements) if requirements.met => Verdict::Continue,
        Evaluation::Known(_) => {
            Verdict::Stop(Decision::enter(unmet, reasons::REQUIREMENTS_NOT_MET, message))
        }
    }
}

fn invalid(error: &str) -> Verdict {
    let message = format!("install strategy invalid: {error}");
    let reason = reasons::INVALID_INSTALL_STRATEGY;
    Verdict::Stop(Decision::enter(CsvPhase::Failed, reason, message))
}
