//! `cargo xtask tidy`: rules of the architecture and of the house style that a program can check.
//!
//! Function length is not among them: `clippy.toml` sets `too-many-lines-threshold`, and clippy
//! runs with warnings denied.

mod arrows;
mod attacks;
mod citations;
mod dependencies;
mod differences;
mod features;
mod files;
mod layout;
mod licences;
mod platforms;
mod references;
mod scenarios;
mod spec_links;
mod stages;
mod tasks;
mod words;

use anyhow::{Result, bail};

use crate::workspace::{self, Package, SourceFile};
use std::collections::BTreeMap;

/// What the checks look at.
pub struct Workspace {
    files: Vec<SourceFile>,
    packages: BTreeMap<String, Package>,
}

impl Workspace {
    /// The folder of a package, from the root of the workspace.
    fn path_of(&self, package: &Package) -> String {
        let folder = package.folder.strip_prefix(workspace::root()).unwrap_or(&package.folder);
        folder.to_string_lossy().into_owned()
    }
}

/// A rule: its statement, and what breaks it (one line each).
struct Check {
    rule: &'static str,
    find: fn(&Workspace) -> Result<Vec<String>>,
}

const CHECKS: &[Check] = &[
    Check { rule: "a file has at most 400 lines", find: files::too_long },
    Check { rule: "a Rust file starts with a //! header", find: files::without_header },
    Check { rule: "no test is ignored and nothing is left to do", find: files::unfinished },
    Check { rule: "no path of a developer's machine", find: files::machine_paths },
    Check { rule: "a program looks for its checkout when it runs", find: files::compiled_paths },
    Check { rule: "words are those of Kubernetes", find: words::unusual },
    Check { rule: "the name of a type says what it is", find: words::vague_types },
    Check { rule: "a module with parts is a folder", find: layout::beside_their_folder },
    Check { rule: "a package lists its test programs", find: layout::unlisted_tests },
    Check { rule: "reconcilers are called so", find: layout::misnamed_reconcilers },
    Check { rule: "the operators have one clock", find: layout::other_clocks },
    Check { rule: "tasks start where a panic is looked after", find: tasks::bare },
    Check { rule: "what users run needs no Unix without a cfg", find: platforms::unguarded },
    Check { rule: "pure crates read no clock and no randomness", find: files::impure_calls },
    Check { rule: "texts of others are read with a budget", find: files::unbounded_readers },
    Check { rule: "crates depend along the allowed arrows", find: arrows::forbidden },
    Check { rule: "every crate takes the workspace's lints", find: files::without_lints },
    Check { rule: "pure crates reach no client and no runtime", find: dependencies::impure },
    Check { rule: "an example resolves without a client", find: dependencies::impure_example },
    Check {
        rule: "examples have the versions of the workspace",
        find: dependencies::example_versions,
    },
    Check { rule: "olm-operator links no solver and no CEL", find: dependencies::heavy_operator },
    Check { rule: "there is one TLS provider", find: dependencies::second_tls_provider },
    Check {
        rule: "no package twice but for the list of deny.toml",
        find: dependencies::duplicates,
    },
    Check {
        rule: "packages come from the public registry only",
        find: dependencies::foreign_sources,
    },
    Check { rule: "licences are on the list of deny.toml", find: licences::unlisted },
    Check { rule: "tests are built with every feature", find: features::left_out },
    Check { rule: "tests and programs share dependencies", find: features::for_tests_only },
    Check { rule: "a change is known to concern some scenarios", find: scenarios::gaps },
    Check {
        rule: "ARCHITECTURE.md lists the stages of a CSV in order",
        find: stages::out_of_order,
    },
    Check {
        rule: "a cited section of docs/spec exists, and pages cite with links",
        find: citations::dangling,
    },
    Check { rule: "links to and in docs/spec lead somewhere", find: spec_links::broken },
    Check { rule: "each rule of docs/spec names its file of v0", find: spec_links::without_source },
    Check {
        rule: "each difference from v0, and each attack, names tests that exist",
        find: differences::without_test,
    },
    Check {
        rule: "docs/security.md counts the attacks that are played",
        find: attacks::miscounted,
    },
];

/// Runs every check; fails when one finds something.
pub fn run() -> Result<()> {
    let (_, broken) = check_all()?;
    match broken.len() {
        0 => Ok(()),
        failed => bail!("{failed} rules are broken"),
    }
}

/// Runs and prints every check; returns how many passed, and the rules that are broken.
pub fn check_all() -> Result<(usize, Vec<&'static str>)> {
    let workspace = Workspace { files: workspace::files()?, packages: workspace::packages()? };
    let mut broken = Vec::new();
    for check in CHECKS {
        let findings = (check.find)(&workspace).unwrap_or_else(|error| vec![format!("{error:#}")]);
        println!("{} {}", if findings.is_empty() { "ok    " } else { "BROKEN" }, check.rule);
        findings.iter().for_each(|finding| println!("         {finding}"));
        broken.extend((!findings.is_empty()).then_some(check.rule));
    }
    Ok((CHECKS.len() - broken.len(), broken))
}
