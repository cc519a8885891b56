//! Compiler flags: everything linked in, and no path of the machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::workspace;

/// Between flags in `CARGO_ENCODED_RUSTFLAGS`, so that they may contain spaces.
const SEPARATOR: &str = "\u{1f}";

/// Relocations as a list of places instead of two megabytes of records, which are read at each start and stay in memory.
const RELOCATIONS: &str = "-Clink-arg=-Wl,-z,pack-relative-relocs";

/// What only runs while a panic unwinds is put behind all other code, so that it is not in memory. LLVM does so with
/// a profile; `mfs-split-ehcode` is the same for code of exceptions, without one.
const UNWINDING: [&str; 3] = [
    "-Cllvm-args=-enable-split-machine-functions",
    "-Cllvm-args=-mfs-split-ehcode",
    "-Clink-arg=-Wl,-z,keep-text-section-prefix",
];

/// Sets the flags of a cargo command. With `--target` they reach neither build scripts nor
/// procedural macros. Flags of the user's environment would change the bytes and are put aside.
pub(super) fn set(command: &mut Command) -> Result<()> {
    let mut flags = vec!["-Ctarget-feature=+crt-static".to_owned(), RELOCATIONS.to_owned()];
    flags.extend(UNWINDING.map(str::to_owned));
    for (path, name) in machine_paths()? {
        flags.push(format!("--remap-path-prefix={}={name}", path.display()));
    }
    command.env_remove("RUSTFLAGS");
    command.env("CARGO_ENCODED_RUSTFLAGS", flags.join(SEPARATOR));
    Ok(())
}

/// Standard output of rustc, trimmed.
pub(super) fn rustc(args: &[&str]) -> Result<String> {
    let program = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(program)
        .args(args)
        .current_dir(workspace())
        .output()
        .context("cannot run rustc")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "rustc {} failed: {said}", args.join(" "));
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Folders of this machine with the names that executables get for them. The compiler prefers
/// later ones; a map has longer paths after their parents.
fn machine_paths() -> Result<BTreeMap<PathBuf, String>> {
    let (workspace, target) = cargo_folders()?;
    let cargo_home = cargo_home()?;
    let mut paths = BTreeMap::from([
        (workspace, "/olm-rs".to_owned()),
        (target, "/target".to_owned()),
        (toolchain_sources()?, format!("/rustc/{}", commit()?)),
        (cargo_home.clone(), "/cargo".to_owned()),
    ]);
    // The folder of a registry is named after its host and a hash of its address.
    for registry in folders(&cargo_home.join("registry/src")) {
        paths.insert(registry, "/cargo/registry".to_owned());
    }
    Ok(paths)
}

fn cargo_folders() -> Result<(PathBuf, PathBuf)> {
    let output = super::cargo()
        .args(["metadata", "--format-version=1", "--no-deps", "--locked"])
        .output()
        .context("cannot run cargo metadata")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cargo metadata failed: {said}");
    let metadata: Value =
        serde_json::from_slice(&output.stdout).context("cannot read cargo metadata")?;
    let folder = |field: &str| {
        let path = metadata[field].as_str().map(PathBuf::from);
        path.with_context(|| format!("cargo metadata has no {field}"))
    };
    Ok((folder("workspace_root")?, folder("target_directory")?))
}

fn cargo_home() -> Result<PathBuf> {
    let named = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let default = || std::env::home_dir().map(|home| home.join(".cargo"));
    named.or_else(default).context("neither CARGO_HOME nor a home directory is known")
}

/// Where rustc finds the sources of the standard library, when they are installed.
fn toolchain_sources() -> Result<PathBuf> {
    Ok(Path::new(&rustc(&["--print", "sysroot"])?).join("lib/rustlib/src/rust"))
}

/// The commit of the compiler: the name that its sources have in executables anyway.
fn commit() -> Result<String> {
    let version = rustc(&["-vV"])?;
    let commit = version.lines().find_map(|line| line.strip_prefix("commit-hash: "));
    Ok(commit.unwrap_or("unknown").to_owned())
}

fn folders(parent: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(parent).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir()).collect()
}
