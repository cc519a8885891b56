//! The certificate of the packages API: kept in a Secret that all replicas share, and announced to
//! the API server in the APIService (spec catalog-operator 7).
//!
//! A rotation fails no request: the new authority is announced beside the old one first, and only
//! then the new certificate is shown. Once it is shown, v0's package server is retired
//! (`take_over`).

mod take_over;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{Secret, Service};
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use olm_effect::{Action, CertificateOrder, Effect, Issued, Target};
use olm_types::api::ClusterServiceVersion;
use serde_json::json;

use crate::certificates::{Material, Validity, join, judge, order};
use crate::writes::{resource_of, target_of};

pub(crate) use take_over::is_package_server;

const CERTIFICATE: &str = "tls.crt";
const PRIVATE_KEY: &str = "tls.key";
const AUTHORITY: &str = "olmCAKey";

/// What a server shows, and whom its callers have to trust. All PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct Serving {
    /// Its certificate.
    pub certificate: Vec<u8>,
    /// The key of the certificate.
    pub key: Vec<u8>,
    /// The authority that signed it; behind it, one that signed what was shown before.
    pub authorities: Vec<u8>,
}

/// What is known.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// Namespace of the operator.
    pub namespace: String,
    /// The Secret, if there is one.
    pub secret: Option<Secret>,
    /// The APIService, if there is one.
    pub api_service: Option<APIService>,
    /// What this process shows now.
    pub shown: Option<Serving>,
    /// The CSV [`PREDECESSOR`] in the namespace of the operator, if there is one.
    pub predecessor: Option<ClusterServiceVersion>,
    /// The Service; looked for only when there is a predecessor.
    pub service: Option<Service>,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// A certificate has to be issued; then [`store`] says where it goes.
    Issue(CertificateOrder),
    /// The API server has to learn whom to trust.
    Announce(Effect),
    /// The certificate can be shown.
    Show(Serving),
    /// v0's package server is replaced, by these effects in this order.
    TakeOver(Vec<Effect>),
    /// Nothing.
    Rest,
}

impl std::fmt::Debug for Serving {
    /// Keys are not for logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Serving").finish_non_exhaustive()
    }
}

/// Decides what comes next. A cluster without the APIService is served all the same.
pub fn decide(observed: &Observed, now: Timestamp) -> Decision {
    let hosts = hosts(&observed.namespace);
    let Some(serving) = observed.secret.as_ref().and_then(|secret| usable(secret, &hosts, now))
    else {
        let servers = BTreeMap::from([(SECRET.to_owned(), hosts)]);
        return Decision::Issue(order(servers, now));
    };
    if let Some(announcement) = announcement(observed, &serving) {
        return Decision::Announce(announcement);
    }
    if observed.shown.as_ref() != Some(&serving) {
        return Decision::Show(serving);
    }
    let effects = take_over::take_over(observed);
    if effects.is_empty() { Decision::Rest } else { Decision::TakeOver(effects) }
}

/// The write of a new certificate. The authority of what is shown stays trusted. Whoever of several
/// replicas writes first wins; the others are refused and look again.
pub fn store(observed: &Observed, issued: &Issued) -> Option<Effect> {
    let server = issued.servers.get(SECRET)?;
    let before = observed.shown.as_ref().map(|shown| first_authority(&shown.authorities));
    let stored = observed.secret.as_ref().map(|secret| first_authority(part(secret, AUTHORITY)));
    let older = before.or(stored).unwrap_or_default();
    let authorities = join([issued.authority.as_bytes(), older.as_slice()]);
    let mut secret = observed.secret.clone().unwrap_or_default();
    secret.metadata.name = Some(SECRET.to_owned());
    secret.metadata.namespace = Some(observed.namespace.clone());
    secret.type_.get_or_insert_with(|| "kubernetes.io/tls".to_owned());
    secret.data = Some(
        [
            (CERTIFICATE, server.certificate.clone().into_bytes()),
            (PRIVATE_KEY, server.key.clone().into_bytes()),
            (AUTHORITY, authorities),
        ]
        .map(|(key, value)| (key.to_owned(), ByteString(value)))
        .into(),
    );
    let object = serde_json::to_value(&secret).ok()?;
    let action = match &observed.secret {
        Some(_) => Action::Replace { object, observed: None },
        None => Action::Create(object),
    };
    Some(Effect::new(target_of(&secret), action))
}

/// What is in the Secret, unless it has to be replaced.
fn usable(secret: &Secret, hosts: &[String], now: Timestamp) -> Option<Serving> {
    let serving = Serving {
        certificate: part(secret, CERTIFICATE).to_vec(),
        key: part(secret, PRIVATE_KEY).to_vec(),
        authorities: part(secret, AUTHORITY).to_vec(),
    };
    let material = Material {
        certificate: &serving.certificate,
        key: &serving.key,
        authority: &serving.authorities,
    };
    matches!(judge(material, hosts, now), Validity::Good { .. }).then_some(serving)
}

fn part<'a>(secret: &'a Secret, key: &str) -> &'a [u8] {
    let data = secret.data.as_ref().and_then(|data| data.get(key));
    data.map_or(&[], |bytes| bytes.0.as_slice())
}

fn first_authority(bundle: &[u8]) -> Vec<u8> {
    crate::certificates::newest(bundle, 1)
}

fn announcement(observed: &Observed, serving: &Serving) -> Option<Effect> {
    let service = observed.api_service.as_ref()?;
    let spec = service.spec.as_ref();
    let known = spec.and_then(|spec| spec.ca_bundle.as_ref()).map(|bundle| &bundle.0);
    if known == Some(&serving.authorities) {
        return None;
    }
    let bundle = ByteString(serving.authorities.clone());
    let patch = json!({"spec": {"caBundle": bundle, "insecureSkipTLSVerify": null}});
    let target = Target::cluster(resource_of::<APIService>(), API_SERVICE);
    Some(Effect::merge(target, patch, None))
}

/// The APIService.
pub const API_SERVICE: &str = "v1.packages.operators.coreos.com";

/// The Service in front of the servers.
pub const SERVICE: &str = "packageserver-service";

/// The Secret with the certificate.
pub const SECRET: &str = "packageserver-service-cert";

/// Port of the Service and of the servers.
pub const PORT: u16 = 5443;

/// DNS names of the Service.
pub fn hosts(namespace: &str) -> Vec<String> {
    vec![format!("{SERVICE}.{namespace}"), format!("{SERVICE}.{namespace}.svc")]
}

/// The CSV by which v0 installs its package server, in the namespace of OLM.
pub const PREDECESSOR: &str = "packageserver";

/// The label of the Pods that serve the API; that of catalog-operator in `deploy/`.
pub(crate) const PODS: (&str, &str) = ("app", "catalog-operator");
