//! The bundle that an author runs: from an image, or from a folder.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use olm_catalog::bundle::{RegistryV1, is_bundle};
use olm_client::contents::Images;
use serde_json::{Value, json};

/// A bundle that is in no catalog yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AuthorBundle {
    /// What was named on the command line.
    pub(super) name: String,
    /// Its package.
    pub(super) package: String,
    /// The channel that it is in: its default one, or the first.
    pub(super) channel: String,
    /// Name of its CSV.
    pub(super) csv: String,
    /// It as a part of a file-based catalog; with its manifests where it is in no image.
    blob: Value,
}

impl AuthorBundle {
    /// Reads the folder of that name, or pulls the image.
    ///
    /// # Errors
    /// It is neither, or makes no bundle.
    pub(super) async fn read(name: &str, images: &Images<'_>) -> Result<Self> {
        let folder = Path::new(name);
        let read = match is_bundle(folder) {
            true => RegistryV1::read(folder).map_err(|error| anyhow!("{error}")),
            false if folder.is_dir() => {
                Err(anyhow!("the folder holds no bundle: that has folders manifests and metadata"))
            }
            false => {
                let tree = images.tree(name).await?;
                RegistryV1::of_image(&tree, name).map_err(|error| anyhow!("{error}"))
            }
        };
        let bundle = read.with_context(|| format!("cannot use {name}"))?;
        Self::of(name, &bundle)
    }

    fn of(name: &str, bundle: &RegistryV1) -> Result<Self> {
        let mut blob = bundle.blob().map_err(|error| anyhow!("{error}"))?;
        if blob["image"].as_str().is_some_and(|image| !image.is_empty()) {
            without_manifests(&mut blob);
        }
        let annotations = bundle.annotations();
        let channels = annotations.channels.clone().unwrap_or_default();
        let first = channels.split(',').map(str::trim).find(|channel| !channel.is_empty());
        let default = annotations.default_channel.as_deref().filter(|name| !name.is_empty());
        let channel = default.or(first).context("its annotations name no channel")?;
        Ok(Self {
            name: name.to_owned(),
            package: bundle.package().to_owned(),
            channel: channel.to_owned(),
            csv: blob["name"].as_str().context("it has no name")?.to_owned(),
            blob,
        })
    }

    /// A catalog with nothing but the bundle, as documents.
    pub(super) fn catalog(&self) -> Vec<Value> {
        let (package, channel) = (&self.package, &self.channel);
        vec![
            json!({"schema": "olm.package", "name": package, "defaultChannel": channel}),
            json!({"schema": "olm.channel", "package": package, "name": channel,
                "entries": [{"name": self.csv}]}),
            self.blob.clone(),
        ]
    }
}

/// The manifests of a bundle in an image are unpacked from there.
fn without_manifests(blob: &mut Value) {
    if let Some(properties) = blob["properties"].as_array_mut() {
        properties.retain(|property| property["type"] != "olm.bundle.object");
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let [manifests, metadata] = ["manifests", "metadata"].map(|part| folder.path().join(part));
        fs::create_dir(&manifests).unwrap();
        fs::create_dir(&metadata).unwrap();
        let csv = json!({"apiVersion": "operators.coreos.com/v1alpha1",
            "kind": "ClusterServiceVersion", "metadata": {"name": "kettle.v1.0.0"},
            "spec": {"version": "1.0.0", "install": {"strategy": "deployment", "spec": {}}}});
        fs::write(manifests.join("csv.json"), csv.to_string()).unwrap();
        let annotations = "annotations:
  operators.operatorframework.io.bundle.mediatype.v1: registry+v1
  operators.operatorframework.io.bundle.manifests.v1: manifests/
  operators.operatorframework.io.bundle.metadata.v1: metadata/
  operators.operatorframework.io.bundle.package.v1: kettle
  operators.operatorframework.io.bundle.channels.v1: alpha,beta
  operators.operatorframework.io.bundle.channel.default.v1: beta
";
        fs::write(metadata.join("annotations.yaml"), annotations).unwrap();
        folder
    }

    #[test]
    fn a_folder_is_a_catalog_of_one_bundle_with_its_manifests() {
        let folder = folder();
        let read = RegistryV1::read(folder.path()).unwrap();
        let bundle = AuthorBundle::of("dir", &read).unwrap();
        assert_eq!((&*bundle.package, &*bundle.channel), ("kettle", "beta"));
        let catalog = bundle.catalog();
        assert_eq!(catalog[1]["entries"], json!([{"name": "kettle.v1.0.0"}]));
        assert!(catalog[2].to_string().contains("olm.bundle.object"));
    }

    #[test]
    fn what_is_in_an_image_stays_there() {
        let folder = folder();
        let mut read = RegistryV1::read(folder.path()).unwrap();
        read.set_image("quay.io/a/b:1");
        let bundle = AuthorBundle::of("quay.io/a/b:1", &read).unwrap();
        let blob = &bundle.catalog()[2];
        assert_eq!(blob["image"], "quay.io/a/b:1");
        assert!(!blob.to_string().contains("olm.bundle.object"), "{blob:#}");
    }
}
