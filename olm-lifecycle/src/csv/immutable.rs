//! Deployments of which a new version of an operator changes an immutable field.
//!
//! The API server never lets the selector of a Deployment change. v0 tries the same write for ever,
//! and the upgrade ends with a failed CSV; here the Deployment is deleted, its pods first, and made
//! anew. That is done only after the API server had nothing else against the new one.

use olm_effect::{Action, Effect, EventNote, EventType, Refusal};
use olm_types::api::ClusterServiceVersion;
use olm_types::owner::owner_by_label;
use olm_types::reasons::event::DEPLOYMENT_RECREATED;

use super::chain::Chain;
use super::observed::Observed;
use crate::install::removal;
use crate::writes::target_of;

/// How the API server begins to say that the selector, and nothing else, stands in the way.
const SELECTOR: &str = " is invalid: spec.selector: ";

/// How it ends.
const IMMUTABLE: &str = "field is immutable";

/// What has to go before a refused write can succeed; nothing while it is on its way out already.
/// `None` when the refusal has another cause, or the Deployment belongs to another owner.
pub(super) fn in_the_way(
    observed: &Observed,
    refused: &Effect,
    refusal: &Refusal,
) -> Option<Vec<Effect>> {
    if !changes_selector(refused, refusal) {
        return None;
    }
    let found = observed.deployments.get(&refused.target.name)?;
    let labels = found.metadata.labels.as_ref()?;
    let owner = owner_by_label(labels, ClusterServiceVersion::KIND)?;
    if owner.namespace != observed.namespace() || !makes_way(observed, owner.name) {
        return None;
    }
    if found.metadata.deletion_timestamp.is_some() {
        return Some(Vec::new());
    }
    let removal = removal(found).acting_as(refused.identity.clone());
    Some(vec![removal, reported(&observed.csv, &refused.target.name)])
}

fn reported(csv: &ClusterServiceVersion, deployment: &str) -> Effect {
    let note = EventNote {
        event_type: EventType::Warning,
        reason: DEPLOYMENT_RECREATED.to_owned(),
        message: format!(
            "Deployment {deployment} was deleted, its pods first, and is made anew: this version changes its selector, \
             which cannot be changed"
        ),
        uid: csv.metadata.uid.clone(),
        field_path: None,
    };
    Effect::event(target_of(csv), note)
}

fn changes_selector(effect: &Effect, refusal: &Refusal) -> bool {
    effect.target.resource.kind == "Deployment"
        && matches!(effect.action, Action::Replace { .. })
        && refusal.code == 422
        && refusal.message.contains(SELECTOR)
        && refusal.message.ends_with(IMMUTABLE)
}

/// Whether a Deployment of that CSV is this one's to replace: it is its own, that of a version
/// before or after it, or that of one which is gone.
fn makes_way(observed: &Observed, owner: &str) -> bool {
    let siblings = || observed.siblings.iter().map(AsRef::as_ref);
    let chain = Chain::new(siblings().chain([observed.csv.as_ref()]));
    chain.members(&observed.csv).contains(owner) || chain.get(owner).is_none()
}
