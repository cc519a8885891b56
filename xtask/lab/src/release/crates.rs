//! The library crates, packaged as cargo would publish them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use xtask::workspace::{cargo_output, cargo_run, root};

/// Crates that others may build on, each after those that it uses.
pub(super) const LIBRARIES: [&str; 12] = [
    "olm-types",
    "olm-effect",
    "olm-resolver",
    "olm-opgroup",
    "olm-rbac",
    "olm-lifecycle",
    "olm-flags",
    "olm-pages",
    "olm-tasks",
    "olm-transport",
    "olm-catalog",
    "olm-kit",
];

/// Packages every library into `out`; `verify` compiles each from its package alone.
pub(super) fn package(out: &Path, verify: bool) -> Result<()> {
    let target = root().join("target");
    let target = target.to_str().context("the path of the target folder is no text")?;
    let mut args = vec!["package", "--locked", "--allow-dirty", "--quiet", "--target-dir", target];
    if !verify {
        args.push("--no-verify");
    }
    args.extend(LIBRARIES.iter().flat_map(|library| ["--package", library]));
    cargo_run(&args)?;
    for library in LIBRARIES {
        let name = format!("{library}-{}.crate", super::VERSION);
        let package = root().join("target/package").join(&name);
        fs::copy(&package, out.join(&name))
            .with_context(|| format!("cargo has not made {name}"))?;
    }
    has_no_foreign_files()
}

/// A package holds what the crate is made of, and nothing of the workspace around it.
fn has_no_foreign_files() -> Result<()> {
    for library in LIBRARIES {
        let list = cargo_output(&["package", "--list", "--allow-dirty", "--package", library])?;
        let foreign = list.lines().find(|line| line.starts_with("..") || line.starts_with('/'));
        ensure!(foreign.is_none(), "{library} packages {}", foreign.unwrap_or_default());
        ensure!(list.lines().any(|line| line == "src/lib.rs"), "{library} packages no library");
    }
    Ok(())
}
