//! File-based catalogs on disk.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::Bundle;

/// A package with its channels.
#[derive(Clone, Debug)]
pub struct Package {
    name: String,
    default_channel: String,
    channels: Vec<(String, Vec<Bundle>)>,
    deprecations: Vec<Value>,
}

impl Package {
    /// A package; its default channel is the first that is added.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            default_channel: String::new(),
            channels: Vec::new(),
            deprecations: Vec::new(),
        }
    }

    /// A package with one channel, `stable`, and one version.
    pub fn single(name: &str, bundle: Bundle) -> Self {
        Self::new(name).channel("stable", vec![bundle])
    }

    /// One more channel. A bundle may be in several.
    #[must_use]
    pub fn channel(mut self, name: &str, bundles: Vec<Bundle>) -> Self {
        if self.default_channel.is_empty() {
            self.default_channel = name.to_owned();
        }
        self.channels.push((name.to_owned(), bundles));
        self
    }

    /// Deprecates what `reference` names: `{"schema": …}`, and a name unless it is the package.
    #[must_use]
    pub fn deprecated(mut self, reference: Value, message: &str) -> Self {
        self.deprecations.push(json!({"reference": reference, "message": message}));
        self
    }

    /// Changes every manifest of every bundle.
    pub fn manifests(&mut self, mut change: impl FnMut(&mut Value)) {
        let bundles = self.channels.iter_mut().flat_map(|(_, bundles)| bundles);
        bundles.for_each(|bundle| bundle.manifests(&mut change));
    }

    /// The blobs of the package in the form of a catalog.
    fn blobs(&self) -> Vec<Value> {
        let package = json!({
            "schema": "olm.package",
            "name": self.name,
            "defaultChannel": self.default_channel,
        });
        let channels = self.channels.iter().map(|(name, bundles)| {
            let entries: Vec<Value> = bundles.iter().map(Bundle::channel_entry).collect();
            json!({"schema": "olm.channel", "package": self.name, "name": name, "entries": entries})
        });
        let mut all: Vec<Value> = [package].into_iter().chain(channels).collect();
        let mut seen = Vec::new();
        for bundle in self.channels.iter().flat_map(|(_, bundles)| bundles) {
            if !seen.contains(&&bundle.name) {
                seen.push(&bundle.name);
                all.push(bundle.blob(&self.name));
            }
        }
        all.extend(self.deprecations());
        all
    }

    fn deprecations(&self) -> Option<Value> {
        let blob = || json!({"schema": "olm.deprecations", "package": self.name, "entries": self.deprecations});
        (!self.deprecations.is_empty()).then(blob)
    }
}

/// A catalog on disk.
#[derive(Debug)]
pub struct CatalogDir {
    place: CatalogFolder,
}

#[derive(Debug)]
enum CatalogFolder {
    Temporary(TempDir),
    Existing(PathBuf),
}

impl CatalogDir {
    /// Writes one folder per package into a new directory, which is removed when dropped.
    pub fn of(packages: &[Package]) -> Result<Self> {
        let dir = tempfile::tempdir().context("cannot create a directory")?;
        let catalog = Self { place: CatalogFolder::Temporary(dir) };
        for package in packages {
            let text: String = package.blobs().iter().map(|blob| format!("{blob}\n")).collect();
            catalog.add_file(&format!("{}/catalog.json", package.name), &text)?;
        }
        Ok(catalog)
    }

    /// A catalog that another program wrote; it stays when dropped.
    pub fn existing(path: PathBuf) -> Self {
        Self { place: CatalogFolder::Existing(path) }
    }

    /// Adds a file, whatever it holds.
    pub fn add_file(&self, name: &str, text: &str) -> Result<()> {
        let path = self.path().join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).context("cannot create a folder of a catalog")?;
        }
        fs::write(path, text).context("cannot write a catalog")
    }

    /// The root of the catalog.
    pub fn path(&self) -> &Path {
        match &self.place {
            CatalogFolder::Temporary(dir) => dir.path(),
            CatalogFolder::Existing(path) => path,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builders::csv;

    #[test]
    fn a_bundle_in_two_channels_is_written_once() {
        let old = Bundle::new("1.0.0", &csv("a.v1.0.0", "1.0.0"));
        let new = Bundle::new("1.1.0", &csv("a.v1.1.0", "1.1.0")).replaces("a.v1.0.0");
        let package =
            Package::new("a").channel("stable", vec![old.clone()]).channel("fast", vec![old, new]);
        let blobs = package.blobs();
        let of = |schema: &str| blobs.iter().filter(|blob| blob["schema"] == schema).count();
        assert_eq!((of("olm.package"), of("olm.channel"), of("olm.bundle")), (1, 2, 2));
        assert_eq!(blobs[0]["defaultChannel"], "stable");
        assert_eq!(blobs[2]["entries"][1]["replaces"], "a.v1.0.0");
    }
}
