//! The InstallPlan that a selection asks for.

use olm_types::api::{Approval, Step};

use super::{Namespace, Selection};
use crate::install_plan::request::PlanRequest;
use crate::install_plan::steps::{self, BundleError, BundleInput};

/// Why a selection cannot become a plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A bundle is malformed.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// A bundle is in an image.
    #[error(
        "bundle {bundle} is in the image {image}, and this version does not unpack bundle images; \
         use a catalog that holds the manifests of its bundles"
    )]
    ImageBundle {
        /// Name of the bundle.
        bundle: String,
        /// The image.
        image: String,
    },
}

/// The plan for a selection, whose inline bundles are in `bundles`. Nothing when no Subscription
/// would follow it: then v0 makes no plan either.
///
/// One Subscription with manual approval makes the plan of the whole namespace manual.
pub fn plan(
    namespace: &Namespace,
    selection: &Selection,
    bundles: &[BundleInput],
) -> Result<Option<PlanRequest>, PlanError> {
    if let Some((choice, image)) = selection.images.first() {
        return Err(PlanError::ImageBundle {
            bundle: choice.entry.name.to_string(),
            image: image.clone(),
        });
    }
    if selection.updates.is_empty() {
        return Ok(None);
    }
    let mut all: Vec<Step> = Vec::new();
    for bundle in bundles {
        all.extend(steps::bundle_steps(bundle, &namespace.name)?);
    }
    for dependency in &selection.dependencies {
        all.push(steps::subscription_step(dependency, &namespace.name)?);
    }
    let mut request = PlanRequest {
        namespace: namespace.name.clone(),
        generation: next_generation(namespace),
        approval: approval(namespace),
        steps: steps::order(all),
        lookups: Vec::new(),
        owners: namespace.subscriptions.clone(),
    };
    if let Some(unfinished) = request.existing(&namespace.plans) {
        request.generation = unfinished.spec.generation.unwrap_or(request.generation);
    }
    Ok(Some(request).filter(|request| !request.is_empty()))
}

fn next_generation(namespace: &Namespace) -> i64 {
    let recorded =
        namespace.subscriptions.iter().filter_map(|subscription| subscription.status.as_ref());
    let recorded = recorded.filter_map(|status| status.install_plan_generation);
    let existing = namespace.plans.iter().filter_map(|plan| plan.spec.generation);
    recorded.chain(existing).max().unwrap_or_default().saturating_add(1)
}

fn approval(namespace: &Namespace) -> Approval {
    let manual = |subscription: &&std::sync::Arc<olm_types::api::Subscription>| {
        subscription.spec.install_plan_approval == Some(Approval::Manual)
    };
    if namespace.subscriptions.iter().any(|subscription| manual(&subscription)) {
        Approval::Manual
    } else {
        Approval::Automatic
    }
}
