//! Whether the image that ships is made as it was when it was last tried.
//!
//! It takes a quarter of an hour to build, so not every run tries it: only one in which what decides
//! how it is made has changed. A committed file says for which state that was done.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use crate::workspace::{self, root};

/// What decides how the image is made: programs and their names, static builds, layers, the manifests
/// that start it.
const INPUTS: [&str; 11] = [
    "deploy/base/",
    "deploy/chart/",
    "deploy/crds/",
    "deploy/ha/",
    "olm-testkit/src/oci/",
    "olm-testkit/tools/src/static_build",
    "rust-toolchain.toml",
    "xtask/src/build/shipped.rs",
    "xtask/lab/src/image/contents.rs",
    "xtask/lab/src/image/programs.rs",
    "xtask/lab/src/image/roots.rs",
];

/// How the sections of Cargo.toml begin that do so, too.
const PROFILE: &str = "profile.release";

/// The state that was tried.
const TRIED: &str = "xtask/lab/image-tried";

/// Whether the image was tried in the state in which it would be made now.
///
/// # Errors
/// Files of the checkout cannot be read.
pub fn is_tried() -> Result<bool> {
    let tried = fs::read_to_string(file()).unwrap_or_default();
    Ok(tried.trim() == state()?)
}

/// Notes that the image was tried as it would be made now.
///
/// # Errors
/// Files of the checkout cannot be read, or the note not written.
pub fn note() -> Result<()> {
    fs::write(file(), format!("{}\n", state()?)).context("cannot note that the image was tried")
}

fn file() -> PathBuf {
    root().join(TRIED)
}

fn state() -> Result<String> {
    let files = workspace::files()?;
    let mut hash = Sha256::new();
    let inputs =
        files.iter().filter(|file| INPUTS.iter().any(|input| file.path.starts_with(input)));
    for file in inputs {
        hash.update(&file.path);
        hash.update(&file.text);
    }
    let manifest = files.iter().find(|file| file.path == "Cargo.toml");
    let manifest = manifest.context("there is no Cargo.toml")?;
    profile(&manifest.text).for_each(|section| hash.update(section));
    Ok(hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect())
}

/// The profile and what it says of packages, each up to the next section.
fn profile(manifest: &str) -> impl Iterator<Item = &str> {
    let sections = manifest.split("\n[").skip(1);
    sections.filter(|section| section.starts_with(PROFILE))
}

#[cfg(test)]
mod tests {
    use super::profile;

    #[test]
    fn only_the_profile_of_releases_counts() {
        let manifest = "[profile.dev]\ndebug = 0\n\n[profile.release]\nlto = \"fat\"\n\n\
                        [profile.release.package]\nx = 3\n\n[x]\n";
        let expected = ["profile.release]\nlto = \"fat\"\n", "profile.release.package]\nx = 3\n"];
        assert_eq!(profile(manifest).collect::<Vec<_>>(), expected);
        assert_eq!(profile("[profile.dev]\n").count(), 0);
    }
}
