//! The namespaces in which a real cluster lives, and the cable to them.
//!
//! One process holds a process, a network and a mount namespace. Every part of the cluster and
//! every container runs inside, so the bridge, iptables rules, mounts and routes of the node
//! exist there only, and when the holder dies the kernel ends all of them, however it dies. The
//! namespace has no route beyond this machine.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::command;
use super::network::Addresses;
use olm_testkit::cluster::home::ClusterDir;
use olm_testkit::process::{Launch, Lifetime, Record, Running};

/// Directories of the machine that programs have compiled in. The namespace has its own.
pub(super) const DIRECTORIES: [&str; 3] =
    ["/var/lib/cni", "/var/lib/kubelet", "/var/log/containers"];

/// Kernel settings that the kubelet insists on and that would be those of the whole machine.
/// Inside, files take their place.
const SETTINGS: [(&str, &str); 6] = [
    ("vm/overcommit_memory", "1"),
    ("vm/panic_on_oom", "0"),
    ("kernel/panic", "10"),
    ("kernel/panic_on_oops", "1"),
    ("kernel/keys/root_maxkeys", "1000000"),
    ("kernel/keys/root_maxbytes", "25000000"),
];

/// How long the namespaces may take.
const LIMIT: Duration = Duration::from_secs(30);

/// Variables that would send requests to the cluster elsewhere.
const PROXIES: [&str; 6] =
    ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];

/// The variable that distinguishes the processes of a cluster from all others.
pub(super) const MARK: &str = "OLM_RS_CLUSTER";

/// Run by the first process inside; `$1` is the cluster's directory. The shell stays and collects
/// processes that lost their parent, as the first process of a namespace must.
const HOLDER: &str = r#"
mount --make-rshared /
mount -t tmpfs tmpfs /run
(cd "$1/node/root" && find . -mindepth 3 -maxdepth 3 -type d) | while read -r dir; do
    mount --bind "$1/node/root/$dir" "/$dir"
done
(cd "$1/node/settings" && find . -type f) | while read -r file; do
    mount --bind "$1/node/settings/$file" "/proc/sys/$file"
done
echo 1 > /proc/sys/net/ipv4/ip_forward
echo 1 > /proc/sys/net/bridge/bridge-nf-call-iptables
ip link set lo up
ip route add unreachable default
: > "$1/node/ready"
trap 'exit 0' TERM
sleep infinity &
wait
"#;

/// Writes what the holder finds in the cluster's directory.
pub(super) fn write(home: &ClusterDir) -> Result<()> {
    let node = home.path("node");
    for directory in DIRECTORIES {
        let inside = node.join("root").join(directory.trim_start_matches('/'));
        fs::create_dir_all(inside).context("cannot create a directory of the node")?;
    }
    for (name, value) in SETTINGS {
        let file = node.join("settings").join(name);
        fs::create_dir_all(file.parent().unwrap_or(&node))
            .and_then(|()| fs::write(file, format!("{value}\n")))
            .context("cannot write a kernel setting of the node")?;
    }
    Ok(())
}

