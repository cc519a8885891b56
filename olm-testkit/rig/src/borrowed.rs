//! What clusters with a real node take from the machine together, and give back after the last.
//!
//! Programs have some directories compiled in: each cluster mounts its own there, but they must
//! exist. And there is one kernel limit: how many inotify instances a user may have. The kubelet,
//! containerd and what runs in pods share those of root.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::namespaces::DIRECTORIES;
use olm_testkit::cluster::home::{ClusterDir, Kind};
use olm_testkit::progress::Progress;

const INOTIFY: &str = "/proc/sys/fs/inotify/max_user_instances";

/// How many inotify instances a node needs.
const NEEDED: u32 = 1024;

/// The record of it, for whoever ends the last cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Borrowed {
    /// Directories that had to be made.
    directories: Vec<String>,
    /// The limit, when it had to be raised.
    inotify: Option<u32>,
}

/// Takes what is not taken yet. It is on record before it is taken.
pub(super) fn take(progress: &Progress) -> Result<()> {
    let lock = ClusterDir::lock(progress)?;
    let mut borrowed = read()?;
    let missing = DIRECTORIES.iter().filter(|path| !Path::new(path).exists());
    borrowed.directories.extend(missing.map(|path| (*path).to_owned()));
    let raise = inotify().filter(|limit| *limit < NEEDED);
    borrowed.inotify = borrowed.inotify.or(raise);
    let text = serde_json::to_vec(&borrowed).context("cannot encode what is borrowed")?;
    fs::write(record()?, text).context("cannot write what is borrowed")?;
    for path in &borrowed.directories {
        fs::create_dir_all(path).with_context(|| format!("cannot create {path}"))?;
    }
    if raise.is_some() {
        let raised = fs::write(INOTIFY, NEEDED.to_string());
        raised.context("cannot raise the limit of inotify instances")?;
    }
    drop(lock);
    Ok(())
}

/// Gives everything back when there is no cluster any more. The caller holds [`ClusterDir::lock`].
pub(super) fn give_back_after_the_last() -> Result<()> {
    let manifests = ClusterDir::all()?.into_iter().filter_map(|home| home.manifest());
    if manifests.map(|manifest| manifest.kind).any(|kind| kind == Kind::Real) {
        return Ok(());
    }
    let borrowed = read()?;
    for path in &borrowed.directories {
        // Stays when another program has put something in.
        let _ = fs::remove_dir(path);
    }
    // Stays when it was changed since.
    if let (Some(limit), Some(NEEDED)) = (borrowed.inotify, inotify()) {
        fs::write(INOTIFY, limit.to_string())
            .context("cannot give the limit of inotify instances back")?;
    }
    let _ = fs::remove_file(record()?);
    Ok(())
}

/// The limit of this machine.
pub(super) fn inotify() -> Option<u32> {
    fs::read_to_string(INOTIFY).ok()?.trim().parse().ok()
}

/// A record that is not there, or not whole, is an empty one.
fn read() -> Result<Borrowed> {
    let text = fs::read(record()?).unwrap_or_default();
    Ok(serde_json::from_slice(&text).unwrap_or_default())
}

fn record() -> Result<PathBuf> {
    Ok(ClusterDir::root()?.join("borrowed.json"))
}
