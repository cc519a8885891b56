//! `kubectl olm` is for macOS and Windows, too, although nothing is built or run there: what only Unix has stands
//! behind a `cfg`.

use anyhow::Result;

use super::Workspace;
use crate::workspace::SourceFile;

/// The crates that `kubectl olm` is made of.
const PORTABLE: [&str; 13] = [
    "kubectl-olm/src/",
    "olm-catalog/src/",
    "olm-client/src/",
    "olm-console/src/",
    "olm-effect/src/",
    "olm-kit/pages/src/",
    "olm-kit/tasks/src/",
    "olm-lifecycle/src/",
    "olm-opgroup/src/",
    "olm-plan/src/",
    "olm-rbac/src/",
    "olm-resolver/src/",
    "olm-types/src/",
];

/// Features of them that programs in containers alone have.
const OF_CONTAINERS: [&str; 3] =
    ["olm-catalog/src/copy/", "olm-catalog/src/server/", "olm-catalog/src/tools/"];

/// Paths of what other systems lack.
const UNIX: [&str; 5] =
    ["std::os::fd", "std::os::linux", "std::os::unix", "tokio::net::Unix", "tokio::signal::unix"];

/// Lines above, within which a `cfg` has to be.
const ABOVE: usize = 3;

/// Lines with something of Unix that no `cfg` is before, tests excepted.
pub(super) fn unguarded(workspace: &Workspace) -> Result<Vec<String>> {
    let checked = workspace.files.iter().filter(|file| file.is_rust() && is_checked(&file.path));
    Ok(checked.flat_map(unguarded_lines).collect())
}

fn is_checked(path: &str) -> bool {
    let lies_in = |folders: &[&str]| folders.iter().any(|folder| path.starts_with(folder));
    let is_test = path.contains("/tests/") || path.ends_with("tests.rs");
    lies_in(&PORTABLE) && !lies_in(&OF_CONTAINERS) && !is_test
}

fn unguarded_lines(file: &SourceFile) -> Vec<String> {
    let lines: Vec<&str> =
        file.text.lines().take_while(|line| !line.starts_with("mod tests {")).collect();
    let is_guarded = |place: usize| {
        lines.iter().take(place).rev().take(ABOVE).any(|line| line.contains("cfg(unix)"))
    };
    let numbered = lines.iter().enumerate();
    let found = numbered
        .filter(|(place, line)| UNIX.iter().any(|path| line.contains(path)) && !is_guarded(*place));
    found.map(|(place, line)| format!("{}:{}: {}", file.path, place + 1, line.trim())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let file = SourceFile { path: path.into(), text: text.into() };
        unguarded(&Workspace { files: vec![file], packages: Default::default() }).unwrap()
    }

    #[test]
    fn what_only_unix_has_needs_a_cfg_where_users_run_it() {
        let bare = "//! A.\nuse std::os::unix::fs::PermissionsExt;\n";
        let line = "olm-client/src/a.rs:2: use std::os::unix::fs::PermissionsExt;";
        assert_eq!(found("olm-client/src/a.rs", bare), [line]);
        let guarded = "//! A.\n#[cfg(unix)]\nfn f() {\n    use std::os::unix::fs::symlink;\n}\n";
        assert_eq!(found("olm-client/src/a.rs", guarded), [""; 0]);
        let far = "#[cfg(unix)]\nfn f() {}\n\n\nuse tokio::signal::unix::signal;\n";
        assert_eq!(found("kubectl-olm/src/main.rs", far).len(), 1);
    }

    #[test]
    fn containers_and_tests_are_linux() {
        let bare = "use std::os::unix::fs::symlink;\n";
        for path in
            ["olm-catalog/src/copy/a.rs", "olm-kit/src/a.rs", "olm-catalog/src/fbc/tests/a.rs"]
        {
            assert_eq!(found(path, bare), [""; 0], "{path}");
        }
        let tested = format!("//! A.\n#[cfg(test)]\nmod tests {{\n    {bare}}}\n");
        assert_eq!(found("olm-client/src/a.rs", &tested), [""; 0]);
    }
}
