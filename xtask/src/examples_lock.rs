//! The versions that examples are built with: those of the workspace.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result, ensure};

use crate::workspace::{cargo_run, root};

/// The manifest of the examples' workspace, from the root of the checkout.
pub const MANIFEST: &str = "examples/Cargo.toml";

const OURS: &str = "Cargo.lock";
const THEIRS: &str = "examples/Cargo.lock";

/// Takes our versions over, without asking a registry for newer ones.
pub fn write() -> Result<()> {
    fs::copy(root().join(OURS), root().join(THEIRS)).context("cannot copy Cargo.lock")?;
    cargo_run(&["update", "--workspace", "--offline", "--quiet", "--manifest-path", MANIFEST])
}

/// Fails when examples are built with other versions.
pub fn check() -> Result<()> {
    let other = others()?;
    ensure!(
        other.is_empty(),
        "{THEIRS} has other versions than {OURS} ({}); `cargo xtask examples --lock` takes ours over",
        other.join(", ")
    );
    Ok(())
}

/// Packages from elsewhere that examples have in another version.
pub fn others() -> Result<Vec<String>> {
    let read = |name: &str| {
        fs::read_to_string(root().join(name)).with_context(|| format!("cannot read {name}"))
    };
    Ok(difference(&read(OURS)?, &read(THEIRS)?))
}

fn difference(ours: &str, theirs: &str) -> Vec<String> {
    let ours = foreign(ours);
    foreign(theirs).difference(&ours).map(|(name, version)| format!("{name} {version}")).collect()
}

/// Names and versions of the packages that come from a registry.
fn foreign(lock: &str) -> BTreeSet<(&str, &str)> {
    let packages = lock.split("[[package]]").skip(1);
    let from_elsewhere = packages.filter(|package| value(package, "source").is_some());
    let named = |package| Some((value(package, "name")?, value(package, "version")?));
    from_elsewhere.filter_map(named).collect()
}

fn value<'a>(package: &'a str, key: &str) -> Option<&'a str> {
    let mut lines = package.lines();
    let value = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""))?;
    value.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"registry+x\"\n\n[[package]]\nname = \"own\"\nversion = \"0.1.0\"\n";

    #[test]
    fn only_packages_from_elsewhere_in_other_versions_are_reported() {
        assert!(difference(OURS, OURS).is_empty());
        let theirs = OURS.replace("1.0.0", "1.0.1").replace("\"own\"", "\"example\"");
        assert_eq!(difference(OURS, &theirs), ["a 1.0.1"]);
        assert!(difference(OURS, "version = 4\n").is_empty(), "they need fewer");
    }
}
