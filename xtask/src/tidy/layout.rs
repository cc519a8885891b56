//! Modules, test programs, reconcilers and clocks: one rule each.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;

use super::Workspace;
use crate::workspace::SourceFile;

/// Where the wall clock is read for the operators.
const CLOCK: &str = "olm-kit/src/clock.rs";

/// The operators, and what both share.
const OPERATORS: [&str; 3] = ["olm-kit/src/", "olm-operator/src/", "catalog-operator/src/"];

/// What implements a reconciler is called so.
const SUFFIX: &str = "Reconciler";

/// Modules with parts in a folder beside them: such a module is the `mod.rs` of its folder.
pub(super) fn beside_their_folder(workspace: &Workspace) -> Result<Vec<String>> {
    let folders: BTreeSet<&Path> =
        rust(workspace).flat_map(|file| Path::new(&file.path).ancestors().skip(1)).collect();
    let beside = rust(workspace).filter(|file| {
        file.path.strip_suffix(".rs").is_some_and(|module| folders.contains(Path::new(module)))
    });
    Ok(beside.map(|file| file.path.clone()).collect())
}

/// Packages whose tests cargo looks for by itself: it links a program of each file.
pub(super) fn unlisted_tests(workspace: &Workspace) -> Result<Vec<String>> {
    let manifests = workspace.files.iter();
    let manifests =
        manifests.filter_map(|file| Some((file.path.strip_suffix("Cargo.toml")?, file)));
    let unlisted = manifests.filter(|(folder, manifest)| {
        let tests = format!("{folder}tests/");
        let is_listed = manifest.text.contains("autotests = false");
        !is_listed && rust(workspace).any(|file| file.path.starts_with(&tests))
    });
    Ok(unlisted.map(|(_, manifest)| manifest.path.clone()).collect())
}

/// Reconcilers of the operators with another kind of name.
pub(super) fn misnamed_reconcilers(workspace: &Workspace) -> Result<Vec<String>> {
    let misnamed = operators(workspace).flat_map(|file| {
        let names = file.text.lines().filter_map(reconciler);
        let misnamed = names.filter(|name| !name.ends_with(SUFFIX));
        misnamed.map(|name| format!("{}: {name}", file.path)).collect::<Vec<_>>()
    });
    Ok(misnamed.collect())
}

/// The type for which a line implements the trait.
fn reconciler(line: &str) -> Option<&str> {
    let (implemented, name) = line.strip_prefix("impl")?.rsplit_once(" for ")?;
    let name = name.split(|letter: char| !letter.is_alphanumeric()).next()?;
    implemented.contains(" Reconciler<").then_some(name)
}

/// Where the operators read the wall clock by another way.
pub(super) fn other_clocks(workspace: &Workspace) -> Result<Vec<String>> {
    let others = operators(workspace).filter(|file| file.path != CLOCK);
    let lines = others.flat_map(|file| {
        let numbered = file.text.lines().zip(1..);
        let reads = numbered.filter(|(line, _)| line.contains("Timestamp::now("));
        reads.map(|(_, number)| format!("{}:{number}", file.path))
    });
    Ok(lines.collect())
}

/// Files of the operators, without tests.
fn operators(workspace: &Workspace) -> impl Iterator<Item = &SourceFile> {
    let is_test =
        |file: &SourceFile| file.path.ends_with("tests.rs") || file.path.contains("/tests/");
    let shipped = |file: &&SourceFile| OPERATORS.iter().any(|folder| file.path.starts_with(folder));
    rust(workspace).filter(shipped).filter(move |file| !is_test(file))
}

fn rust(workspace: &Workspace) -> impl Iterator<Item = &SourceFile> {
    workspace.files.iter().filter(|file| file.is_rust())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(files: &[(&str, &str)]) -> Workspace {
        let file = |(path, text): &(&str, &str)| SourceFile {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        };
        Workspace { files: files.iter().map(file).collect(), packages: Default::default() }
    }

    #[test]
    fn a_module_with_parts_is_a_folder() {
        let files = [("a/src/b.rs", ""), ("a/src/b/c.rs", ""), ("a/src/bc.rs", "")];
        assert_eq!(beside_their_folder(&workspace(&files)).unwrap(), ["a/src/b.rs"]);
        let files = [("a/src/b/mod.rs", ""), ("a/src/b/c.rs", ""), ("a/src/bc.rs", "")];
        assert!(beside_their_folder(&workspace(&files)).unwrap().is_empty());
    }

    #[test]
    fn test_programs_are_listed() {
        let files = [
            ("a/Cargo.toml", "[package]\n"),
            ("a/tests/x.rs", ""),
            ("b/Cargo.toml", "autotests = false\n"),
            ("b/tests/x.rs", ""),
            ("c/Cargo.toml", "[package]\n"),
            ("c/src/tests/x.rs", ""),
        ];
        assert_eq!(unlisted_tests(&workspace(&files)).unwrap(), ["a/Cargo.toml"]);
    }

    #[test]
    fn a_reconciler_is_called_so() {
        let text =
            "impl Reconciler<String> for Csvs {\nimpl<R> Reconciler<K> for OtherReconciler<R> {\n";
        let files = [("olm-operator/src/a.rs", text), ("olm-kit/src/tests/a.rs", text)];
        let found = misnamed_reconcilers(&workspace(&files)).unwrap();
        assert_eq!(found, ["olm-operator/src/a.rs: Csvs"]);
    }

    #[test]
    fn the_operators_have_one_clock() {
        let text = "//! Header.\nlet now = Timestamp::now();\n";
        let files = [(CLOCK, text), ("olm-kit/src/a.rs", text), ("kubectl-olm/src/a.rs", text)];
        assert_eq!(other_clocks(&workspace(&files)).unwrap(), ["olm-kit/src/a.rs:2"]);
    }
}
