//! Credentials for registries, in the files in which podman and docker keep them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use olm_catalog::image::Keychain;

/// The credentials in the file that a flag names, or in the first of the usual files that is there.
///
/// # Errors
/// The file that the flag names cannot be read, or is no such file.
pub(super) fn keychain(flag: Option<&Path>) -> Result<Keychain> {
    let mut keychain = Keychain::default();
    if let Some(file) = flag {
        let context = || format!("cannot use {} for registries", file.display());
        let text = std::fs::read(file).with_context(context)?;
        keychain.add_config(&text).with_context(context)?;
        return Ok(keychain);
    }
    let usual = usual(|name| std::env::var_os(name).map(PathBuf::from));
    let found = usual.iter().find_map(|file| std::fs::read(file).ok());
    if let Some(text) = found {
        // One that is malformed is as good as none: images may need no credentials.
        let _ = keychain.add_config(&text);
    }
    Ok(keychain)
}

/// The usual files, the first one counts.
fn usual(variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let home = variable("HOME").or_else(|| variable("USERPROFILE"));
    let runtime = variable("XDG_RUNTIME_DIR").map(|path| path.join("containers").join("auth.json"));
    let docker = variable("DOCKER_CONFIG").or_else(|| home.map(|home| home.join(".docker")));
    let docker = docker.map(|path| path.join("config.json"));
    [variable("REGISTRY_AUTH_FILE"), runtime, docker].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_files_are_those_of_podman_and_docker() {
        let known = [("HOME", "/h"), ("XDG_RUNTIME_DIR", "/r")];
        let found = usual(|name| {
            known.iter().find(|(known, _)| *known == name).map(|(_, path)| PathBuf::from(path))
        });
        let found: Vec<String> = found.iter().map(|path| path.display().to_string()).collect();
        assert_eq!(found, ["/r/containers/auth.json", "/h/.docker/config.json"]);
    }

    #[test]
    fn a_file_that_was_named_has_to_be_usable() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.json");
        assert!(keychain(Some(&file)).is_err());
        std::fs::write(&file, r#"{"auths": {"quay.io": {"auth": "YTpi"}}}"#).unwrap();
        let keychain = keychain(Some(&file)).unwrap();
        assert_eq!(keychain.for_image(&"quay.io/a/b:1".parse().unwrap()).len(), 1);
    }
}
