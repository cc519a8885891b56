//! The certificate of v0's package server, which has names in a recording and is made anew in each
//! cluster: a written one would end, and its key is private.

use anyhow::{Context, Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use olm_types::hash::sha256_hex;
use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
use serde_json::Value;

use super::text;

/// The parts by their names in a recording: fields of the Secret, and the hash of the authority.
const AUTHORITY: &str = "<authority>";
const CERTIFICATE: &str = "<certificate>";
const KEY: &str = "<key>";
const HASH: &str = "<hash of the authority>";

/// The annotation with the hash.
const HASH_ANNOTATION: &str = "/metadata/annotations/olmcahash";

/// Puts names in the place of the one certificate among the objects.
pub(super) fn forget(objects: &mut [Value]) -> Result<()> {
    let secrets = objects.iter().filter(|object| text(object, "/type") == "kubernetes.io/tls");
    let secrets: Vec<Value> = secrets.cloned().collect();
    ensure!(secrets.len() == 1, "there are {} certificates, and one has a name", secrets.len());
    let part = |pointer: &str| text(&secrets[0], pointer).to_owned();
    let names = [
        (part("/data/olmCAKey"), AUTHORITY),
        (part("/data/tls.crt"), CERTIFICATE),
        (part("/data/tls.key"), KEY),
        (part(HASH_ANNOTATION), HASH),
    ];
    for object in objects {
        *object = renamed(object, &names)?;
    }
    Ok(())
}

/// A certificate for the Service of that name in the namespace: what to write for the names.
pub(super) fn fresh(service: &str, namespace: &str) -> Result<[(String, String); 4]> {
    let ends = ["", ".svc", ".svc.cluster.local"];
    let hosts = ends.map(|end| format!("{service}.{namespace}{end}"));
    let key = KeyPair::generate().context("no key can be made")?;
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_pem = authority.self_signed(&key).context("no authority can be made")?.pem();
    let issuer = Issuer::new(authority, key);
    let mut server = CertificateParams::new(hosts.to_vec()).context("a bad host name")?;
    server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let key = KeyPair::generate().context("no key can be made")?;
    let certificate = server.signed_by(&key, &issuer).context("no certificate can be made")?.pem();
    let hash = sha256_hex(&authority_pem);
    let encoded = |text: &str| STANDARD.encode(text);
    Ok([
        (AUTHORITY.to_owned(), encoded(&authority_pem)),
        (CERTIFICATE.to_owned(), encoded(&certificate)),
        (KEY.to_owned(), encoded(&key.serialize_pem())),
        (HASH.to_owned(), hash),
    ])
}

/// The object with some texts exchanged, wherever they are.
pub(super) fn renamed<A: AsRef<str>, B: AsRef<str>>(
    object: &Value,
    names: &[(A, B)],
) -> Result<Value> {
    let mut json = object.to_string();
    for (from, to) in names {
        json = json.replace(from.as_ref(), to.as_ref());
    }
    serde_json::from_str(&json).context("an object is no JSON any more")
}
