//! The configuration files of the programs that make up a node.

use std::fs;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::network::Addresses;
use super::{CNI_PLUGINS, NODE};
use olm_testkit::cluster::home::ClusterDir;
use olm_testkit::cluster::slot::Slot;

/// The image of a pod's sandbox: repository and tag in the cluster's registry.
pub(super) const PAUSE: (&str, &str) = ("olm-rs/pause", "1");

/// Writes all of them.
pub(super) fn write(home: &ClusterDir, slot: Slot) -> Result<()> {
    let addresses = Addresses::of(slot);
    let registry = slot.registry_port();
    let files = [
        ("node/containerd.toml", containerd(home, registry)),
        ("node/registries/_default/hosts.toml", registry_hosts(registry)),
        ("node/cni/olm-rs.conflist", pretty(&cni(home, addresses))),
        ("node/registry.json", pretty(&image_registry(home, registry))),
        ("node/kubelet.json", pretty(&kubelet(home, slot))),
        ("node/kube-proxy.json", pretty(&kube_proxy(home, addresses))),
        ("node/resolv.conf", format!("nameserver {}\n", addresses.dns())),
    ];
    files.into_iter().try_for_each(|(name, text)| {
        let path = home.path(name);
        let folder = path.parent().context("a file without a folder")?;
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&path, text))
            .with_context(|| format!("cannot write {name}"))
    })
}

/// The group of the kernel's resource controllers in which all pods live.
pub(super) fn cgroup(slot: Slot) -> String {
    format!("olm-rs-{}", slot.number())
}

/// The socket of containerd.
pub(super) fn containerd_socket(home: &ClusterDir) -> String {
    home.arg("node/containerd.sock")
}

/// Out-of-memory scores can be lowered only with a capability that not every machine gives, and
/// the plugin `opt` makes a directory outside the cluster's.
fn containerd(home: &ClusterDir, registry: u16) -> String {
    let path = |name: &str| quoted(&home.arg(name));
    let pause = format!("127.0.0.1:{registry}/{}:{}", PAUSE.0, PAUSE.1);
    format!(
        r#"version = 2
root = {root}
state = {state}
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]

[grpc]
address = {socket}

[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{pause}"
restrict_oom_score_adj = true
disable_apparmor = true

[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "{CNI_PLUGINS}"
conf_dir = {cni}

[plugins."io.containerd.grpc.v1.cri".registry]
config_path = {registries}

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
SystemdCgroup = false
"#,
        root = path("node/containerd"),
        state = path("node/containerd-state"),
        socket = quoted(&containerd_socket(home)),
        cni = path("node/cni"),
        registries = path("node/registries"),
    )
}

/// Every image name means its path in the cluster's registry; what is not there is nowhere.
fn registry_hosts(registry: u16) -> String {
    let url = format!("http://127.0.0.1:{registry}");
    format!("server = \"{url}\"\n\n[host.\"{url}\"]\ncapabilities = [\"pull\", \"resolve\"]\n")
}

fn cni(home: &ClusterDir, addresses: Addresses) -> Value {
    json!({
        "cniVersion": "0.4.0",
        "name": "olm-rs",
        "plugins": [
            {
                "type": "bridge",
                "bridge": "cni0",
                "isGateway": true,
                // A pod that calls its own Service gets its packets back through its own port.
                "hairpinMode": true,
                "ipam": {
                    "type": "host-local",
                    "ranges": [[{"subnet": addresses.node_pods()}]],
                    "routes": [{"dst": "0.0.0.0/0"}],
                    "dataDir": home.arg("node/cni-addresses"),
                },
            },
            {"type": "portmap", "capabilities": {"portMappings": true}},
        ],
    })
}

fn image_registry(home: &ClusterDir, port: u16) -> Value {
    json!({
        "version": "0.1",
        "log": {"level": "warn", "accesslog": {"disabled": true}},
        "storage": {
            "filesystem": {"rootdirectory": home.arg("registry")},
            "delete": {"enabled": true},
        },
        "http": {"addr": format!(":{port}")},
    })
}

fn kubelet(home: &ClusterDir, slot: Slot) -> Value {
    let addresses = Addresses::of(slot);
    json!({
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": false},
            "webhook": {"enabled": true},
            "x509": {"clientCAFile": home.arg("ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": home.arg("kubelet.crt"),
        "tlsPrivateKeyFile": home.arg("kubelet.key"),
        "healthzBindAddress": "127.0.0.1",
        "containerRuntimeEndpoint": format!("unix://{}", containerd_socket(home)),
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": format!("/{}", cgroup(slot)),
        "enforceNodeAllocatable": [],
        "failCgroupV1": false,
        "failSwapOn": false,
        "evictionHard": {"memory.available": "100Mi"},
        // The machine's disk is not the node's to clean.
        "imageGCHighThresholdPercent": 100,
        "clusterDNS": [addresses.dns()],
        "clusterDomain": "cluster.local",
        "resolvConf": home.arg("node/resolv.conf"),
        "podLogsDir": home.arg("pod-logs"),
        "volumePluginDir": home.arg("node/volume-plugins"),
        "serializeImagePulls": false,
    })
}

/// Connection tracking is sized for the whole machine, so nothing of it is touched.
fn kube_proxy(home: &ClusterDir, addresses: Addresses) -> Value {
    json!({
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "iptables",
        "hostnameOverride": NODE,
        "clientConnection": {"kubeconfig": home.arg("kube-proxy.kubeconfig")},
        "clusterCIDR": addresses.pods(),
        "detectLocalMode": "ClusterCIDR",
        "healthzBindAddress": "127.0.0.1:10256",
        "metricsBindAddress": "127.0.0.1:10249",
        "iptables": {"localhostNodePorts": false},
        "conntrack": {
            "maxPerCore": 0,
            "min": 0,
            "tcpEstablishedTimeout": "0s",
            "tcpCloseWaitTimeout": "0s",
        },
    })
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// A TOML string: JSON's escapes are among those of TOML.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests;
