//! The checkout that a developer command or a test is about.

use std::path::{Path, PathBuf};

/// The root of the checkout in which this process runs: the nearest folder from the current one upwards, or else from
/// that of the program, with the manifest of a workspace. It is not that in which the program was compiled: a later
/// checkout may have taken it from the cache.
///
/// Outside of a checkout it is the current folder.
#[must_use]
pub fn workspace() -> PathBuf {
    let starts = [std::env::current_dir(), std::env::current_exe()];
    let found = starts.into_iter().flatten().find_map(|start| root_above(&start));
    found.unwrap_or_else(|| ".".into())
}

fn root_above(start: &Path) -> Option<PathBuf> {
    start.ancestors().find(|folder| is_root(folder)).map(Path::to_path_buf)
}

fn is_root(folder: &Path) -> bool {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml"));
    manifest.is_ok_and(|text| text.lines().any(|line| line.trim() == "[workspace]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests run in the folder of their package.
    #[test]
    fn a_test_finds_its_own_checkout() {
        let root = workspace();
        assert!(root.join("olm-testkit/tools/src/workspace.rs").is_file());
        assert_eq!(root_above(&root.join("target/debug/program")), Some(root));
        assert_eq!(root_above(Path::new("/")), None);
    }
}
