//! The checkout that a developer command or a test is about, and what cargo has built beside it.

use std::io;
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

/// The folder of the programs that cargo built with this one. It is looked for when that runs, and not when it is
/// compiled: a later checkout may have taken it from the cache.
///
/// # Errors
/// It is not known where this program is.
pub fn built_programs() -> io::Result<PathBuf> {
    let program = std::env::current_exe()?;
    let folder = program.parent().unwrap_or(&program);
    // Programs with tests, and examples, lie one level deeper.
    let is_deeper = folder.ends_with("deps") || folder.ends_with("examples");
    Ok(folder.parent().filter(|_| is_deeper).unwrap_or(folder).to_owned())
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

    #[test]
    fn programs_are_beside_the_folder_of_tests() {
        let folder = built_programs().unwrap();
        assert!(std::env::current_exe().unwrap().starts_with(folder.join("deps")));
    }

    /// Tests run in the folder of their package.
    #[test]
    fn a_test_finds_its_own_checkout() {
        let root = workspace();
        assert!(root.join("olm-testkit/tools/src/workspace.rs").is_file());
        assert_eq!(root_above(&root.join("target/debug/program")), Some(root));
        assert_eq!(root_above(Path::new("/")), None);
    }
}
