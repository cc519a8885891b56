//! How pods get their certificates: volumes, mounts and an annotation in the pod template
//! (spec olm-operator 3.6).

use std::collections::BTreeMap;

use olm_types::annotations::CA_HASH;
use olm_types::api::ClusterServiceVersion;
use serde_json::{Map, Value, json};

use super::names::ServingNames;
use super::secret::{CERTIFICATE, PRIVATE_KEY};
use super::served_deployment::served_deployments;
use crate::install::shape::{ShapeError, as_object, list_in, object_in};

/// A place where servers look for their certificate.
struct CertificateMount {
    volume: &'static str,
    path: &'static str,
    certificate: &'static str,
    key: &'static str,
}

/// Every server gets both, whatever it serves; the first is where API servers look, the second
/// where webhooks do.
const PLACES: [CertificateMount; 2] = [
    CertificateMount {
        volume: "apiservice-cert",
        path: "/apiserver.local.config/certificates",
        certificate: "apiserver.crt",
        key: "apiserver.key",
    },
    CertificateMount {
        volume: "webhook-cert",
        path: "/tmp/k8s-webhook-server/serving-certs",
        certificate: "tls.crt",
        key: "tls.key",
    },
];

/// The CSV with the Deployments as they are installed: those that serve mount their certificates.
/// `hashes` has the hash of each one's authority by the name of the Deployment; it rolls the pods
/// when the authority changes.
///
/// # Errors
/// When a Deployment's description has not the shape of one.
pub(crate) fn with_mounts(
    csv: &ClusterServiceVersion,
    hashes: &BTreeMap<String, String>,
) -> Result<ClusterServiceVersion, ShapeError> {
    let namespace = csv.metadata.namespace.as_deref().unwrap_or_default();
    let accounts: BTreeMap<String, String> = served_deployments(csv)
        .iter()
        .map(|deployment| (deployment.entry.name.clone(), deployment.account()))
        .collect();
    let mut mounted = csv.clone();
    let entries = mounted.spec.install.spec.iter_mut().flat_map(|spec| &mut spec.deployments);
    for entry in entries {
        if let (Some(hash), Some(account)) = (hashes.get(&entry.name), accounts.get(&entry.name)) {
            let secret = ServingNames::new(namespace, &entry.name).secret();
            let path = format!("spec.install.spec.deployments[{}].spec", entry.name);
            entry.spec.change(|spec| mount(spec, &path, &secret, account, hash))?;
        }
    }
    Ok(mounted)
}

fn mount(
    spec: &mut Value,
    path: &str,
    secret: &str,
    account: &str,
    hash: &str,
) -> Result<(), ShapeError> {
    let template = object_in(as_object(spec, path)?, "template", path)?;
    let path = format!("{path}.template");
    let metadata = object_in(template, "metadata", &path)?;
    let annotations = object_in(metadata, "annotations", &format!("{path}.metadata"))?;
    annotations.insert(CA_HASH.to_owned(), json!(hash));
    let pod = object_in(template, "spec", &path)?;
    let path = format!("{path}.spec");
    pod.insert("serviceAccountName".to_owned(), json!(account));
    for place in &PLACES {
        put_volume(pod, place, secret, &path)?;
        for (index, container) in list_in(pod, "containers", &path)?.iter_mut().enumerate() {
            let path = format!("{path}.containers[{index}]");
            put_mount(as_object(container, &path)?, place, &path)?;
        }
    }
    Ok(())
}

/// A volume of the same name is replaced.
fn put_volume(
    pod: &mut Map<String, Value>,
    place: &CertificateMount,
    secret: &str,
    path: &str,
) -> Result<(), ShapeError> {
    let volumes = list_in(pod, "volumes", path)?;
    let volume = json!({"name": place.volume, "secret": {"secretName": secret, "items": [
        {"key": CERTIFICATE, "path": place.certificate},
        {"key": PRIVATE_KEY, "path": place.key},
    ]}});
    match volumes.iter_mut().find(|volume| volume["name"] == place.volume) {
        Some(present) => *present = volume,
        None => volumes.push(volume),
    }
    Ok(())
}

/// A mount of the same volume is kept as it is, one at the same path is replaced.
fn put_mount(
    container: &mut Map<String, Value>,
    place: &CertificateMount,
    path: &str,
) -> Result<(), ShapeError> {
    let mounts = list_in(container, "volumeMounts", path)?;
    let taken =
        |mount: &&mut Value| mount["name"] == place.volume || mount["mountPath"] == place.path;
    let mount = json!({"name": place.volume, "mountPath": place.path});
    match mounts.iter_mut().find(taken) {
        Some(present) if present["name"] == place.volume => {}
        Some(present) => *present = mount,
        None => mounts.push(mount),
    }
    Ok(())
}
