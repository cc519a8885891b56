//! Conversion webhooks: an operator's own definitions send their resources to it
//! (spec olm-operator 3.8, item 4).

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::ByteString;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceConversion, CustomResourceDefinition, WebhookClientConfig,
};
use olm_effect::{Effect, Target};
use olm_types::api::{ClusterServiceVersion, InstallModeType, WebhookDescription, webhook_type};
use serde_json::{Value, json};

use super::deployment_of;
use crate::certificates::{Certificate, ServingCsv, ServingNames, webhook_port};
use crate::writes::resource_of;

/// The strategy that calls a webhook.
const WEBHOOK: &str = "Webhook";

/// Path of a webhook that names none; v0's value.
const DEFAULT_PATH: &str = "/";

/// Why a conversion webhook cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConversionError {
    /// The operator can be confined to namespaces, and conversion cannot.
    #[error(
        "unable to manage conversion webhook: CSVs with conversion webhooks must support only \
         AllNamespaces"
    )]
    InstallModes,
    /// There is nothing to convert. The wording is v0's.
    #[error(
        "unable to manager conversion webhook: conversion webhook must have at least one CRD \
         specified"
    )]
    NoDefinition,
    /// A definition does not exist.
    #[error(
        "unable to get CRD {0} specified in Conversion Webhook: \
         customresourcedefinitions.apiextensions.k8s.io \"{0}\" not found"
    )]
    Missing(String),
    /// A definition is not the operator's.
    #[error("csv {csv} does not own CRD {crd}")]
    NotOwned {
        /// Name of the CSV.
        csv: String,
        /// Name of the definition.
        crd: String,
    },
    /// The API server calls no webhook for a definition of this sort.
    #[error(
        "crd.Spec.PreserveUnknownFields must be false to let API Server call webhook to do the \
         conversion"
    )]
    PreservesUnknownFields,
}

/// Whether the description is one of a conversion webhook.
pub(crate) fn is_conversion(webhook: &WebhookDescription) -> bool {
    webhook.type_ == webhook_type::CONVERSION
}

/// The writes that make the definitions of all conversion webhooks call them; `trusted` has whom
/// the API server is to trust by the name of the Deployment.
///
/// # Errors
/// When a webhook may not, or cannot, convert a definition that it names.
pub fn writes(
    observed: &ServingCsv<'_>,
    trusted: &BTreeMap<String, Vec<u8>>,
) -> Result<Vec<Effect>, ConversionError> {
    let mut writes = Vec::new();
    let webhooks = observed.csv.spec.webhookdefinitions.iter();
    for webhook in webhooks.filter(|webhook| is_conversion(webhook)) {
        check_modes(observed.csv)?;
        if webhook.conversion_crds.is_empty() {
            return Err(ConversionError::NoDefinition);
        }
        let trusted = trusted.get(deployment_of(webhook));
        let trusted = trusted.map(Vec::as_slice).unwrap_or_default();
        for name in &webhook.conversion_crds {
            let crd = definition(observed, name)?;
            writes.push(patch(name, crd, conversion(observed, webhook, trusted)));
        }
    }
    Ok(writes)
}

/// The writes that take a webhook away from definitions that called one of this CSV and for which
/// its descriptions have none any more. `is_going` says that this is so for all of them.
pub fn released(observed: &ServingCsv<'_>, is_going: bool) -> Vec<Effect> {
    let services = services(observed);
    let webhooks = observed.csv.spec.webhookdefinitions.iter().filter(|one| is_conversion(one));
    let described: BTreeSet<&str> = webhooks
        .filter(|_| !is_going)
        .flat_map(|webhook| webhook.conversion_crds.iter().map(String::as_str))
        .collect();
    let calls_us = |crd: &CustomResourceDefinition| {
        let service = client(crd).and_then(|client| client.service.as_ref());
        service.is_some_and(|service| {
            service.namespace == observed.namespace() && services.contains(&service.name)
        })
    };
    let owned = owned(observed.csv).into_iter().filter(|name| !described.contains(name));
    let found = owned.filter_map(|name| Some((name, observed.crds.get(name)?)));
    found
        .filter(|(_, crd)| calls_us(crd))
        .map(|(name, crd)| patch(name, crd, json!({"strategy": "None", "webhook": null})))
        .collect()
}

