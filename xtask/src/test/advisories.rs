//! What cargo-deny says about dependencies, advisories among it, where a database of them is at hand.
//!
//! Licences, bans, versions and sources are rules of `cargo xtask tidy`, which needs no other program; here
//! they are checked once more, for the targets that ship.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result, ensure};

use super::summary::Summary;
use crate::workspace::{cargo, root, target};
use olm_tools::cache_dir;

/// The folder in which cargo-deny keeps databases, as `advisories.db-path` of deny.toml would name it.
const DATABASES: &str = "OLM_ADVISORY_DB";

/// The release of cargo-deny that is built when there is none.
const VERSION: &str = "0.20.2";

/// The section of deny.toml that says where databases are.
const SECTION: &str = "[advisories]\n";

/// Checks the dependencies when the variable names a folder.
pub(super) fn check(summary: &mut Summary) {
    match env::var_os(DATABASES) {
        Some(folder) => summary.check("advisories", deny(Path::new(&folder))),
        None => {
            let reason =
                format!("advisories: {DATABASES} names no folder of cargo-deny's databases");
            summary.add_not_run(1, &[reason]);
        }
    }
}

fn deny(folder: &Path) -> Result<()> {
    let folder = folder.canonicalize();
    let folder = folder.with_context(|| format!("{DATABASES} names no folder that is there"))?;
    let rules = fs::read_to_string(root().join("deny.toml")).context("cannot read deny.toml")?;
    let config = target().join("deny.toml");
    fs::write(&config, with_databases(&rules, &folder)).context("cannot write the rules")?;
    let mut command = Command::new(program()?);
    command.current_dir(root()).args(["--all-features", "--offline", "--config"]).arg(&config);
    command.args(["check", "advisories", "bans", "licenses", "sources"]);
    let status = command.status().context("cannot start cargo-deny")?;
    ensure!(status.success(), "cargo-deny has found something, see above");
    Ok(())
}

/// The rules with the folder of databases.
fn with_databases(rules: &str, folder: &Path) -> String {
    // A text of JSON is one of TOML as well.
    let path = serde_json::Value::from(folder.to_string_lossy());
    rules.replacen(SECTION, &format!("{SECTION}db-path = {path}\n"), 1)
}

/// cargo-deny: the one of this machine, or one that is built once per machine.
fn program() -> Result<PathBuf> {
    let known = Command::new("cargo-deny").arg("--version").output();
    if known.is_ok_and(|known| known.status.success()) {
        return Ok("cargo-deny".into());
    }
    let place = cache_dir()?.join(format!("cargo-deny-{VERSION}"));
    let program = place.join("bin/cargo-deny");
    if !program.exists() {
        let mut install = cargo();
        install.args(["install", "--locked", "--version", VERSION, "--root"]).arg(&place);
        let status = install.arg("cargo-deny").status().context("cannot start cargo")?;
        ensure!(status.success(), "cargo-deny {VERSION} cannot be installed");
    }
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_name_the_folder_of_databases_once() {
        let rules = fs::read_to_string(root().join("deny.toml")).unwrap();
        let with = with_databases(&rules, Path::new("/a \"b\""));
        assert!(with.contains("[advisories]\ndb-path = \"/a \\\"b\\\"\"\nversion = 2\n"), "{with}");
        assert_eq!(with.lines().count(), rules.lines().count() + 1);
    }
}
