//! Reads the figures of crates from their text, which rustfmt has given its form.

use std::collections::BTreeMap;

use crate::workspace::SourceFile;

/// What is known of a crate.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Crate {
    /// Its folder.
    pub name: String,
    /// Lines of code that is no test.
    pub code: usize,
    /// Lines of tests.
    pub tests: usize,
    /// Lines and paths of the files with code.
    pub files: Vec<(usize, String)>,
    /// Lines and places of the functions that are no tests.
    pub functions: Vec<(usize, String)>,
    /// Places of public items without documentation.
    pub undocumented: Vec<String>,
}

/// Folders whose files are tests.
const TESTS: [&str; 4] = ["tests", "benches", "examples", "fuzz_targets"];

/// The crates of these files, by name.
pub(super) fn crates(files: &[SourceFile]) -> Vec<Crate> {
    let mut found: BTreeMap<&str, Crate> = BTreeMap::new();
    let homes: Vec<&str> = files.iter().filter_map(home).collect();
    let modules: Vec<String> = files.iter().flat_map(test_modules).collect();
    for file in files.iter().filter(|file| file.is_rust() && !file.is_generated()) {
        // Of a crate in a crate, the inner one.
        let around = homes.iter().filter(|home| within(home, &file.path).is_some());
        let Some(home) = around.max_by_key(|home| home.len()) else { continue };
        let empty = || Crate { name: (*home).to_owned(), ..Crate::default() };
        let of = found.entry(home).or_insert_with(empty);
        let inside = within(home, &file.path).unwrap_or_default();
        if is_test(inside) || modules.iter().any(|module| is_of(module, &file.path)) {
            of.tests += file.text.lines().count();
        } else {
            add(of, file);
        }
    }
    found.into_values().collect()
}

/// Paths, without `.rs`, of the modules that a file declares for tests alone.
fn test_modules(file: &SourceFile) -> Vec<String> {
    let folder = match file.path.rsplit_once('/') {
        Some((folder, "mod.rs" | "lib.rs" | "main.rs")) => folder,
        _ => file.path.trim_end_matches(".rs"),
    };
    let mut before = "";
    let mut found = Vec::new();
    for line in file.text.lines() {
        let name = line.rsplit_once("mod ").and_then(|(_, name)| name.strip_suffix(';'));
        if let Some(name) = name.filter(|_| before == "#[cfg(test)]") {
            found.push(format!("{folder}/{name}"));
        }
        before = line;
    }
    found
}

/// Whether a file is that of a module, or of one inside of it.
fn is_of(module: &str, path: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

/// The folder of a crate, if this is its manifest.
fn home(file: &SourceFile) -> Option<&str> {
    let folder = file.path.strip_suffix("/Cargo.toml")?;
    file.text.contains("[package]").then_some(folder)
}

/// The path of a file from the folder of its crate.
fn within<'a>(home: &str, path: &'a str) -> Option<&'a str> {
    path.strip_prefix(home)?.strip_prefix('/')
}

fn add(of: &mut Crate, file: &SourceFile) {
    let lines: Vec<&str> = file.text.lines().collect();
    let end = end_of_code(&lines);
    let code = lines.get(..end).unwrap_or_default();
    of.code += end;
    of.tests += lines.len() - end;
    of.files.push((lines.len(), file.path.clone()));
    for (number, line) in (1..).zip(code) {
        let rest = code.get(number - 1..).unwrap_or_default();
        if is_function(line) {
            of.functions.push((length(rest), format!("{}:{number}", file.path)));
        }
        let before = code.get(..number - 1).unwrap_or_default();
        if is_public(line) && !is_documented(before) {
            of.undocumented.push(format!("{}:{number}: {}", file.path, line.trim()));
        }
    }
}

fn is_test(path: &str) -> bool {
    let mut parts = path.split('/');
    let file = parts.next_back().unwrap_or_default();
    file == "tests.rs" || parts.any(|part| TESTS.contains(&part))
}

/// Where the tests of a file begin: modules of tests stand last.
fn end_of_code(lines: &[&str]) -> usize {
    let is_module = |at: usize| {
        let next = lines.get(at + 1).copied().unwrap_or_default();
        lines.get(at) == Some(&"#[cfg(test)]") && next.contains("mod ") && next.ends_with('{')
    };
    (0..lines.len()).find(|at| is_module(*at)).unwrap_or(lines.len())
}

fn is_function(line: &str) -> bool {
    let words = ["pub", "pub(crate)", "pub(super)", "const", "async"];
    let mut rest = line.split_whitespace().skip_while(|word| words.contains(word));
    rest.next() == Some("fn") && !line.trim_end().ends_with(';')
}

