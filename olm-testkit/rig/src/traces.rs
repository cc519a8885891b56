//! What a real cluster changes on a machine, for teardown and for proof that it left nothing.
//!
//! Everything of a cluster lives in namespaces of its own. On the machine itself there are its
//! processes, one network device, one cgroup, files, and one raised kernel limit.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use super::cgroups::Hierarchies;
use super::namespaces::{DIRECTORIES, MARK};

/// How long killed processes may take to go.
const LIMIT: Duration = Duration::from_secs(20);

/// What a look at the machine showed, one line for each thing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traces(BTreeSet<String>);

impl Traces {
    /// Looks at mounts, network devices, routes, iptables, cgroups, processes of clusters,
    /// directories and kernel limits.
    ///
    /// # Errors
    ///
    /// When the mounts of the machine cannot be read.
    pub fn take() -> Result<Self> {
        let mounts = fs::read_to_string("/proc/self/mounts").context("cannot read the mounts")?;
        let routes = fs::read_to_string("/proc/net/route").unwrap_or_default();
        let mut all: BTreeSet<String> =
            mounts.lines().map(|line| format!("mount {line}")).collect();
        all.extend(routes.lines().map(|line| format!("route {line}")));
        all.extend(names_in("/sys/class/net").map(|name| format!("network device {name}")));
        all.extend(["iptables-save", "ip6tables-save"].iter().flat_map(|program| rules(program)));
        let groups = Hierarchies::of_this_machine()?.existing("");
        all.extend(groups.iter().map(|path| format!("cgroup {}", path.display())));
        all.extend(marked("").iter().map(|process| format!("process {process}")));
        let there = DIRECTORIES.iter().filter(|path| Path::new(path).exists());
        all.extend(there.map(|path| format!("directory {path}")));
        all.extend(super::borrowed::inotify().map(|limit| format!("inotify instances {limit}")));
        Ok(Self(all))
    }

    /// What was not there before.
    pub fn since(&self, before: &Self) -> Vec<String> {
        self.0.difference(&before.0).cloned().collect()
    }
}

/// Kills every process that carries the mark of a cluster; returns how many there were.
pub(super) fn kill_marked(home: &str) -> Result<usize> {
    let all = marked(home);
    let deadline = Instant::now() + LIMIT;
    loop {
        let left = marked(home);
        if left.is_empty() {
            return Ok(all.len());
        }
        if Instant::now() > deadline {
            bail!("these processes of the cluster do not end: {left:?}");
        }
        for pid in left.into_iter().filter_map(Pid::from_raw) {
            // Fails only when it has ended already.
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Processes with the mark of a cluster in their environment; an empty home is any cluster.
fn marked(home: &str) -> Vec<i32> {
    let own = std::process::id().to_string();
    let pids = names_in("/proc").filter(|name| *name != own);
    pids.filter_map(|name| {
        let environment = fs::read(format!("/proc/{name}/environ")).ok()?;
        is_marked(&environment, home).then(|| name.parse().ok())?
    })
    .collect()
}

/// Reads `/proc/PID/environ`.
fn is_marked(environment: &[u8], home: &str) -> bool {
    environment.split(|byte| *byte == 0).any(|variable| {
        let value = variable.strip_prefix(MARK.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
        value.is_some_and(|value| home.is_empty() || value == home.as_bytes())
    })
}

fn names_in(dir: &str) -> impl Iterator<Item = String> + use<> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned())
}

/// The rules of the packet filter without their counters. No program, no rules.
fn rules(program: &str) -> Vec<String> {
    let output = Command::new(program).output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    rules_in(program, &String::from_utf8_lossy(&text))
}

fn rules_in(program: &str, text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let bare = lines.map(|line| line.split_once(" [").map_or(line, |(rule, _)| rule));
    bare.map(|line| format!("{program} {line}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_a_whole_variable() {
        let environment = b"PATH=/bin\0OLM_RS_CLUSTER=/c/real\0X=1\0";
        assert!(is_marked(environment, "/c/real"));
        assert!(is_marked(environment, ""));
        assert!(!is_marked(environment, "/c/rea"));
        assert!(!is_marked(b"NOT_OLM_RS_CLUSTER=/c/real\0", "/c/real"));
        assert!(!is_marked(b"OLM_RS_CLUSTERS=/c/real", ""));
    }

    #[test]
    fn counters_and_times_are_no_difference() {
        let before = "# Generated on Monday\n*nat\n:OUTPUT ACCEPT [1:60]\nCOMMIT\n";
        let after = "# Generated on Tuesday\n*nat\n:OUTPUT ACCEPT [2:99]\nCOMMIT\n";
        assert_eq!(rules_in("x", before), rules_in("x", after));
        let more = after.replace("COMMIT", "-A OUTPUT -j KUBE-SERVICES\nCOMMIT");
        assert!(rules_in("x", &more).contains(&"x -A OUTPUT -j KUBE-SERVICES".to_owned()));
    }

    #[test]
    fn only_what_is_new_counts() {
        let look = |lines: &[&str]| Traces(lines.iter().map(|line| (*line).to_owned()).collect());
        let before = look(&["mount a", "mount b"]);
        assert_eq!(look(&["mount b", "cgroup c"]).since(&before), ["cgroup c"]);
        assert!(look(&["mount a"]).since(&before).is_empty());
    }
}
