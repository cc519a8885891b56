//! Certificates of the node's programs, and of the API server as a client of the kubelet.

use anyhow::Result;

use super::NODE;
use super::network::Addresses;
use olm_testkit::cluster::control_plane::certificates::{Authority, put};
use olm_testkit::cluster::home::ClusterDir;
use olm_testkit::cluster::slot::Slot;

/// Writes them into the cluster's directory.
pub(super) fn write(home: &ClusterDir, slot: Slot, authority: &Authority) -> Result<()> {
    let names = [NODE.to_owned(), Addresses::of(slot).node()];
    let (certificate, key) = authority.server(NODE, &names)?;
    put(home, "kubelet.crt", &certificate)?;
    put(home, "kubelet.key", &key)?;
    let (certificate, key) = authority.client("kube-apiserver", "system:masters")?;
    put(home, "kubelet-client.crt", &certificate)?;
    put(home, "kubelet-client.key", &key)?;
    // The names that the authorisation mode Node and the built-in roles know.
    let node = format!("system:node:{NODE}");
    authority.write_kubeconfig(home, slot, "kubelet.kubeconfig", &node, "system:nodes")?;
    authority.write_kubeconfig(home, slot, "kube-proxy.kubeconfig", "system:kube-proxy", "")
}