/// Lines from the one that begins a function to the one that ends it, which stands below it.
fn length(lines: &[&str]) -> usize {
    let Some(first) = lines.first() else { return 0 };
    if first.trim_end().ends_with('}') {
        return 1;
    }
    let indent: String = first.chars().take_while(|letter| *letter == ' ').collect();
    let ends = [format!("{indent}}}"), format!("{indent});")];
    let last = lines.iter().position(|line| {
        ends.iter().any(|end| line == end)
            || (line.starts_with(&format!("{indent})")) && line.ends_with(';'))
    });
    last.map_or(lines.len(), |last| last + 1)
}

/// Whether others see it. A module has its words at its own beginning, which tidy looks after; what
/// a macro writes gets its words where the macro is used.
fn is_public(line: &str) -> bool {
    let Some(item) = line.trim_start().strip_prefix("pub ") else { return false };
    let kinds = ["fn", "async", "struct", "enum", "trait", "type", "const", "static"];
    let mut words = item.split_whitespace();
    let is_item = words.next().is_some_and(|kind| kinds.contains(&kind));
    is_item && !words.any(|word| word.starts_with('$'))
}

/// Whether what stands before an item, apart from its attributes, is documentation.
fn is_documented(before: &[&str]) -> bool {
    let mut lines = before.iter().rev().map(|line| line.trim());
    while let Some(line) = lines.next() {
        if line == ")]" {
            // An attribute of several lines.
            lines.by_ref().find(|line| line.starts_with("#["));
        } else if !line.starts_with("#[") {
            return line.starts_with("///");
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "//! Header.\n\n/// Says it.\n#[must_use]\npub fn long(\n    a: u8,\n) -> u8 {\n    a\n}\n\npub fn silent() {}\n\ntrait T {\n    fn declared(&self);\n}\n\n#[cfg(test)]\nmod tests {\n    fn not_counted() {}\n}\n";

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn code_tests_functions_and_what_lacks_words_are_distinguished() {
        let files = [
            file("olm-x/Cargo.toml", "[package]\n"),
            file("olm-x/src/a.rs", TEXT),
            file("olm-x/src/a/tests.rs", "//! T.\n\nfn t() {}\n"),
            file("olm-x/tests/b.rs", "//! T.\n"),
            file("olm-x/tests/deep/c.rs", "//! T.\n"),
            file("olm-x/README.md", "text\n"),
        ];
        let [found] = &crates(&files)[..] else { panic!() };
        assert_eq!((found.name.as_str(), found.code, found.tests), ("olm-x", 16, 4 + 3 + 1 + 1));
        assert_eq!(found.files, [(20, "olm-x/src/a.rs".to_owned())]);
        let functions = [(5, "olm-x/src/a.rs:5".to_owned()), (1, "olm-x/src/a.rs:11".to_owned())];
        assert_eq!(found.functions, functions);
        assert_eq!(found.undocumented, ["olm-x/src/a.rs:11: pub fn silent() {}"]);
    }

    #[test]
    fn a_module_for_tests_alone_is_no_code() {
        let files = [
            file("olm-x/Cargo.toml", "[package]\n"),
            file("olm-x/src/a.rs", "//! A.\n\n#[cfg(test)]\npub(crate) mod world;\nmod real;\n"),
            file("olm-x/src/a/world.rs", "//! W.\n"),
            file("olm-x/src/a/world/deep.rs", "//! D.\n"),
            file("olm-x/src/a/worldly.rs", "//! W.\n"),
            file("olm-x/src/a/real.rs", "//! R.\n"),
        ];
        let [found] = &crates(&files)[..] else { panic!() };
        assert_eq!((found.code, found.tests), (5 + 1 + 1, 2));
    }

    #[test]
    fn attributes_stand_between_words_and_items() {
        let words = ["/// Says it.", "#[error(", "    \"text\"", ")]", "#[derive(Debug)]"];
        assert!(is_documented(&words));
        assert!(!is_documented(words.get(1..).unwrap()));
        assert!(!is_documented(&["}", ""]));
        assert!(
            is_public("    pub const A: u8 = 1;") && !is_public("        pub struct $name(u8);")
        );
        assert!(!is_public("    pub field: u8,") && !is_public("pub(crate) fn f() {}"));
    }

    #[test]
    fn a_crate_in_a_crate_is_one_of_its_own() {
        let files = [
            file("olm-t/Cargo.toml", "[package]\n"),
            file("olm-t/workload/Cargo.toml", "[package]\n"),
            file("olm-t/src/a.rs", "//! A.\n"),
            file("olm-t/workload/src/b.rs", "//! B.\n"),
        ];
        let names: Vec<_> = crates(&files).into_iter().map(|one| one.name).collect();
        assert_eq!(names, ["olm-t", "olm-t/workload"]);
    }
}
