//! The servers of a CSV: what an install writes about them, and how its Deployments look with
//! their certificates (spec olm-operator 3.6-3.8).

use std::borrow::Cow;
use std::collections::BTreeMap;

use olm_effect::Effect;
use olm_types::api::ClusterServiceVersion;

use super::observed::Observed;
use crate::api_service::{self, NotAdoptable};
use crate::certificates::{
    ServingNames, ServingSecret, ServingWrites, authority_hash, owned_api_services,
    served_deployments, trusts, with_mounts,
};
use crate::install::shape::ShapeError;
use crate::webhook::{self, ConversionError};

/// Why those who call a server cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServingError {
    /// An API belongs to another owner.
    #[error(transparent)]
    ApiService(#[from] NotAdoptable),
    /// A conversion webhook is not possible.
    #[error(transparent)]
    Conversion(#[from] ConversionError),
}

/// Why it is not known how Deployments have to look.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotComputable {
    /// No caller trusts a certificate yet.
    #[error("unable to find CA for {0}")]
    NoAuthority(String),
    /// A Service is missing.
    #[error("unable to get service {0}")]
    NoService(String),
    /// A Secret is missing.
    #[error("unable to get secret {0}")]
    NoSecret(String),
    /// A Deployment is not described as one.
    #[error(transparent)]
    Shape(#[from] ShapeError),
}

/// The writes for all callers of a server of the CSV.
///
/// # Errors
/// When one of them must not be written.
pub(super) fn callers(
    observed: &Observed,
    trusted: &BTreeMap<String, Vec<u8>>,
) -> Result<ServingWrites, ServingError> {
    let serving = observed.serving_csv();
    let mut writes = api_service::writes(&serving, trusted)?;
    let admission = webhook::admission_writes(&serving, trusted);
    writes.updates.extend(admission.updates);
    writes.updates.extend(webhook::conversion_writes(&serving, trusted)?);
    writes.creations.extend(admission.creations);
    Ok(writes)
}

/// The writes that take away what the CSV once described and describes no more.
pub(super) fn removed(observed: &Observed) -> Vec<Effect> {
    let serving = observed.serving_csv();
    let mut all = webhook::removed(&serving);
    all.extend(api_service::removed(&serving));
    all.extend(webhook::released(&serving, false));
    all
}

/// Whom the callers of a Deployment trust at this moment, as PEM; empty when it has no callers yet.
pub(super) fn trusted_now(observed: &Observed, deployment: &str) -> Vec<u8> {
    let bundle = authorities(observed).find(|(_, named, _)| *named == deployment);
    bundle.and_then(|(_, _, bundle)| bundle).map(<[u8]>::to_vec).unwrap_or_default()
}

/// The CSV with its Deployments as the last install must have left them.
///
/// # Errors
/// When something is missing that an install makes.
pub(super) fn as_installed(
    observed: &Observed,
) -> Result<Cow<'_, ClusterServiceVersion>, NotComputable> {
    let mut hashes = BTreeMap::new();
    for (name, deployment, bundle) in authorities(observed) {
        let bundle = bundle.ok_or(NotComputable::NoAuthority(name))?;
        let hash = hash_of(observed, deployment, bundle)?;
        hashes.entry(deployment.to_owned()).or_insert(hash);
    }
    // Most CSVs have no servers.
    if hashes.is_empty() {
        return Ok(Cow::Borrowed(&*observed.csv));
    }
    Ok(Cow::Owned(with_mounts(&observed.csv, &hashes)?))
}

/// Whether the CSV has servers.
pub(super) fn has_servers(observed: &Observed) -> bool {
    !served_deployments(&observed.csv).is_empty()
}

/// While several authorities are trusted, the hash is that of the active one.
fn hash_of(observed: &Observed, deployment: &str, bundle: &[u8]) -> Result<String, NotComputable> {
    let names = ServingNames::new(observed.namespace(), deployment);
    if !observed.serving.services.contains_key(&names.service()) {
        return Err(NotComputable::NoService(names.service()));
    }
    let secret = observed.serving.secrets.get(&names.secret());
    let secret = secret.ok_or_else(|| NotComputable::NoSecret(names.secret()))?;
    let active = ServingSecret::new(secret).active().authority;
    Ok(authority_hash(if trusts(bundle, active) { active } else { bundle }))
}

/// The callers of a server: its name, the Deployment, and whom it trusts.
fn authorities(observed: &Observed) -> impl Iterator<Item = (String, &str, Option<&[u8]>)> {
    let serving = observed.serving_csv();
    let services = owned_api_services(serving.csv).map(move |api| {
        let deployment = api.deployment_name.as_deref().unwrap_or_default();
        (api.api_service_name(), deployment, api_service::authority_of(&serving, api))
    });
    let webhooks = serving.csv.spec.webhookdefinitions.iter().map(move |webhook| {
        let authority = webhook::authority_of(&serving, webhook);
        (webhook.generate_name.clone(), webhook::deployment_of(webhook), authority)
    });
    services.chain(webhooks)
}