/// The process that holds the namespaces.
pub(super) fn holder(home: &ClusterDir, lifetime: Lifetime) -> Launch {
    let flags = ["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];
    let shell = ["--propagation", "private", "--", "sh", "-euc", HOLDER, "olm-rs-node"];
    let mut args: Vec<String> = flags.into_iter().chain(shell).map(str::to_owned).collect();
    args.push(home.dir().to_string_lossy().into_owned());
    let launch = Launch {
        name: "namespaces".into(),
        program: "unshare".into(),
        args,
        env: Vec::new(),
        log: home.path("logs/namespaces.log"),
        lifetime,
    };
    marked(home, launch)
}

/// Waits until the holder has done its work.
pub(super) async fn wait(home: &ClusterDir, holder: &mut Running) -> Result<()> {
    let deadline = Instant::now() + LIMIT;
    while !home.path("node/ready").exists() {
        holder.check()?;
        if Instant::now() > deadline {
            bail!("the namespaces of the node are not ready after {LIMIT:?}");
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// The namespaces of a running holder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Namespaces {
    holder: u32,
}

impl Namespaces {
    /// Those of the first process of a cluster.
    pub(super) fn of(processes: &[Record]) -> Result<Self> {
        let holder = processes.first().context("no process holds the namespaces")?;
        Ok(Self { holder: holder.pid })
    }

    /// The same launch, inside.
    pub(super) fn inside(self, home: &ClusterDir, launch: Launch) -> Launch {
        let namespace =
            |flag: &str, file: &str| format!("--{flag}=/proc/{}/ns/{file}", self.holder);
        let mut args = vec![
            namespace("mount", "mnt"),
            namespace("net", "net"),
            namespace("pid", "pid_for_children"),
            "--".to_owned(),
            launch.program.to_string_lossy().into_owned(),
        ];
        args.extend(launch.args);
        marked(home, Launch { program: "nsenter".into(), args, ..launch })
    }

    /// Lays the cable: one device on the machine, its peer on the node, and routes.
    pub(super) fn connect(self, home: &ClusterDir, addresses: Addresses) -> Result<()> {
        let (machine, node) = (home.path("node/machine.ip"), home.path("node/node.ip"));
        fs::write(&machine, machine_end(addresses, self.holder))
            .and_then(|()| fs::write(&node, node_end(addresses)))
            .context("cannot write the network of the node")?;
        ip(&[], &machine)?;
        let namespace = format!("--net=/proc/{}/ns/net", self.holder);
        ip(&["nsenter", &namespace], &node)
    }
}

/// The launch with the mark of its cluster, without variables that lead elsewhere.
pub(super) fn marked(home: &ClusterDir, mut launch: Launch) -> Launch {
    launch.env.push((MARK.to_owned(), home.dir().to_string_lossy().into_owned()));
    launch.env.extend(PROXIES.map(|name| (name.to_owned(), String::new())));
    launch
}

fn machine_end(addresses: Addresses, holder: u32) -> String {
    let (device, machine) = (addresses.device(), addresses.machine());
    format!(
        "link add {device} type veth peer name eth0 netns {holder}\n\
         address add {machine}/30 dev {device}\n\
         link set {device} up\n\
         route add {} via {}\n",
        addresses.all(),
        addresses.node()
    )
}

/// Addresses of Services need a route before iptables turns them into those of pods.
fn node_end(addresses: Addresses) -> String {
    format!(
        "address add {}/30 dev eth0\nlink set eth0 up\nroute add {} dev eth0\n",
        addresses.node(),
        addresses.services()
    )
}

fn ip(prefix: &[&str], batch: &Path) -> Result<()> {
    let batch = batch.to_string_lossy();
    let all: Vec<&str> = prefix.iter().copied().chain(["ip", "-batch", &batch]).collect();
    command::run(&all).context("cannot connect the node")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses() -> Addresses {
        Addresses::of(serde_json::from_value(96.into()).unwrap())
    }

    #[test]
    fn the_cable_has_two_ends() {
        insta::assert_snapshot!(machine_end(addresses(), 4711), @r"
        link add olm-rs-96 type veth peer name eth0 netns 4711
        address add 10.96.128.1/30 dev olm-rs-96
        link set olm-rs-96 up
        route add 10.96.0.0/16 via 10.96.128.2
        ");
        insta::assert_snapshot!(node_end(addresses()), @r"
        address add 10.96.128.2/30 dev eth0
        link set eth0 up
        route add 10.96.64.0/18 dev eth0
        ");
    }

    #[test]
    fn directories_are_where_the_holder_looks_for_them() {
        let depth = |path: &str| path.trim_start_matches('/').split('/').count();
        assert!(DIRECTORIES.iter().all(|directory| depth(directory) == 3));
    }
}
