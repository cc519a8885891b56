//! The command lines of what makes up a node.

use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::NODE;
use super::configuration::containerd_socket;
use super::network::Addresses;
use olm_testkit::cluster::control_plane::ControlPlane;
use olm_testkit::cluster::tools::NodePrograms;
use olm_testkit::process::{Launch, Running};

/// How long containerd may take until it answers.
const LIMIT: Duration = Duration::from_secs(60);

/// The image registry. It sees the same files and ports as the node.
pub(super) fn registry(parts: &ControlPlane<'_>) -> Launch {
    let args = vec!["serve".to_owned(), parts.home.arg("node/registry.json")];
    parts.launch("registry", "docker-registry".into(), args)
}

/// Runs containers.
pub(super) fn containerd(parts: &ControlPlane<'_>) -> Launch {
    let args = vec![format!("--config={}", parts.home.arg("node/containerd.toml"))];
    parts.launch("containerd", "containerd".into(), args)
}

/// Waits until containerd answers; the kubelet ends when it does not.
pub(super) async fn containerd_answers(
    parts: &ControlPlane<'_>,
    children: &mut [Running],
) -> Result<()> {
    let socket = containerd_socket(parts.home);
    let deadline = Instant::now() + LIMIT;
    while UnixStream::connect(&socket).is_err() {
        children.iter_mut().try_for_each(Running::check)?;
        if Instant::now() > deadline {
            bail!("containerd does not answer after {LIMIT:?}");
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

/// Turns pods into containers.
pub(super) fn kubelet(parts: &ControlPlane<'_>, programs: &NodePrograms) -> Launch {
    let (home, addresses) = (parts.home, Addresses::of(parts.slot));
    parts.launch(
        "kubelet",
        programs.kubelet(),
        vec![
            format!("--config={}", home.arg("node/kubelet.json")),
            format!("--kubeconfig={}", home.arg("kubelet.kubeconfig")),
            format!("--root-dir={}", home.arg("node/kubelet")),
            format!("--cert-dir={}", home.arg("node/kubelet")),
            format!("--hostname-override={NODE}"),
            format!("--node-ip={}", addresses.node()),
        ],
    )
}

/// Turns Services into rules of the packet filter.
pub(super) fn kube_proxy(parts: &ControlPlane<'_>, programs: &NodePrograms) -> Launch {
    let config = format!("--config={}", parts.home.arg("node/kube-proxy.json"));
    parts.launch("kube-proxy", programs.kube_proxy(), vec![config])
}

/// A port on the machine's loopback address that leads to the same port of the node.
pub(super) fn door(parts: &ControlPlane<'_>, name: &str, port: u16) -> Launch {
    let args = vec![
        format!("TCP-LISTEN:{port},bind=127.0.0.1,reuseaddr,fork,backlog=128,nodelay"),
        format!("TCP:{}:{port},nodelay", Addresses::of(parts.slot).node()),
    ];
    parts.launch(name, "socat".into(), args)
}
