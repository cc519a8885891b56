//! The writes that a CatalogSource asks for, in v0's order, each with v0's words for its failure.

mod build;
mod process;
#[cfg(test)]
mod tests;

use std::time::Duration;

use jiff::Timestamp;
use olm_effect::{Effect, Outcome};
use olm_types::api::{CatalogSource, CatalogSourceStatus};

use super::observed::{ConfigMapFound, Observed};
use super::polling::PollStep;
use super::registry::{self, PodError, Settings, Surroundings};
use super::spec::{Backend, SpecProblem, backend};
use super::{adoption, template};
use build::Build;

/// What is to be done for a CatalogSource.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The writes, in order.
    pub steps: Vec<Step>,
    pub(super) course: PlannedStatus,
}

/// One write.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The write.
    pub effect: Effect,
    /// What comes before the cause should it be refused.
    pub(super) context: String,
}

/// What the status will say when every write succeeds.
#[derive(Clone, Debug)]
pub(super) enum PlannedStatus {
    /// The spec asks for nothing that can be served.
    Invalid(SpecProblem),
    /// The image that a template gives is written; the change brings the CatalogSource back.
    Renaming,
    /// The ConfigMap is made one that is watched; that brings the CatalogSource back, too.
    Adopting,
    /// The ConfigMap is unavailable.
    NoConfigMap(String),
    /// A server runs somewhere.
    Address,
    /// No Pod can be built.
    Broken(PodError),
    /// Its image is being pulled for the first time, or again and again.
    Pulling,
    /// A server is run for the catalog, by a Pod or by the operator.
    Server(Server),
}

/// A server that is run for a catalog.
#[derive(Clone, Debug)]
pub(super) struct Server {
    /// Name of its Service.
    pub(super) service: String,
    /// Whether a Pod is made to serve.
    pub(super) made_pod: bool,
    /// Where polling stands.
    pub(super) poll: PollStep,
    /// What the operator does, where it serves the catalog itself.
    pub(super) in_process: Option<InProcess>,
}

/// A catalog that the operator serves.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InProcess {
    /// Whether newer content is recorded.
    pub(super) recorded: bool,
    /// How long Pods serve beside the operator.
    pub(super) beside: Option<Duration>,
}

impl Plan {
    /// The effects of all steps.
    pub fn effects(&self) -> Vec<Effect> {
        self.steps.iter().map(|step| step.effect.clone()).collect()
    }

    /// The first write that was refused, in v0's words. The end of a generated name is left out: it
    /// is another one at each try.
    pub(super) fn refusal(&self, outcomes: &[Outcome], catalog: &str) -> Option<String> {
        let refused = |(step, outcome): (&Step, &Outcome)| {
            let cause = match outcome {
                Outcome::Refused(refusal) => refusal.message.clone(),
                Outcome::AlreadyExists if !is_account(&step.effect) => already_exists(&step.effect),
                _ => return None,
            };
            Some(format!("{}{}", step.context, without_generated_names(&cause, catalog)))
        };
        self.steps.iter().zip(outcomes).find_map(refused)
    }
}

/// Decides what is to be done.
pub fn plan(observed: &Observed, settings: &Settings, now: Timestamp) -> Plan {
    let catalog = &*observed.catalog;
    if let Some(effect) = template::image_write(catalog, observed.server_version.as_deref()) {
        let context = "cannot write the image that the template gives: ".to_owned();
        return Plan { steps: vec![Step { effect, context }], course: PlannedStatus::Renaming };
    }
    match backend(catalog) {
        Err(problem) => nothing(PlannedStatus::Invalid(problem)),
        Ok(Backend::Address(_)) => nothing(PlannedStatus::Address),
        Ok(backend) => match &observed.config_map {
            ConfigMapFound::Missing(problem) => {
                nothing(PlannedStatus::NoConfigMap(problem.clone()))
            }
            found => match adoption::config_map(catalog, found) {
                Some(effect) => {
                    let context = adoption::FAILED.to_owned();
                    Plan { steps: vec![Step { effect, context }], course: PlannedStatus::Adopting }
                }
                None => serve(observed, &backend, settings, now),
            },
        },
    }
}

fn nothing(course: PlannedStatus) -> Plan {
    Plan { steps: Vec::new(), course }
}

fn serve(observed: &Observed, backend: &Backend, settings: &Settings, now: Timestamp) -> Plan {
    let metadata = observed.config_map.metadata();
    let around = Surroundings {
        pull_secrets: observed.server.pull_secrets(),
        restricted: observed.server.restricted,
        config_map_version: metadata.and_then(|metadata| metadata.resource_version.clone()),
    };
    match registry::wanted(&observed.catalog, backend, settings, &around) {
        Err(error) => nothing(PlannedStatus::Broken(error)),
        Ok(None) => nothing(PlannedStatus::Address),
        Ok(Some(wanted)) => Build::new(observed, &wanted, now).finish(),
    }
}

fn is_account(effect: &Effect) -> bool {
    effect.target.resource.kind == "ServiceAccount"
}

fn already_exists(effect: &Effect) -> String {
    let target = &effect.target;
    format!("{} \"{}\" already exists", target.resource.plural, target.name)
}

/// Kubernetes ends generated names with five random characters.
fn without_generated_names(text: &str, catalog: &str) -> String {
    let prefix = format!("\"{catalog}-");
    let mut parts = text.split(&prefix);
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find('"').filter(|end| *end == 5);
        result.push_str(&prefix);
        result.push_str(end.and_then(|end| part.get(end..)).unwrap_or(part));
    }
    result
}

/// The status before this look.
pub(super) fn recorded(catalog: &CatalogSource) -> CatalogSourceStatus {
    catalog.status.clone().unwrap_or_default()
}
