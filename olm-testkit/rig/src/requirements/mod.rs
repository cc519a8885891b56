//! What a machine must have for a real node, and what to do about what it has not.
//!
//! [`Facts`] is what was found, [`missing`] a pure function of it: everything at once, each with
//! the command that helps.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::cgroups::Hierarchies;
use super::{CNI_PLUGINS, command};
use crate::debian;
use olm_testkit::cluster::home::ClusterDir;

/// Programs, each with the Debian package that brings it.
const PROGRAMS: [(&str, &str); 10] = [
    ("containerd", "containerd"),
    ("containerd-shim-runc-v2", "containerd"),
    ("runc", "runc"),
    ("docker-registry", "docker-registry"),
    ("iptables", "iptables"),
    ("socat", "socat"),
    ("ip", "iproute2"),
    ("mount", "mount"),
    ("nsenter", "util-linux"),
    ("unshare", "util-linux"),
];

/// Network plugins, all of one package.
const PLUGINS: [&str; 4] = ["bridge", "host-local", "loopback", "portmap"];

/// The package of the network plugins.
const PLUGINS_PACKAGE: &str = "containernetworking-plugins";

/// Kernel modules, each with a file that shows it, and what in that file.
const MODULES: [(&str, &str, &str); 2] = [
    ("overlay", "/proc/filesystems", "overlay"),
    ("br_netfilter", "/proc/sys/net/bridge/bridge-nf-call-iptables", ""),
];

/// The longest path of a Unix socket in bytes, and the longest name of one in a home.
const SOCKET_PATH: usize = 107;
const SOCKET_NAME: &str = "/node/containerd.sock.ttrpc";

/// What was found on a machine.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    /// Whether this process is root's.
    pub root: bool,
    /// Whether namespaces can be made; looked at as root only.
    pub namespaces: bool,
    /// Packages that bring what is missing.
    pub packages: Vec<&'static str>,
    /// Kernel modules that are not loaded.
    pub modules: Vec<&'static str>,
    /// Controllers that are not mounted.
    pub controllers: Vec<&'static str>,
    /// The directory of the cluster.
    pub home: PathBuf,
}

impl Facts {
    /// Looks at this machine.
    pub(super) fn gather(home: &ClusterDir) -> Result<Self> {
        let root = debian::is_root();
        let unshare = ["unshare", "--mount", "--net", "--pid", "--fork", "--mount-proc", "true"];
        let packages = missing_packages();
        Ok(Self {
            root,
            namespaces: !root || packages.contains(&"util-linux") || command::succeeds(&unshare),
            packages,
            modules: missing_modules(),
            controllers: Hierarchies::of_this_machine()?.missing(),
            home: home.dir().to_owned(),
        })
    }
}

/// Something that a machine must have, and has not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Missing {
    what: String,
    remedy: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.remedy)
    }
}

/// Everything that is missing, in the order in which it is best done.
pub(super) fn missing(facts: &Facts) -> Vec<Missing> {
    let entry = |what: String, remedy: String| Missing { what, remedy };
    let mut all = Vec::new();
    if !facts.root {
        let remedy = "run the command as root (`sudo -E env PATH=\"$PATH\" cargo xtask …`)";
        all.push(entry("a real node needs root".into(), remedy.into()));
    }
    if !facts.packages.is_empty() {
        let names = facts.packages.join(" ");
        let remedy = format!("`apt-get install {names}`, or the same command with `--install`");
        all.push(entry(format!("missing Debian packages ({})", facts.packages.len()), remedy));
    }
    for module in &facts.modules {
        all.push(entry(format!("missing kernel module {module}"), format!("`modprobe {module}`")));
    }
    for controller in &facts.controllers {
        let remedy = "mount it below /sys/fs/cgroup, or enable it on the kernel's command line";
        all.push(entry(format!("missing cgroup controller {controller}"), remedy.into()));
    }
    if !facts.namespaces {
        let remedy = "run on the machine itself or in a privileged container";
        all.push(entry("this machine lets no user make namespaces".into(), remedy.into()));
    }
    let length = facts.home.as_os_str().len() + SOCKET_NAME.len();
    if length > SOCKET_PATH {
        let what = format!("the path {} is too long for sockets", facts.home.display());
        let remedy = format!("set XDG_CACHE_HOME to one that is {} shorter", length - SOCKET_PATH);
        all.push(entry(what, remedy));
    }
    all
}

/// Fails with the whole list.
pub(super) fn check(facts: &Facts) -> Result<()> {
    let lines: String = missing(facts).iter().map(|one| format!("\n  - {one}")).collect();
    if !lines.is_empty() {
        bail!("this machine cannot run a cluster with a real node yet:{lines}");
    }
    Ok(())
}

/// Loads the kernel modules that can be loaded. Failures show in the next look.
pub(super) fn load_modules(facts: &Facts) {
    for module in &facts.modules {
        command::succeeds(&["modprobe", module]);
    }
}

fn missing_packages() -> Vec<&'static str> {
    let programs = PROGRAMS.iter().filter(|(program, _)| !debian::is_on_path(program));
    let plugins = PLUGINS.iter().filter(|name| !Path::new(CNI_PLUGINS).join(name).is_file());
    let mut all: Vec<_> = programs.map(|(_, package)| *package).collect();
    all.extend(plugins.map(|_| PLUGINS_PACKAGE));
    all.sort_unstable();
    all.dedup();
    all
}

fn missing_modules() -> Vec<&'static str> {
    let shows = |file: &str, word: &str| {
        let text = fs::read_to_string(file);
        text.is_ok_and(|text| word.is_empty() || text.split_whitespace().any(|w| w == word))
    };
    MODULES
        .into_iter()
        .filter(|(_, file, word)| !shows(file, word))
        .map(|(name, ..)| name)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Facts {
        Facts {
            root: true,
            namespaces: true,
            packages: Vec::new(),
            modules: Vec::new(),
            controllers: Vec::new(),
            home: "/var/cache/olm-rs/clusters/real".into(),
        }
    }

    #[test]
    fn a_machine_that_has_everything_is_fine() {
        check(&good()).unwrap();
    }

    #[test]
    fn everything_that_is_missing_is_said_at_once() {
        let bad = Facts {
            root: false,
            namespaces: false,
            packages: vec!["containerd", "socat"],
            modules: vec!["br_netfilter"],
            controllers: vec!["memory"],
            home: format!("/{}", "long/".repeat(20)).into(),
        };
        insta::assert_snapshot!(check(&bad).unwrap_err());
    }

    #[test]
    fn each_package_is_named_once() {
        let all = missing_packages();
        let mut once = all.clone();
        once.dedup();
        assert_eq!(all, once);
    }
}
