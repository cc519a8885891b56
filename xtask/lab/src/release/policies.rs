//! `deploy/policies` as one file for `kubectl apply`, beside those of which it is no part: it needs Kubernetes 1.30.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::VERSION;
use xtask::workspace::root;

/// The file.
const NAME: &str = "policies.yaml";

/// What only kustomize reads.
const KUSTOMIZATION: &str = "kustomization.yaml";

/// Writes the file into the folder.
pub(super) fn write(out: &Path) -> Result<()> {
    let path = out.join(NAME);
    fs::write(&path, text()?).with_context(|| format!("cannot write {}", path.display()))
}

/// The manifests in the order of their names, with their comments.
fn text() -> Result<String> {
    let folder = root().join("deploy/policies");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).context("cannot list the policies")? {
        let name = entry.context("cannot list the policies")?.file_name();
        names.push(name.to_string_lossy().into_owned());
    }
    names.retain(|name| name.ends_with(".yaml") && name != KUSTOMIZATION);
    names.sort();
    ensure!(!names.is_empty(), "{} has no policy", folder.display());
    let mut text = format!("# olm-rs v{VERSION}: kubectl apply -f {NAME}\n");
    for (place, name) in names.iter().enumerate() {
        let manifest = fs::read_to_string(folder.join(name));
        let manifest = manifest.with_context(|| format!("cannot read {name}"))?;
        text += if place == 0 { "" } else { "---\n" };
        text += &manifest;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// kustomize and a release apply the same.
    #[test]
    fn all_that_kustomize_applies_is_in_the_file() {
        let text = text().unwrap();
        assert!(text.starts_with(&format!("# olm-rs v{VERSION}: ")), "{text}");
        let kustomization = root().join("deploy/policies").join(KUSTOMIZATION);
        let kustomization = fs::read_to_string(kustomization).unwrap();
        let resources: Vec<&str> =
            kustomization.lines().filter_map(|line| line.trim().strip_prefix("- ")).collect();
        assert!(!resources.is_empty());
        for resource in resources {
            let manifest = root().join("deploy/policies").join(resource);
            assert!(text.contains(&fs::read_to_string(manifest).unwrap()), "{resource} is missing");
        }
        let kinds: Vec<&str> = text.lines().filter(|line| line.starts_with("kind: ")).collect();
        let expected = ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"];
        assert_eq!(kinds, expected.map(|kind| format!("kind: {kind}")));
    }
}
