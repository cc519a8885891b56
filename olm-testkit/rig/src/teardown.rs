//! Ending a real cluster, whatever state it is in.
//!
//! The end of the holder is the end of everything inside. What is left then is named after the
//! cluster, so nothing has to be remembered apart from what is [`borrowed`], and a cluster whose
//! starter was killed at any point is ended like any other. Each step does nothing when there is
//! nothing.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::cgroups::Hierarchies;
use super::configuration::cgroup;
use super::network::Addresses;
use super::{borrowed, command, traces};
use olm_testkit::cluster::home::ClusterDir;
use olm_testkit::cluster::slot::Slot;
use olm_testkit::process::Record;

/// How long files may be in use by what is ending.
const LIMIT: Duration = Duration::from_secs(20);

/// Ends a cluster and removes everything of it. Returns what there was, for a reader. The caller
/// holds [`ClusterDir::lock`].
pub(super) fn end(home: &ClusterDir) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let manifest = home.manifest();
    if let Some(manifest) = &manifest {
        manifest.adopted.iter().for_each(Record::stop);
        let alive = manifest.processes.iter().filter(|process| process.is_alive()).count();
        if alive > 0 {
            found.push(format!("{alive} processes"));
        }
        // The holder first: with it goes the rest, at once.
        manifest.processes.iter().for_each(Record::stop);
    }
    let strays = traces::kill_marked(&home.dir().to_string_lossy())?;
    if strays > 0 {
        found.push(format!("{strays} processes that were not on record"));
    }
    if let Some(manifest) = &manifest {
        found.extend(end_numbered(manifest.slot)?);
    }
    if home.dir().exists() {
        remove_files(home.dir())?;
        found.push(format!("the files in {}", home.dir().display()));
    }
    borrowed::give_back_after_the_last()?;
    Ok(found)
}

/// What is named after the number of the cluster.
fn end_numbered(slot: Slot) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let device = Addresses::of(slot).device();
    if Path::new("/sys/class/net").join(&device).exists() {
        // It goes with the namespace, too, in a moment: then this fails.
        command::succeeds(&["ip", "link", "delete", &device]);
        found.push(format!("the network device {device}"));
    }
    let group = cgroup(slot);
    if Hierarchies::of_this_machine()?.remove(&group)? {
        found.push(format!("the cgroup {group}"));
    }
    Ok(found)
}

/// Mounts of a namespace that is just going may hold a file for a moment.
fn remove_files(dir: &Path) -> Result<()> {
    let deadline = Instant::now() + LIMIT;
    loop {
        match fs::remove_dir_all(dir) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound && !dir.exists() => return Ok(()),
            Err(error) if Instant::now() > deadline => {
                return Err(error).with_context(|| format!("cannot remove {}", dir.display()));
            }
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}
