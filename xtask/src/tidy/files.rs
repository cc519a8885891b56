//! Rules about the text of files.

use anyhow::Result;

use super::Workspace;
use super::dependencies::PURE;
use crate::workspace::{self, SourceFile};

/// The longest file that a reader is asked to take in.
const LONGEST: usize = 400;

/// Calls by which time or chance would come into a decision.
const IMPURE: [&str; 6] =
    ["SystemTime::now", "Instant::now", "Timestamp::now", "Zoned::now", "rand::", "Uuid::new"];

/// Readers that take as much memory as a text makes them take.
const UNBOUNDED: [&str; 6] = [
    "serde_json::from_str",
    "serde_json::from_slice",
    "serde_json::from_reader",
    "serde_json::Deserializer",
    "yaml_serde::",
    "granit_parser::",
];

/// What ships.
const SHIPPED: [&str; 13] = [
    "olm-types/src/",
    "olm-resolver/src/",
    "olm-opgroup/src/",
    "olm-rbac/src/",
    "olm-lifecycle/src/",
    "olm-catalog/src/",
    "olm-kit/src/",
    "olm-operator/src/",
    "catalog-operator/src/",
    "olm-plan/src/",
    "olm-client/src/",
    "olm-console/src/",
    "kubectl-olm/src/",
];

/// Where such readers may be: what is read there comes from ourselves or the API server, or is bounded
/// already.
const READERS: [&str; 16] = [
    // The reader with a budget.
    "olm-types/src/document/",
    // A table in the program, and one in a file that our server writes.
    "olm-types/src/hash/go_json/shape.rs",
    "olm-catalog/src/index/mod.rs",
    // Cases of tests and benchmarks.
    "olm-resolver/src/cases/",
    // One text of a constraint that was read already, and one that was written from values.
    "olm-resolver/src/constraint/place.rs",
    "olm-types/src/api/any_json.rs",
    // Answers of the API server, and its ConfigMap with authorities, which only it writes.
    "olm-kit/src/interpreter/response.rs",
    "olm-kit/src/page.rs",
    "olm-kit/src/received.rs",
    "olm-kit/src/callers/authorities.rs",
    "olm-kit/src/aggregated/table.rs",
    // What is printed as YAML; nothing is read there.
    "kubectl-olm/src/output/mod.rs",
    "olm-console/src/pages/shown.rs",
    // Our own log lines, and a scripted API server of tests.
    "olm-kit/src/logging",
    "olm-kit/src/scripted.rs",
    "olm-kit/src/admin/tests/mod.rs",
];

/// Files over the limit. Generated ones, prose and data are not read as a whole.
pub(super) fn too_long(workspace: &Workspace) -> Result<Vec<String>> {
    let long = rust(workspace).filter(|file| !file.is_generated());
    let counted = long.map(|file| (&file.path, file.text.lines().count()));
    let over = counted.filter(|(_, lines)| *lines > LONGEST);
    Ok(over.map(|(path, lines)| format!("{path}: {lines} lines")).collect())
}

/// Rust files that do not say what they are.
pub(super) fn without_header(workspace: &Workspace) -> Result<Vec<String>> {
    let silent = rust(workspace).filter(|file| !file.is_generated());
    let silent = silent.filter(|file| !file.text.starts_with("//!"));
    Ok(silent.map(|file| file.path.clone()).collect())
}

/// Marks of unfinished work in code.
pub(super) fn unfinished(workspace: &Workspace) -> Result<Vec<String>> {
    // Split, so that this file does not find itself.
    let marks = [concat!("#[ig", "nore"), concat!("todo", "!("), concat!("unimpl", "emented!(")];
    Ok(rust(workspace).flat_map(|file| lines_with(file, &marks)).collect())
}

/// Absolute paths of the machine that runs the check: they work nowhere else.
pub(super) fn machine_paths(workspace: &Workspace) -> Result<Vec<String>> {
    let root = workspace::root().to_string_lossy().into_owned();
    let cargo_home = std::env::var("CARGO_HOME").unwrap_or_default();
    let named: Vec<&str> = [root.as_str(), cargo_home.as_str()]
        .into_iter()
        .filter(|path| path.matches('/').count() > 1)
        .collect();
    Ok(workspace.files.iter().flat_map(|file| lines_with(file, &named)).collect())
}

/// Programs that know the folder they were compiled in, or that of a program beside them: another checkout may take
/// them from the cache. Examples are workspaces of their own, of which nothing is kept.
pub(super) fn compiled_paths(workspace: &Workspace) -> Result<Vec<String>> {
    let paths = [concat!("env!(\"CARGO_", "MANIFEST"), concat!("env!(\"CARGO_", "BIN_EXE")];
    let kept = rust(workspace).filter(|file| !file.path.starts_with("examples/"));
    Ok(kept.flat_map(|file| lines_with(file, &paths)).collect())
}

