//! `kubectl olm` as users get it: a static program in an archive, and the manifest for krew, kubectl's manager of
//! plugins.
//!
//! One platform is built and tried here. macOS, Windows and arm64 compile from the same sources and are untested.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use olm_testkit::progress::Progress;
use olm_testkit::static_build;
use olm_types::hash::sha256_hex;
use serde_json::{Value, json};
use xtask::build::shipped::PLUGIN;
use xtask::workspace;

/// The program, which kubectl runs for `kubectl olm`.
const PROGRAM: &str = PLUGIN.name;

/// Where releases are available.
const RELEASES: &str = "https://olm-rs.dev/releases";

/// The platform that is built, in krew's words.
const PLATFORM: [&str; 2] = ["linux", "amd64"];

/// Writes archive and manifest into a folder.
///
/// # Errors
/// The program cannot be built, or a file cannot be written.
pub(super) fn write(out: &Path, version: &str) -> Result<()> {
    let built = static_build::build(&[PLUGIN], &Progress::to_stderr())?;
    let program = built.first().context("nothing was built")?;
    let program = fs::read(program).context("cannot read the program")?;
    let licence = fs::read(workspace::root().join("LICENSE")).context("cannot read the licence")?;
    let archive = archive(&[(PROGRAM, 0o755, &program), ("LICENSE", 0o644, &licence)])?;
    let [os, arch] = PLATFORM;
    let name = format!("{PROGRAM}-v{version}-{os}-{arch}.tar.gz");
    fs::write(out.join(&name), &archive).with_context(|| format!("cannot write {name}"))?;
    let digest = sha256_hex(&archive);
    let manifest = yaml_serde::to_string(&manifest(version, &name, &digest))?;
    fs::write(out.join("krew-olm.yaml"), manifest).context("cannot write the manifest for krew")
}

/// The same files give the same bytes.
fn archive(files: &[(&str, u32, &[u8])]) -> Result<Vec<u8>> {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    for (name, mode, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(u64::try_from(bytes.len())?);
        header.set_mode(*mode);
        header.set_mtime(0);
        builder.append_data(&mut header, name, *bytes).context("cannot fill the archive")?;
    }
    let encoder = builder.into_inner().context("cannot end the archive")?;
    encoder.finish().context("cannot compress the archive")
}

fn manifest(version: &str, archive: &str, digest: &str) -> Value {
    let [os, arch] = PLATFORM;
    json!({
        "apiVersion": "krew.googlecontainertools.github.com/v1alpha2",
        "kind": "Plugin",
        "metadata": {"name": "olm"},
        "spec": {
            "version": format!("v{version}"),
            "homepage": "https://olm-rs.dev",
            "shortDescription": "See what OLM will do, and do it",
            "description": "Shows what an installation, an upgrade or a removal of an operator does before it is \
                done: objects, rights, CRDs and images. Installs, approves, explains and examines, on clusters \
                with the Operator Lifecycle Manager v0 or with olm-rs.",
            "platforms": [{
                "selector": {"matchLabels": {"os": os, "arch": arch}},
                "uri": format!("{RELEASES}/v{version}/{archive}"),
                "sha256": digest,
                "files": [{"from": PROGRAM, "to": "."}, {"from": "LICENSE", "to": "."}],
                "bin": PROGRAM,
            }],
        },
    })
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn an_archive_holds_the_program_and_is_the_same_each_time() {
        let files: &[(&str, u32, &[u8])] = &[("a", 0o755, b"program"), ("LICENSE", 0o644, b"text")];
        let bytes = archive(files).unwrap();
        assert_eq!(bytes, archive(files).unwrap());
        let mut read = tar::Archive::new(GzDecoder::new(bytes.as_slice()));
        let mut found = Vec::new();
        for entry in read.entries().unwrap() {
            let mut entry = entry.unwrap();
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            let mode = entry.header().mode().unwrap();
            found.push((entry.path().unwrap().display().to_string(), mode, text));
        }
        let expected = [("a", 0o755, "program"), ("LICENSE", 0o644, "text")];
        assert_eq!(
            found,
            expected.map(|(name, mode, text)| (name.to_owned(), mode, text.to_owned()))
        );
    }

    #[test]
    fn krew_finds_the_archive_by_its_digest() {
        let manifest = manifest("1.2.3", "kubectl-olm-v1.2.3-linux-amd64.tar.gz", "00ff");
        assert_eq!(manifest["metadata"]["name"], "olm");
        assert_eq!(manifest["spec"]["version"], "v1.2.3");
        let platform = &manifest["spec"]["platforms"][0];
        assert_eq!(platform["sha256"], "00ff");
        let uri = platform["uri"].as_str().unwrap();
        assert!(uri.ends_with("/v1.2.3/kubectl-olm-v1.2.3-linux-amd64.tar.gz"), "{uri}");
    }
}
