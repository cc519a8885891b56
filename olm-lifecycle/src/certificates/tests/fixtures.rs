//! Certificates and CSVs with servers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use olm_effect::{CertificateOrder, Issued, IssuedServer};
use olm_types::api::ClusterServiceVersion;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
};
use serde_json::json;

use crate::certificates::AUTHORITY_PREFIX;
use crate::certificates::{ServingNames, ServingObjects, authority_hash};

/// The time of all tests here.
pub(crate) fn now() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

pub(crate) fn days(count: i64) -> SignedDuration {
    SignedDuration::from_hours(24 * count)
}

/// Fills an order as the operator does.
pub(crate) fn issue(order: &CertificateOrder) -> Issued {
    let (authority, issuer) = mk_authority(order.not_before, order.not_after);
    let servers = order.servers.iter().map(|(secret, hosts)| {
        (secret.clone(), mk_server(&issuer, hosts, order.not_before, order.not_after))
    });
    Issued { authority, not_after: order.not_after, servers: servers.collect() }
}

/// An authority and what signs in its name.
pub(crate) fn mk_authority(
    from: Timestamp,
    until: Timestamp,
) -> (String, Issuer<'static, KeyPair>) {
    let key = KeyPair::generate().unwrap();
    let mut params = params(from, until);
    let name = format!("{AUTHORITY_PREFIX}{}", key.public_key_pem());
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = params.self_signed(&key).unwrap().pem();
    (certificate, Issuer::new(params, key))
}

/// A certificate of a server.
pub(crate) fn mk_server(
    issuer: &Issuer<'static, KeyPair>,
    hosts: &[String],
    from: Timestamp,
    until: Timestamp,
) -> IssuedServer {
    let key = KeyPair::generate().unwrap();
    let mut params = params(from, until);
    params.subject_alt_names = CertificateParams::new(hosts).unwrap().subject_alt_names;
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let certificate = params.signed_by(&key, issuer).unwrap().pem();
    IssuedServer { certificate, key: key.serialize_pem() }
}

fn params(from: Timestamp, until: Timestamp) -> CertificateParams {
    let seconds = |at: Timestamp| Duration::from_secs(u64::try_from(at.as_second()).unwrap());
    let mut params = CertificateParams::default();
    params.not_before = rcgen::date_time_ymd(1970, 1, 1) + seconds(from);
    params.not_after = rcgen::date_time_ymd(1970, 1, 1) + seconds(until);
    params
}

/// A CSV whose Deployment `dep` serves a validating webhook and an API.
pub(crate) fn mk_csv() -> ClusterServiceVersion {
    let template = json!({
        "metadata": {"labels": {"app": "d"}, "annotations": {"foo": "bar"}},
        "spec": {"serviceAccountName": "sa", "containers": [
            {"name": "one", "image": "i"}, {"name": "two", "image": "i"},
        ]},
    });
    let selector = json!({"matchLabels": {"app": "d"}});
    serde_json::from_value(json!({
        "metadata": {"name": "csv", "namespace": "ns", "uid": "u"},
        "spec": {
            "install": {"strategy": "deployment", "spec": {"deployments": [
                {"name": "idle", "spec": {"selector": selector, "template": template}},
                {"name": "dep", "spec": {"selector": selector, "template": template}},
            ]}},
            "apiservicedefinitions": {"owned": [
                {"name": "as", "group": "g", "version": "v1", "kind": "A", "deploymentName": "dep"},
            ]},
            "webhookdefinitions": [{
                "generateName": "w.example.com", "type": "ValidatingAdmissionWebhook",
                "deploymentName": "dep", "containerPort": 443, "targetPort": 9443,
                "sideEffects": "None", "admissionReviewVersions": ["v1"],
            }],
        },
    }))
    .unwrap()
}

/// The Secret of `dep` with a certificate that ends after `left`.
pub(crate) fn mk_secret(left: SignedDuration) -> Secret {
    let (from, until) = (now() - days(1), now() + left);
    let (authority, issuer) = mk_authority(from, until);
    let server = mk_server(&issuer, &ServingNames::new("ns", "dep").hosts(), from, until);
    let data = [
        ("tls.crt", server.certificate.as_str()),
        ("tls.key", &server.key),
        ("olmCAKey", &authority),
    ];
    let mut secret: Secret = serde_json::from_value(json!({
        "metadata": {
            "name": "dep-service-cert", "namespace": "ns",
            "labels": {"olm.managed": "true"},
            "annotations": {"olmcahash": authority_hash(authority.as_bytes())},
            "ownerReferences": [{
                "apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
                "name": "csv", "uid": "u", "controller": false, "blockOwnerDeletion": false,
            }],
        },
    }))
    .unwrap();
    secret.data = Some(data.map(|(key, text)| (key.to_owned(), bytes(text))).into());
    secret
}

pub(crate) fn bytes(text: &str) -> ByteString {
    ByteString(text.as_bytes().to_vec())
}

pub(crate) fn objects_with(secret: Secret) -> ServingObjects {
    let name = secret.metadata.name.clone().unwrap();
    ServingObjects {
        secrets: BTreeMap::from([(name, Arc::new(secret))]),
        ..ServingObjects::default()
    }
}