/// The writes that take certificates which are none out of the CSV's definitions.
///
/// Bundles hold placeholders there. Recent API servers do not establish such a definition, while
/// its CSV is installed only after it is established: v0 waits for ever.
pub fn placeholders(observed: &ServingCsv<'_>) -> Vec<Effect> {
    let owned = owned(observed.csv).into_iter();
    let found = owned.filter_map(|name| Some((name, observed.crds.get(name)?)));
    let is_placeholder = |crd: &CustomResourceDefinition| {
        let bundle = client(crd).and_then(|client| client.ca_bundle.as_ref());
        bundle.is_some_and(|ByteString(bytes)| Certificate::read(bytes).is_err())
    };
    let nothing = json!({"webhook": {"clientConfig": {"caBundle": null}}});
    found
        .filter(|(_, crd)| is_placeholder(crd))
        .map(|(name, crd)| patch(name, crd, nothing.clone()))
        .collect()
}

/// Whether a definition calls a webhook whose server it can recognise.
pub(super) fn is_ready(observed: &ServingCsv<'_>, name: &str) -> bool {
    let crd = observed.crds.get(name);
    let strategy = crd.and_then(|crd| crd.spec.conversion.as_ref());
    strategy.is_some_and(|conversion| conversion.strategy == WEBHOOK)
        && authority(observed, name).is_some()
}

/// Whom the API server trusts when it calls the webhook of a definition.
pub(super) fn authority<'a>(observed: &ServingCsv<'a>, name: &str) -> Option<&'a [u8]> {
    let client = client(observed.crds.get(name)?)?;
    client.ca_bundle.as_ref().map(|ByteString(bytes)| bytes.as_slice())
}

fn client(crd: &CustomResourceDefinition) -> Option<&WebhookClientConfig> {
    let conversion: &CustomResourceConversion = crd.spec.conversion.as_ref()?;
    conversion.webhook.as_ref()?.client_config.as_ref()
}

/// Conversion is for the whole cluster, so the operator must be.
fn check_modes(csv: &ClusterServiceVersion) -> Result<(), ConversionError> {
    let fits = csv
        .spec
        .install_modes
        .iter()
        .all(|mode| mode.supported == (mode.type_ == InstallModeType::AllNamespaces.as_str()));
    if fits { Ok(()) } else { Err(ConversionError::InstallModes) }
}

fn definition<'a>(
    observed: &ServingCsv<'a>,
    name: &str,
) -> Result<&'a CustomResourceDefinition, ConversionError> {
    let crd = observed.crds.get(name).ok_or_else(|| ConversionError::Missing(name.to_owned()))?;
    if !owned(observed.csv).contains(name) {
        let csv = observed.name().to_owned();
        return Err(ConversionError::NotOwned { csv, crd: name.to_owned() });
    }
    match crd.spec.preserve_unknown_fields {
        Some(true) => Err(ConversionError::PreservesUnknownFields),
        Some(false) | None => Ok(crd),
    }
}

fn conversion(observed: &ServingCsv<'_>, webhook: &WebhookDescription, trusted: &[u8]) -> Value {
    let names = ServingNames::new(observed.namespace(), deployment_of(webhook));
    let client = json!({
        "url": null,
        "service": {
            "namespace": observed.namespace(),
            "name": names.service(),
            "path": webhook.webhook_path.as_deref().unwrap_or(DEFAULT_PATH),
            "port": webhook_port(webhook),
        },
        "caBundle": ByteString(trusted.to_vec()),
    });
    let versions = &webhook.admission_review_versions;
    json!({
        "strategy": WEBHOOK,
        "webhook": {"clientConfig": client, "conversionReviewVersions": versions},
    })
}

fn patch(name: &str, crd: &CustomResourceDefinition, conversion: Value) -> Effect {
    let target = Target::cluster(resource_of::<CustomResourceDefinition>(), name);
    let patch = json!({"spec": {"conversion": conversion}});
    Effect::merge(target, patch, serde_json::to_value(crd).ok())
}

fn owned(csv: &ClusterServiceVersion) -> BTreeSet<&str> {
    let crds = csv.spec.customresourcedefinitions.iter().flat_map(|crds| &crds.owned);
    crds.map(|crd| crd.name.as_str()).collect()
}

/// The Services that an install of this CSV puts in front of its Deployments.
fn services(observed: &ServingCsv<'_>) -> BTreeSet<String> {
    let entries = observed.csv.spec.install.spec.iter().flat_map(|spec| &spec.deployments);
    entries.map(|entry| ServingNames::new(observed.namespace(), &entry.name).service()).collect()
}
