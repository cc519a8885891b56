//! Which certificates an install leaves behind (spec olm-operator 3.6).
//!
//! A good one stays. One that clients have learned to trust already becomes active. Everything
//! else is issued anew. Whoever was trusted before stays trusted, since pods show old certificates
//! until they are gone.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use olm_effect::{Effect, Issued, IssuedServer, Target};
use olm_types::annotations::CA_HASH;
use olm_types::api::ClusterServiceVersion;
use serde_json::{Value, json};

use super::bundle::{join, newest};
use super::certificate::{Certificate, authority_hash};
use super::secret::{
    AUTHORITY, CERTIFICATE, Material, NEXT_AUTHORITY, NEXT_CERTIFICATE, NEXT_PRIVATE_KEY,
    PREVIOUS_AUTHORITY, PRIVATE_KEY, ServingSecret,
};
use super::served_deployment::ServedDeployment;
use super::validity::{Validity, judge, rotate_at};
use super::writes::{apply, managed, owner_reference, owners};
use crate::writes::resource_of;

/// How many former authorities stay trusted: enough for two rotations in a row, and a bound for
/// Secrets that are deleted again and again.
const MOST_PREVIOUS: usize = 2;

/// What happens to the certificate of one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice<'a> {
    /// It stays.
    Keep(Material<'a>),
    /// The next one becomes active.
    Promote(Material<'a>),
    /// A new one is issued.
    Issue,
}

/// Decides for one server.
pub(super) fn choose<'a>(
    deployment: &ServedDeployment<'_>,
    secret: Option<&'a Secret>,
    now: Timestamp,
) -> Choice<'a> {
    let Some(secret) = secret.map(ServingSecret::new) else { return Choice::Issue };
    let hosts = deployment.names.hosts();
    let is_good =
        |material: &Material<'_>| matches!(judge(*material, &hosts, now), Validity::Good { .. });
    let (active, next) = (secret.active(), secret.next());
    if is_good(&active) {
        return Choice::Keep(active);
    }
    next.filter(is_good).map_or(Choice::Issue, Choice::Promote)
}

/// A server's certificate after the install.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Provision {
    /// The write of the Secret, if it changes.
    pub write: Option<Effect>,
    /// Whom clients are to trust, as PEM.
    pub trusted: Vec<u8>,
    /// Hash of the authority, for the pod template.
    pub hash: String,
    /// When the new certificate is due; absent when the old one stays.
    pub renewed_until: Option<Timestamp>,
}

impl Provision {
    /// The good certificate stays; what its Secret lacks as one of ours is added.
    pub(super) fn keep(
        csv: &ClusterServiceVersion,
        deployment: &ServedDeployment<'_>,
        secret: &Secret,
        active: Material<'_>,
    ) -> Self {
        let hash = authority_hash(active.authority);
        let write = merge(csv, deployment, secret, &hash, json!({}));
        let trusted = ServingSecret::new(secret).trusted();
        let certificate = Certificate::read(active.certificate).ok();
        let news = certificate.filter(|certificate| is_news(csv, certificate));
        let renewed_until = news.map(|certificate| rotate_at(certificate.not_after));
        Self { write: Some(write), trusted, hash, renewed_until }
    }

    /// The next certificate becomes the active one.
    pub(super) fn promote(
        csv: &ClusterServiceVersion,
        deployment: &ServedDeployment<'_>,
        secret: &Secret,
        next: Material<'_>,
    ) -> Self {
        let old = ServingSecret::new(secret);
        let previous = newest(&join([old.active().authority, old.previous()]), MOST_PREVIOUS);
        let data = data(next, &previous, true);
        let hash = authority_hash(next.authority);
        let end = Certificate::read(next.certificate).map(|certificate| certificate.not_after);
        Self {
            write: Some(merge(csv, deployment, secret, &hash, data)),
            trusted: join([next.authority, previous.as_slice()]),
            hash,
            renewed_until: end.ok().map(rotate_at),
        }
    }

    /// A new certificate; `trusted_before` is whom clients trust at this moment.
    pub(super) fn issue(
        csv: &ClusterServiceVersion,
        deployment: &ServedDeployment<'_>,
        secret: Option<&Secret>,
        (issued, server): (&Issued, &IssuedServer),
        trusted_before: &[u8],
    ) -> Self {
        let new = material(issued, server);
        let hash = authority_hash(new.authority);
        let trusted_before = newest(trusted_before, MOST_PREVIOUS);
        let data = data(new, &trusted_before, secret.is_some());
        let write = match secret {
            Some(secret) => merge(csv, deployment, secret, &hash, data),
            None => put(csv, deployment, &hash, data),
        };
        Self {
            write: Some(write),
            trusted: join([new.authority, trusted_before.as_slice()]),
            hash,
            renewed_until: Some(rotate_at(issued.not_after)),
        }
    }
}

