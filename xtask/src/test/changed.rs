//! What a change concerns: the tests of the crates that it reaches, and the scenarios that name them.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::concerns;
use super::run::Run;
use super::stages::{compile, quick, scenarios, unit_tests};
use crate::workspace::{self, Package, root};

/// Runs that; `base` is a commit, or what is not committed yet counts.
pub(super) fn run(run: &mut Run, base: Option<&str>) -> Result<()> {
    let files = files(base)?;
    ensure!(!files.is_empty(), "nothing has changed since {}", base.unwrap_or("the last commit"));
    let crates = reached(&members()?, &files);
    let concerned = concerns::of(&files);
    println!("{} files have changed; they reach {}", files.len(), list(&crates));
    println!("scenarios: {}", concerned.as_ref().map_or("all".to_owned(), list));
    quick(run);
    let Some(built) = compile(run) else { return Ok(()) };
    run.stage("tests of the crates that are reached", |run| {
        unit_tests(run, &built, &[], |package| crates.contains(package));
    });
    let only = concerned.map(|only| only.into_iter().collect::<Vec<_>>().join(","));
    if only.as_deref() != Some("") {
        run.stage("scenarios that are concerned", |run| scenarios(run, &built, only.as_deref()));
    }
    Ok(())
}

/// The paths of changed files, those that git does not know yet among them.
fn files(base: Option<&str>) -> Result<BTreeSet<String>> {
    let changed = git(&["diff", "--name-only", base.unwrap_or("HEAD")])?;
    let new = git(&["ls-files", "--others", "--exclude-standard"])?;
    Ok(changed.lines().chain(new.lines()).map(str::to_owned).collect())
}

fn git(args: &[&str]) -> Result<String> {
    let output = Command::new("git").args(args).current_dir(root()).output();
    let output = output.context("cannot run git")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "git {}: {}", args.join(" "), said.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The members of the workspace by folder, from its root.
fn members() -> Result<BTreeMap<String, Package>> {
    let ours = workspace::packages()?.into_values().filter(|package| package.source.is_none());
    let folder = |package: &Package| {
        let inside = package.folder.strip_prefix(root()).unwrap_or(&package.folder);
        inside.to_string_lossy().into_owned()
    };
    Ok(ours.map(|package| (folder(&package), package)).collect())
}

/// The packages whose tests may come out differently: those with a changed file, and those that use
/// such a one, directly or not. What only the tests of a package use goes no further than these.
fn reached(members: &BTreeMap<String, Package>, files: &BTreeSet<String>) -> BTreeSet<String> {
    let changed = files.iter().filter_map(|file| package_of(members, file));
    let mut libraries: BTreeSet<String> = changed.collect();
    loop {
        let uses = |package: &Package, dev: bool| {
            let of_kind =
                package.dependencies.iter().filter(|it| dev || it.kind.as_deref() != Some("dev"));
            of_kind.into_iter().any(|dependency| libraries.contains(&dependency.name))
        };
        let of = |dev| members.values().filter(move |it| uses(it, dev)).map(|it| it.name.clone());
        let more: BTreeSet<String> = of(false).filter(|name| !libraries.contains(name)).collect();
        if more.is_empty() {
            return libraries.iter().cloned().chain(of(true)).collect();
        }
        libraries.extend(more);
    }
}

/// The package with a file; of a package in the folder of another, the inner one.
fn package_of(members: &BTreeMap<String, Package>, file: &str) -> Option<String> {
    let around = members.iter().filter(|(folder, _)| file.starts_with(&format!("{folder}/")));
    around.max_by_key(|(folder, _)| folder.len()).map(|(_, package)| package.name.clone())
}

fn list(names: &BTreeSet<String>) -> String {
    match names.is_empty() {
        true => "none".to_owned(),
        false => names.iter().cloned().collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;

    fn package(name: &str, uses: &[(&str, Option<&str>)]) -> (String, Package) {
        let dependency = |(name, kind): &(&str, Option<&str>)| Dependency {
            name: (*name).to_owned(),
            kind: kind.map(str::to_owned),
        };
        let package = Package {
            name: name.to_owned(),
            license: None,
            source: None,
            folder: name.into(),
            dependencies: uses.iter().map(dependency).collect(),
            features: Vec::new(),
        };
        (name.to_owned(), package)
    }

    #[test]
    fn a_change_reaches_users_and_the_tests_that_use_them() {
        let members = BTreeMap::from([
            package("rules", &[]),
            package("operator", &[("rules", None)]),
            package("kit", &[("rules", Some("dev"))]),
            package("user-of-kit", &[("kit", None)]),
            package("other", &[]),
        ]);
        let files = BTreeSet::from(["rules/src/lib.rs".to_owned(), "README.md".to_owned()]);
        let reached = reached(&members, &files);
        assert_eq!(reached, ["kit", "operator", "rules"].map(str::to_owned).into());
    }

    #[test]
    fn a_package_inside_of_another_has_its_own_files() {
        let members = BTreeMap::from([package("a", &[]), package("a/b", &[])]);
        assert_eq!(package_of(&members, "a/b/src/lib.rs").as_deref(), Some("a/b"));
        assert_eq!(package_of(&members, "a/src/lib.rs").as_deref(), Some("a"));
        assert_eq!(package_of(&members, "README.md"), None);
    }
}