/// Calls in pure crates that make a decision depend on more than its arguments.
pub(super) fn impure_calls(workspace: &Workspace) -> Result<Vec<String>> {
    let pure =
        |file: &&SourceFile| PURE.iter().any(|name| file.path.starts_with(&format!("{name}/src/")));
    Ok(rust(workspace).filter(pure).flat_map(|file| lines_with(file, &IMPURE)).collect())
}

/// Texts of others that are read without a budget. Tests stand at the end of a file.
pub(super) fn unbounded_readers(workspace: &Workspace) -> Result<Vec<String>> {
    let starts = |file: &SourceFile, places: &[&str]| {
        places.iter().any(|place| file.path.starts_with(place))
    };
    let is_test =
        |file: &SourceFile| file.path.ends_with("tests.rs") || file.path.contains("/tests/");
    let shipped = rust(workspace).filter(|file| starts(file, &SHIPPED) && !starts(file, &READERS));
    let code = shipped.filter(|file| !is_test(file)).map(|file| {
        let text = file.text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        SourceFile { path: file.path.clone(), text: text.to_owned() }
    });
    Ok(code.flat_map(|file| lines_with(&file, &UNBOUNDED)).collect())
}

/// Crates for which `unsafe_code = "forbid"` and the other lints would not hold.
pub(super) fn without_lints(workspace: &Workspace) -> Result<Vec<String>> {
    let manifests = workspace.files.iter().filter(|file| file.path.ends_with("/Cargo.toml"));
    let crates = manifests.filter(|file| file.text.contains("[package]"));
    let lax = crates.filter(|file| !file.text.contains("[lints]\nworkspace = true"));
    let mut found: Vec<String> = lax.map(|file| file.path.clone()).collect();
    let root = workspace.files.iter().find(|file| file.path == "Cargo.toml");
    if !root.is_some_and(|file| file.text.contains("unsafe_code = \"forbid\"")) {
        found.push("Cargo.toml: unsafe_code is not forbidden".to_owned());
    }
    Ok(found)
}

fn rust(workspace: &Workspace) -> impl Iterator<Item = &SourceFile> {
    workspace.files.iter().filter(|file| file.is_rust())
}

fn lines_with(file: &SourceFile, needles: &[&str]) -> Vec<String> {
    let numbered = file.text.lines().zip(1..);
    let hits = numbered.filter(|(line, _)| needles.iter().any(|needle| line.contains(needle)));
    hits.map(|(line, number)| format!("{}:{number}: {}", file.path, line.trim())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(path: &str, text: &str) -> Workspace {
        let file = SourceFile { path: path.into(), text: text.into() };
        Workspace { files: vec![file], packages: Default::default() }
    }

    #[test]
    fn a_clock_is_found_in_pure_crates_only() {
        let text = "//! Header.\nfn f() { jiff::Timestamp::now(); }\n";
        let found = impure_calls(&workspace("olm-rbac/src/rule.rs", text)).unwrap();
        assert_eq!(found, ["olm-rbac/src/rule.rs:2: fn f() { jiff::Timestamp::now(); }"]);
        assert!(impure_calls(&workspace("olm-kit/src/rule.rs", text)).unwrap().is_empty());
    }

    #[test]
    fn a_program_does_not_know_the_folder_it_was_compiled_in() {
        for path in ["MANIFEST_DIR", "BIN_EXE_olm-copy"] {
            let text = format!("//! Header.\nenv!(\"CARGO_{path}\")\n");
            assert_eq!(compiled_paths(&workspace("xtask/src/a.rs", &text)).unwrap().len(), 1);
            let example = compiled_paths(&workspace("examples/a/src/main.rs", &text));
            assert!(example.unwrap().is_empty());
        }
    }

    #[test]
    fn a_reader_without_a_budget_is_found_outside_of_tests() {
        let text = "//! Header.\nlet a = serde_json::from_str(text);\n#[cfg(test)]\nmod tests {\n\
                    let b = serde_json::from_str(text);\n}\n";
        let found = unbounded_readers(&workspace("olm-lifecycle/src/a.rs", text)).unwrap();
        assert_eq!(found, ["olm-lifecycle/src/a.rs:2: let a = serde_json::from_str(text);"]);
        for path in
            ["olm-lifecycle/src/a/tests.rs", "olm-types/src/document/json.rs", "xtask/src/a.rs"]
        {
            assert!(unbounded_readers(&workspace(path, text)).unwrap().is_empty(), "{path}");
        }
    }

    #[test]
    fn length_and_header_spare_generated_code() {
        let long = "x\n".repeat(401);
        assert_eq!(too_long(&workspace("a/src/b.rs", &long)).unwrap(), ["a/src/b.rs: 401 lines"]);
        assert_eq!(without_header(&workspace("a/src/b.rs", &long)).unwrap(), ["a/src/b.rs"]);
        let generated = format!("// Generated by `cargo xtask codegen`.\n{long}");
        assert!(too_long(&workspace("a/src/b.rs", &generated)).unwrap().is_empty());
        assert!(without_header(&workspace("a/src/b.rs", &generated)).unwrap().is_empty());
    }
}