/// Whether a certificate is younger than the status says: an install that issued it was interrupted
/// before it could say so.
fn is_news(csv: &ClusterServiceVersion, certificate: &Certificate) -> bool {
    let status = csv.status.as_ref();
    match (
        status.and_then(|status| status.certs_last_updated.as_ref()),
        &csv.metadata.creation_timestamp,
    ) {
        (Some(updated), _) => certificate.not_before > updated.0,
        (None, Some(created)) => certificate.not_before >= created.0,
        (None, None) => false,
    }
}

/// What was issued for a server, as its Secret will hold it.
pub(super) fn material<'a>(issued: &'a Issued, server: &'a IssuedServer) -> Material<'a> {
    Material {
        certificate: server.certificate.as_bytes(),
        key: server.key.as_bytes(),
        authority: issued.authority.as_bytes(),
    }
}

/// The patch that puts `next` beside the active certificate.
pub(super) fn announce(
    csv: &ClusterServiceVersion,
    deployment: &ServedDeployment<'_>,
    secret: &Secret,
    next: Material<'_>,
) -> Effect {
    let hash = authority_hash(ServingSecret::new(secret).active().authority);
    let data = encoded([
        (NEXT_CERTIFICATE, next.certificate),
        (NEXT_PRIVATE_KEY, next.key),
        (NEXT_AUTHORITY, next.authority),
    ]);
    merge(csv, deployment, secret, &hash, json!(data))
}

/// The patch that takes away everything but the active certificate.
pub(super) fn trim(
    csv: &ClusterServiceVersion,
    deployment: &ServedDeployment<'_>,
    secret: &Secret,
) -> Effect {
    let hash = authority_hash(ServingSecret::new(secret).active().authority);
    let keys = [NEXT_CERTIFICATE, NEXT_PRIVATE_KEY, NEXT_AUTHORITY, PREVIOUS_AUTHORITY];
    let gone: BTreeMap<&str, Value> = keys.into_iter().map(|key| (key, Value::Null)).collect();
    merge(csv, deployment, secret, &hash, json!(gone))
}

/// Data of a Secret with this active certificate. A patch also names what has to go.
fn data(active: Material<'_>, previous: &[u8], is_patch: bool) -> Value {
    let mut data = encoded([
        (CERTIFICATE, active.certificate),
        (PRIVATE_KEY, active.key),
        (AUTHORITY, active.authority),
    ]);
    if is_patch {
        let gone = [NEXT_CERTIFICATE, NEXT_PRIVATE_KEY, NEXT_AUTHORITY, PREVIOUS_AUTHORITY];
        data.extend(gone.map(|key| (key, Value::Null)));
    }
    if !previous.is_empty() {
        data.extend(encoded([(PREVIOUS_AUTHORITY, previous)]));
    }
    json!(data)
}

fn encoded<const N: usize>(parts: [(&'static str, &[u8]); N]) -> BTreeMap<&'static str, Value> {
    parts.into_iter().map(|(key, value)| (key, json!(ByteString(value.to_vec())))).collect()
}

fn target(deployment: &ServedDeployment<'_>) -> Target {
    let name = deployment.names.secret();
    Target::namespaced(resource_of::<Secret>(), deployment.names.namespace(), &name)
}

/// The whole Secret, whatever has its name: the store does not show Secrets of others.
fn put(
    csv: &ClusterServiceVersion,
    deployment: &ServedDeployment<'_>,
    hash: &str,
    data: Value,
) -> Effect {
    let object = json!({
        "metadata": {
            "name": deployment.names.secret(),
            "namespace": deployment.names.namespace(),
            "labels": managed(),
            "annotations": {CA_HASH: hash},
            "ownerReferences": [owner_reference(csv)],
        },
        "type": "kubernetes.io/tls",
        "data": data,
    });
    apply(target(deployment), object)
}

fn merge(
    csv: &ClusterServiceVersion,
    deployment: &ServedDeployment<'_>,
    secret: &Secret,
    hash: &str,
    data: Value,
) -> Effect {
    let patch = json!({
        "metadata": {
            "labels": managed(),
            "annotations": {CA_HASH: hash},
            "ownerReferences": owners(csv, &secret.metadata),
        },
        "data": data,
    });
    Effect::merge(target(deployment), patch, serde_json::to_value(secret).ok())
}
