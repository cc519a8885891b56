//! From "all requirements found" to "waiting for components" (spec olm-operator 1.5, 3.1).

use k8s_openapi::api::apps::v1::Deployment;
use olm_effect::{Action, Effect, Target};
use olm_types::api::{ClusterServiceVersion, CsvPhase, StrategyDeploymentSpec};
use olm_types::reasons::csv as reasons;

use super::{Stage, Verdict};
use crate::csv::decision::{Decision, OnRefusal};
use crate::csv::observed::Observed;
use crate::csv::pass::Pass;
use crate::csv::requirements::Evaluation;
use crate::install::{StrategyError, desired_deployment, orphans, strategy};
use crate::writes::resource_of;

/// Lets a pending CSV install once the CSV it replaces makes way, and installs it.
pub struct Install;

impl Stage for Install {
    fn judge(&self, pass: &Pass<'_>) -> Verdict {
        match pass.observed.phase() {
            CsvPhase::Pending => Verdict::Stop(ready(pass)),
            CsvPhase::InstallReady => Verdict::Stop(install(pass.observed)),
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
    let replaced = pass.predecessor();
    let phase_of = |csv: &ClusterServiceVersion| {
        csv.status.as_ref().map(|status| status.phase).unwrap_or_default()
    };
    let decision = match replaced.filter(|csv| phase_of(csv) != CsvPhase::Replacing) {
        Some(replaced) => {
            let name = replaced.metadata.name.as_deref().unwrap_or_default();
            let phase = phase_of(replaced);
            Decision::nothing().note(format!("waiting for {name} to make way, it is {phase:?}"))
        }
        None => Decision::enter(
            CsvPhase::InstallReady,
            reasons::ALL_REQUIREMENTS_MET,
            "all requirements found, attempting install",
        ),
    };
    match pass.requirements() {
        Evaluation::Known(requirements) => decision.with_requirements(&requirements.entries),
        Evaluation::Invalid(_) | Evaluation::Need(_) => decision,
    }
}

fn install(observed: &Observed) -> Decision {
    match effects(observed) {
        Ok(effects) => {
            let message = "waiting for install components to report healthy";
            let mut decision =
                Decision::enter(CsvPhase::Installing, reasons::INSTALL_SUCCEEDED, message);
            decision.on_refusal = OnRefusal::InstallFailed;
            decision.after(effects)
        }
        Err(error) => Decision::enter(
            CsvPhase::Failed,
            reasons::INVALID_INSTALL_STRATEGY,
            format!("install strategy invalid: {error}"),
        ),
    }
}

fn effects(observed: &Observed) -> Result<Vec<Effect>, StrategyError> {
    let strategy = strategy(&observed.csv.spec)?;
    let mut effects = Vec::new();
    for entry in &strategy.deployments {
        effects.push(write(observed, entry)?);
    }
    effects.extend(orphans(&observed.csv, strategy, &observed.deployments));
    Ok(effects)
}

/// Creates the Deployment, or overwrites whatever has its name, as v0 does.
fn write(observed: &Observed, entry: &StrategyDeploymentSpec) -> Result<Effect, StrategyError> {
    let object = desired_deployment(&observed.csv, entry)?;
    let target = Target::namespaced(resource_of::<Deployment>(), observed.namespace(), &entry.name);
    Ok(match observed.deployments.contains_key(&entry.name) {
        true => Effect::new(target, Action::Replace { object, observed: None }),
        false => Effect::create(target, object),
    })
}
