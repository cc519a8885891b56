//! Keys, certificates and kubeconfigs of a cluster on this machine.
//!
//! One authority for servers and clients, one for the API server's own requests to aggregated
//! APIs, one key pair for ServiceAccount tokens. They live and die with the cluster.

use std::fs;

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use serde_json::json;

use super::Network;
use crate::cluster::home::ClusterDir;
use crate::cluster::slot::Slot;

/// Clients of the API server: file name of the kubeconfig, user, group.
const CLIENTS: [(&str, &str, &str); 3] = [
    ("kubeconfig", "admin", "system:masters"),
    ("controller-manager.kubeconfig", "system:kube-controller-manager", ""),
    ("scheduler.kubeconfig", "system:kube-scheduler", ""),
];

/// Writes every file that the parts of the control plane name on their command lines. The
/// authority is returned for what a backend needs beyond that.
pub fn write(home: &ClusterDir, slot: Slot, network: &Network) -> Result<Authority> {
    let authority = Authority::new("kubernetes")?;
    put(home, "ca.crt", &authority.certificate)?;
    put(home, "ca.key", &authority.issuer.key().serialize_pem())?;
    let (certificate, key) = authority.server("kube-apiserver", &server_names(network))?;
    put(home, "apiserver.crt", &certificate)?;
    put(home, "apiserver.key", &key)?;
    write_front_proxy(home)?;
    write_service_account_key(home)?;
    for (file, user, group) in CLIENTS {
        authority.write_kubeconfig(home, slot, file, user, group)?;
    }
    Ok(authority)
}

/// Writes one of those files.
pub fn put(home: &ClusterDir, name: &str, content: &str) -> Result<()> {
    fs::write(home.path(name), content).with_context(|| format!("cannot write {name}"))
}

fn server_names(network: &Network) -> Vec<String> {
    let names = ["localhost", "127.0.0.1", "kubernetes", "kubernetes.default"];
    let long = ["kubernetes.default.svc", "kubernetes.default.svc.cluster.local"];
    let fixed = names.into_iter().chain(long).map(str::to_owned);
    fixed.chain(network.server_addresses.iter().cloned()).collect()
}

fn write_front_proxy(home: &ClusterDir) -> Result<()> {
    let authority = Authority::new("front-proxy")?;
    let (certificate, key) = authority.client("front-proxy-client", "")?;
    put(home, "front-proxy-ca.crt", &authority.certificate)?;
    put(home, "front-proxy.crt", &certificate)?;
    put(home, "front-proxy.key", &key)
}

fn write_service_account_key(home: &ClusterDir) -> Result<()> {
    let key = KeyPair::generate().context("cannot make a key")?;
    put(home, "service-account.key", &key.serialize_pem())?;
    put(home, "service-account.pub", &key.public_key_pem())
}

fn kubeconfig(
    home: &ClusterDir,
    slot: Slot,
    ca: &str,
    certificate: &str,
    key: &str,
) -> Result<String> {
    let name = format!("olm-rs-{}", home.name());
    let value = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {
            "server": slot.api_server(),
            "certificate-authority-data": STANDARD.encode(ca),
        }}],
        "users": [{"name": name, "user": {
            "client-certificate-data": STANDARD.encode(certificate),
            "client-key-data": STANDARD.encode(key),
        }}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    });
    yaml_serde::to_string(&value).context("cannot encode a kubeconfig")
}

/// A certificate authority.
pub struct Authority {
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &str) -> Result<Self> {
        let key = KeyPair::generate().context("cannot make a key")?;
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let certificate = params.self_signed(&key).context("cannot sign an authority")?.pem();
        Ok(Self { certificate, issuer: Issuer::new(params, key) })
    }

    /// Certificate and key of a server.
    pub fn server(&self, server: &str, names: &[String]) -> Result<(String, String)> {
        let mut params = CertificateParams::new(names).context("bad names for a server")?;
        params.distinguished_name.push(DnType::CommonName, server);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.sign(params)
    }

    /// Writes a kubeconfig with a client certificate of its own.
    pub fn write_kubeconfig(
        &self,
        home: &ClusterDir,
        slot: Slot,
        file: &str,
        user: &str,
        group: &str,
    ) -> Result<()> {
        let (certificate, key) = self.client(user, group)?;
        put(home, file, &kubeconfig(home, slot, &self.certificate, &certificate, &key)?)
    }

    /// Certificate and key of a client; an empty group is none.
    pub fn client(&self, user: &str, group: &str) -> Result<(String, String)> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, user);
        if !group.is_empty() {
            params.distinguished_name.push(DnType::OrganizationName, group);
        }
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(params)
    }

    fn sign(&self, mut params: CertificateParams) -> Result<(String, String)> {
        let key = KeyPair::generate().context("cannot make a key")?;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let certificate =
            params.signed_by(&key, &self.issuer).context("cannot sign a certificate")?;
        Ok((certificate.pem(), key.serialize_pem()))
    }
}
