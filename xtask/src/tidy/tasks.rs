//! Tasks start in one place, which knows what becomes of one that panics.

use anyhow::Result;

use super::Workspace;
use crate::workspace::SourceFile;

/// Where tasks start.
const STARTS: &str = "olm-kit/tasks/src/";

/// Programs and support of tests and of developers.
const DEVELOPERS: [&str; 3] = ["olm-testkit/", "xtask/", "examples/"];

/// Ways to start a task, or a thread of the runtime, that say nothing about its end. `TaskTracker` and
/// `thread::scope` wait for theirs.
const BARE: [&str; 8] = [
    "tokio::spawn",
    "task::spawn",
    "spawn_blocking",
    "spawn_local",
    "JoinSet",
    "thread::spawn",
    "Handle::current",
    "block_in_place",
];

/// Lines that start a task by themselves, tests excepted.
pub(super) fn bare(workspace: &Workspace) -> Result<Vec<String>> {
    let checked = workspace.files.iter().filter(|file| file.is_rust() && is_checked(&file.path));
    Ok(checked.flat_map(bare_lines).collect())
}

fn is_checked(path: &str) -> bool {
    let is_test = path.contains("/tests/") || path.ends_with("/tests.rs");
    let is_program_of_developers =
        path.contains("/examples/") || DEVELOPERS.iter().any(|folder| path.starts_with(folder));
    !is_test && !is_program_of_developers && !path.starts_with(STARTS)
}

fn bare_lines(file: &SourceFile) -> Vec<String> {
    let before_tests = file.text.lines().zip(1..).take_while(|(line, _)| !is_module_of_tests(line));
    let code = before_tests.filter(|(line, _)| !line.trim_start().starts_with("//"));
    let found = code.filter(|(line, _)| BARE.iter().any(|call| line.contains(call)));
    found.map(|(line, number)| format!("{}:{number}: {}", file.path, line.trim())).collect()
}

/// Tests stand at the end of a file, in a module of this name.
fn is_module_of_tests(line: &str) -> bool {
    line.ends_with("mod tests {") && !line.starts_with(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let file = SourceFile { path: path.into(), text: text.into() };
        bare(&Workspace { files: vec![file], packages: Default::default() }).unwrap()
    }

    #[test]
    fn a_bare_task_is_found_wherever_something_ships() {
        let text = "//! Header.\nfn f() {\n    tokio::spawn(work());\n}\n";
        let line = "catalog-operator/src/a.rs:3: tokio::spawn(work());";
        assert_eq!(found("catalog-operator/src/a.rs", text), [line]);
        let blocking = "use tokio::task::spawn_blocking;\n";
        assert_eq!(found("olm-kit/src/tls/a.rs", blocking).len(), 1);
        assert_eq!(found("olm-kit/src/tasks/a.rs", "let all = JoinSet::new();\n").len(), 1);
    }

    #[test]
    fn tests_developers_and_the_mechanism_itself_are_spared() {
        let text = "tokio::spawn(work());\n";
        for path in [
            "olm-kit/tasks/src/lib.rs",
            "olm-kit/src/queue/tests.rs",
            "olm-catalog/tests/limits.rs",
            "olm-catalog/examples/figures.rs",
            "olm-testkit/src/faults/proxy.rs",
            "xtask/demo/src/main.rs",
        ] {
            assert_eq!(found(path, text), [""; 0], "{path}");
        }
        let tested = "//! A.\nfn f() {}\n#[cfg(test)]\nmod tests {\n    tokio::spawn(work());\n}\n";
        assert_eq!(found("olm-kit/src/a.rs", tested), [""; 0]);
        assert_eq!(found("olm-kit/src/a.rs", "/// As tokio::spawn does.\n"), [""; 0]);
    }
}
