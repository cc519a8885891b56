//! What decides whether compiled code can be used again: toolchain, lock file, flags.

use std::fs;

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};

use crate::workspace::root;

/// Files that say what is compiled, and how.
const FILES: [&str; 3] = ["Cargo.lock", "Cargo.toml", ".cargo/config.toml"];

/// Variables that change what the compilers do.
const VARIABLES: [&str; 4] = ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CC", "CFLAGS"];

/// The key of this workspace, of this toolchain, and of this environment.
pub(super) fn of_this_workspace() -> Result<String> {
    let mut parts = vec![compiler()?];
    for name in FILES {
        let text = fs::read_to_string(root().join(name));
        parts.push(text.with_context(|| format!("cannot read {name}"))?);
    }
    let set = VARIABLES.iter().map(|name| std::env::var(name).unwrap_or_default());
    Ok(key(parts.into_iter().chain(set)))
}

/// Changes with any of the parts.
fn key(parts: impl IntoIterator<Item = String>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn compiler() -> Result<String> {
    let mut command = std::process::Command::new("rustc");
    let output = command.arg("-vV").current_dir(root()).output();
    let output = output.context("cannot run rustc")?;
    ensure!(output.status.success(), "rustc -vV: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::key;

    #[test]
    fn a_part_is_not_taken_for_two() {
        let of = |parts: &[&str]| key(parts.iter().map(ToString::to_string));
        assert_eq!(of(&["a", "b"]), of(&["a", "b"]));
        assert_ne!(of(&["ab", ""]), of(&["a", "b"]));
        assert_eq!(of(&[]).len(), 16);
    }
}
