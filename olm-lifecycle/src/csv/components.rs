//! Whether everything that an install made is there and works (spec olm-operator 1.6).

use super::observed::Observed;
use super::pass::Request;
use super::serving::as_installed;
use crate::api_service;
use crate::install::{Unhealthy, UnhealthyReason, check_installed};
use crate::webhook::{Availability, availability};

/// The state of all components together: the first problem in v0's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Components {
    /// All is well.
    Healthy,
    /// It is not known how Deployments have to look; the text says why.
    Incomputable(String),
    /// A Deployment is not as it should be.
    Deployment(Unhealthy),
    /// An owned API cannot be used.
    ApiServicesMissing,
    /// A webhook is wrong.
    WebhookFailed(String),
    /// A webhook is not set up.
    WebhooksMissing,
}

/// Looks at all components.
///
/// # Errors
/// What has to be read first.
pub(super) fn examine(observed: &Observed) -> Result<Components, Request> {
    let deployments = match deployments(observed) {
        Ok(found) => found,
        Err(text) => return Ok(Components::Incomputable(text)),
    };
    let deployments = match deployments {
        Err(problem) if problem.reason == UnhealthyReason::Timeout => {
            return Ok(Components::Deployment(problem));
        }
        other => other,
    };
    let serving = observed.serving_csv();
    let wanted = api_service::wanted_apis(&serving);
    if !wanted.is_empty() {
        return Err(Request::Served(wanted));
    }
    if !api_service::are_available(&serving) {
        return Ok(Components::ApiServicesMissing);
    }
    Ok(match (availability(&serving), deployments) {
        (Availability::Failed(text), _) => Components::WebhookFailed(text),
        (Availability::Missing, _) => Components::WebhooksMissing,
        (Availability::Available, Err(problem)) => Components::Deployment(problem),
        (Availability::Available, Ok(())) => Components::Healthy,
    })
}

fn deployments(observed: &Observed) -> Result<Result<(), Unhealthy>, String> {
    let csv = as_installed(observed).map_err(|error| error.to_string())?;
    check_installed(&csv, &observed.overrides, &observed.deployments)
        .map_err(|error| error.to_string())
}
