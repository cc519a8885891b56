//! The Helm chart as one archive, as `helm package` names it; the same bytes for the same chart.
//!
//! Not `helm package` itself: it writes the time of day into the archive, so that no two are the same, and
//! a release would need a Go toolchain. The scenario `deploy::helm_says_the_same` plays the real helm.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use flate2::{Compression, GzBuilder};
use tar::{Builder, Header};

use super::VERSION;
use xtask::workspace::root;

/// The name of the chart, which is the folder in the archive, too.
const NAME: &str = "olm";

/// Names the files that do not go along.
const IGNORED: &str = ".helmignore";

/// Writes the archive into the folder.
pub(super) fn write(out: &Path) -> Result<()> {
    let files = files(&root().join("deploy/chart"))?;
    let about = files.get("Chart.yaml").context("the chart has no Chart.yaml")?;
    let about = std::str::from_utf8(about).context("Chart.yaml is no text")?;
    let is_named = |line: &str| about.lines().any(|own| own == line);
    ensure!(is_named(&format!("name: {NAME}")), "the chart is not called {NAME}");
    ensure!(is_named(&format!("version: {VERSION}")), "the chart has another version");
    let path = out.join(format!("{NAME}-{VERSION}.tgz"));
    let file = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
    // Without a time, so that the bytes depend on the content alone.
    let compressed = GzBuilder::new().mtime(0).write(file, Compression::best());
    let mut archive = Builder::new(compressed);
    for (name, content) in &files {
        let mut header = Header::new_ustar();
        header.set_size(content.len().try_into().context("a file of the chart is too large")?);
        header.set_mode(0o644);
        header.set_mtime(0);
        archive
            .append_data(&mut header, format!("{NAME}/{name}"), content.as_slice())
            .with_context(|| format!("cannot archive {name}"))?;
    }
    let compressed = archive.into_inner().context("cannot end the archive")?;
    compressed.finish().context("cannot end the archive")?;
    Ok(())
}

/// Content of the files of the chart, by path from its folder.
fn files(chart: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let ignored = fs::read_to_string(chart.join(IGNORED)).context("cannot read .helmignore")?;
    let is_left_out = |name: &str| name == IGNORED || ignored.lines().any(|line| line == name);
    let mut found = BTreeMap::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let list = fs::read_dir(chart.join(&folder)).context("cannot list the chart")?;
        for entry in list {
            let name = entry.context("cannot list the chart")?.file_name();
            let name = format!("{folder}{}", name.to_string_lossy());
            let path = chart.join(&name);
            // Links are followed: the definitions of the chart are those of deploy/crds.
            if path.is_dir() {
                folders.push(format!("{name}/"));
            } else if !is_left_out(&name) {
                let content = fs::read(&path).with_context(|| format!("cannot read {name}"))?;
                found.insert(name, content);
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;
    use tar::Archive;

    use super::*;

    fn written() -> Vec<u8> {
        let out = tempfile::tempdir().unwrap();
        write(out.path()).unwrap();
        fs::read(out.path().join(format!("{NAME}-{VERSION}.tgz"))).unwrap()
    }

    #[test]
    fn the_archive_has_every_file_and_the_same_bytes_each_time() {
        let bytes = written();
        assert_eq!(bytes, written());
        let mut archive = Archive::new(GzDecoder::new(bytes.as_slice()));
        let mut found = BTreeMap::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let name = entry.path().unwrap().to_string_lossy().into_owned();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            found.insert(name.strip_prefix("olm/").unwrap().to_owned(), content);
        }
        assert_eq!(found, files(&root().join("deploy/chart")).unwrap());
        let definitions = found.keys().filter(|name| name.starts_with("crds/")).count();
        assert_eq!(definitions, 8, "without what belongs to kustomize");
        assert!(found.contains_key("values.yaml") && found.contains_key("monitoring/alerts.yaml"));
    }
}
