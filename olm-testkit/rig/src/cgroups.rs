//! The groups of the kernel's resource controllers, in version 1 and 2.
//!
//! All pods of a cluster live below one group. In version 1 that is a directory in the hierarchy
//! of each controller, in version 2 one directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

/// What the kubelet needs of version 2; of version 1 it needs the hierarchies themselves.
pub(super) const CONTROLLERS: [&str; 4] = ["cpu", "cpuset", "memory", "pids"];

/// How long the kernel may take to end what is in a group.
const LIMIT: Duration = Duration::from_secs(20);

/// Where controllers are mounted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hierarchies {
    /// Version 1: mount points, and what is mounted there.
    v1: Vec<(PathBuf, Vec<String>)>,
    /// Version 2.
    v2: Option<PathBuf>,
}

impl Hierarchies {
    /// Those of this machine.
    pub(super) fn of_this_machine() -> Result<Self> {
        let mounts = fs::read_to_string("/proc/mounts").context("cannot read the mounts")?;
        Ok(Self::parse(&mounts))
    }

    /// Reads `/proc/mounts`.
    pub(super) fn parse(mounts: &str) -> Self {
        let mut found = Self::default();
        for line in mounts.lines() {
            let fields: Vec<&str> = line.split(' ').collect();
            let [_, point, kind, options, ..] = fields.as_slice() else { continue };
            match *kind {
                "cgroup" => {
                    let names = options.split(',').map(str::to_owned).collect();
                    found.v1.push((point.into(), names));
                }
                "cgroup2" => found.v2 = Some(point.into()),
                _ => {}
            }
        }
        found
    }

    /// Controllers that the kubelet needs and that are unavailable.
    pub(super) fn missing(&self) -> Vec<&'static str> {
        let v2 = self.v2.as_ref().map(|point| point.join("cgroup.controllers"));
        let v2 = v2.and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
        let has = |name: &&str| match self.is_v1() {
            true => self.v1.iter().any(|(_, names)| names.iter().any(|found| found == name)),
            false => v2.split_whitespace().any(|found| found == *name),
        };
        CONTROLLERS.into_iter().filter(|name| !has(name)).collect()
    }

    /// Makes the group of a cluster.
    pub(super) fn create(&self, group: &str) -> Result<()> {
        if let (false, Some(root)) = (self.is_v1(), &self.v2) {
            let all = CONTROLLERS.map(|name| format!("+{name}")).join(" ");
            fs::write(root.join("cgroup.subtree_control"), all)
                .context("cannot hand the controllers of cgroup v2 to groups below the root")?;
        }
        self.groups(group).iter().try_for_each(|dir| {
            fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
            // A new group of this controller is of no use before it has these.
            ["cpuset.cpus", "cpuset.mems"].iter().try_for_each(|name| inherit(dir, name))
        })
    }

    /// Kills what is in the group and removes it. Returns whether there was one.
    pub(super) fn remove(&self, group: &str) -> Result<bool> {
        let dirs: Vec<PathBuf> = self.everywhere(group).filter(|dir| dir.is_dir()).collect();
        let deadline = Instant::now() + LIMIT;
        for dir in &dirs {
            while dir.is_dir() {
                if remove_tree(dir).is_ok() {
                    break;
                }
                if Instant::now() > deadline {
                    bail!("{} cannot be removed: something in it does not end", dir.display());
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        Ok(!dirs.is_empty())
    }

    /// Groups of clusters that exist on this machine.
    pub(super) fn existing(&self, prefix: &str) -> Vec<PathBuf> {
        let entries = self.everywhere("").filter_map(|root| fs::read_dir(root).ok()).flatten();
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let ours = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.starts_with(prefix) && path.is_dir()
        };
        paths.filter(ours).collect()
    }

    /// A machine with both versions uses version 1 for the controllers.
    fn is_v1(&self) -> bool {
        self.v1.iter().any(|(_, names)| names.iter().any(|name| name == "memory"))
    }

    fn groups(&self, group: &str) -> Vec<PathBuf> {
        match (self.is_v1(), &self.v2) {
            (false, Some(root)) => vec![root.join(group)],
            _ => self.v1.iter().map(|(root, _)| root.join(group)).collect(),
        }
    }

    fn everywhere(&self, group: &str) -> impl Iterator<Item = PathBuf> {
        let roots = self.v1.iter().map(|(root, _)| root).chain(&self.v2);
        roots.map(|root| root.join(group)).collect::<Vec<_>>().into_iter()
    }
}

fn inherit(dir: &Path, name: &str) -> Result<()> {
    let (own, parent) = (dir.join(name), dir.parent().unwrap_or(dir).join(name));
    // Version 2 leaves them empty, and that means: those of the parent.
    match fs::read_to_string(parent) {
        Ok(value) if own.exists() && !value.trim().is_empty() => {
            fs::write(&own, value).with_context(|| format!("cannot write {}", own.display()))
        }
        _ => Ok(()),
    }
}

/// One attempt, deepest first. What still runs is killed, and then not gone at once.
fn remove_tree(dir: &Path) -> Result<()> {
    for entry in fs::read_dir(dir)?.flatten() {
        if entry.file_type()?.is_dir() {
            remove_tree(&entry.path())?;
        }
    }
    let processes = fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
    for pid in processes.lines().filter_map(|line| Pid::from_raw(line.parse().ok()?)) {
        // Fails only when it has ended already.
        let _ = kill_process(pid, Signal::KILL);
    }
    Ok(fs::remove_dir(dir)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = "\
tmpfs /sys/fs/cgroup tmpfs rw 0 0
cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0
cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0
cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0
cgroup /sys/fs/cgroup/pids cgroup rw,pids 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0
";

    #[test]
    fn version_one_has_a_group_in_each_hierarchy() {
        let found = Hierarchies::parse(V1);
        assert_eq!(found.missing(), [""; 0]);
        assert_eq!(found.groups("g").len(), 4);
        assert!(found.groups("g").contains(&"/sys/fs/cgroup/cpu,cpuacct/g".into()));
        let without = V1.replace("rw,pids", "rw,devices");
        assert_eq!(Hierarchies::parse(&without).missing(), ["pids"]);
    }

    #[test]
    fn version_two_has_one_group() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("cgroup.controllers"), "cpuset cpu io memory pids\n").unwrap();
        let mounts = format!("cgroup2 {} cgroup2 rw,nosuid 0 0\n", root.path().display());
        let found = Hierarchies::parse(&mounts);
        assert_eq!(found.missing(), [""; 0]);
        found.create("g").unwrap();
        let handed = fs::read_to_string(root.path().join("cgroup.subtree_control")).unwrap();
        assert_eq!(handed, "+cpu +cpuset +memory +pids");
        fs::create_dir_all(root.path().join("g/kubepods/pod1")).unwrap();
        assert_eq!(found.existing("g"), [root.path().join("g")]);
        assert!(found.remove("g").unwrap());
        assert!(!found.remove("g").unwrap());
        assert!(!root.path().join("g").exists());
    }

    #[test]
    fn no_controllers_are_all_missing() {
        assert_eq!(Hierarchies::parse("nonsense\n").missing(), CONTROLLERS);
    }
}
