//! From "all requirements found" to "waiting for components" (spec olm-operator 1.5, 3.1).

use jiff::Timestamp;
use olm_effect::Identity;
use olm_types::api::{ClusterServiceVersion, CsvPhase};
use olm_types::reasons::csv as reasons;

use super::{Stage, Verdict};
use crate::csv::decision::{CertificateTimes, Decision, OnRefusal};
use crate::csv::installation::{Installation, Obstacle, installation};
use crate::csv::observed::Observed;
use crate::csv::pass::Pass;
use crate::operator_group::attenuation::{self, AttenuationError};

/// Lets a pending CSV install once the CSV it replaces makes way, and installs it.
pub struct Install;

impl Stage for Install {
    fn judge(&self, pass: &Pass<'_>) -> Verdict {
        match pass.observed.phase() {
            CsvPhase::Pending => Verdict::Stop(ready(pass)),
            CsvPhase::InstallReady => install(pass),
            CsvPhase::None
            | CsvPhase::Installing
            | CsvPhase::Succeeded
            | CsvPhase::Failed
            | CsvPhase::Replacing
            | CsvPhase::Deleting
            | CsvPhase::Unknown => Verdict::Continue,
        }
    }
}

fn ready(pass: &Pass<'_>) -> Decision {
    match pass.predecessor().filter(|csv| phase_of(csv) != CsvPhase::Replacing) {
        Some(replaced) => wait_for(replaced, pass),
        None => Decision::enter(
            CsvPhase::InstallReady,
            reasons::ALL_REQUIREMENTS_MET,
            "all requirements found, attempting install",
        ),
    }
}

/// Says nothing in the status, as v0, unless the wait would never end.
fn wait_for(replaced: &ClusterServiceVersion, pass: &Pass<'_>) -> Decision {
    if let Some(circle) = pass.circle() {
        return Decision::enter(CsvPhase::Pending, reasons::REQUIREMENTS_NOT_MET, circle);
    }
    let name = replaced.metadata.name.as_deref().unwrap_or_default();
    let phase = phase_of(replaced);
    Decision::nothing().note(format!("waiting for {name} to make way, it is {phase:?}"))
}

fn phase_of(csv: &ClusterServiceVersion) -> CsvPhase {
    csv.phase()
}

fn install(pass: &Pass<'_>) -> Verdict {
    let observed = pass.observed;
    let identity = match installer(observed) {
        Ok(identity) => identity,
        Err(error) => return Verdict::Stop(Decision::nothing().note(error.to_string())),
    };
    match installation(observed, pass.now) {
        Ok(installation) => Verdict::Stop(installing(installation, &identity, pass.now)),
        Err(Obstacle::Need(request)) => Verdict::Need(request),
        Err(Obstacle::Strategy(error)) => {
            let message = format!("install strategy invalid: {error}");
            fail(reasons::INVALID_INSTALL_STRATEGY, message)
        }
        Err(Obstacle::Serving(error)) => {
            let message = format!("install strategy failed: {error}");
            fail(reasons::INSTALL_COMPONENT_FAILED, message)
        }
    }
}

fn installing(installation: Installation, identity: &Identity, now: Timestamp) -> Decision {
    let Installation { effects, renewed_until } = installation;
    let scoped = effects.into_iter().map(|effect| effect.acting_as(identity.clone()));
    let message = "waiting for install components to report healthy";
    let mut decision = Decision::enter(CsvPhase::Installing, reasons::INSTALL_SUCCEEDED, message);
    decision.on_refusal = OnRefusal::InstallFailed;
    decision.status.certificates =
        renewed_until.map(|rotate_at| CertificateTimes { updated: now, rotate_at });
    decision.after(scoped.collect())
}

fn fail(reason: &'static str, message: String) -> Verdict {
    Verdict::Stop(Decision::enter(CsvPhase::Failed, reason, message))
}

/// Who installs: the account that the OperatorGroup names, else the operator itself.
pub(super) fn installer(observed: &Observed) -> Result<Identity, AttenuationError> {
    attenuation::account(&observed.operator_groups, observed.namespace()).map(attenuation::identity)
}
