//! The manifests of bundles. Catalogs of today do not hold them, so they are looked for in this order: the
//! steps of an InstallPlan that was made already, the ConfigMap that the bundle was unpacked into, its catalog,
//! its image, a folder.

mod config_map;
mod folder;
mod image;
mod mirrors;
mod registry_config;
mod steps;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use olm_lifecycle::unpack::UnpackedBundle;
use olm_plan::preview::{Content, Known};
use olm_types::bundle::{BundleContent, Entry};

use crate::catalogs::Catalogs;
use crate::cluster::Cluster;

pub use image::{Images, Pulling};

/// What is done about manifests that are nowhere.
const HELP: &str = "--bundles FOLDER reads bundles from a folder";

/// Where manifests are looked for.
pub struct Contents<'a> {
    /// What is known of the cluster.
    pub cluster: Option<&'a Cluster>,
    /// Catalogs may hold manifests.
    pub catalogs: &'a Catalogs,
    /// How images are pulled; none where nothing may be asked.
    pub images: Option<Images<'a>>,
    /// A folder with bundles.
    pub folder: Option<PathBuf>,
}

impl<'a> Contents<'a> {
    /// Everything there is beside a cluster.
    pub fn of(
        cluster: &'a Cluster,
        catalogs: &'a Catalogs,
        pulling: &'a Pulling,
        folder: Option<PathBuf>,
    ) -> Self {
        let images = Some(Images::new(cluster, pulling, &cluster.cache));
        Self { cluster: Some(cluster), catalogs, images, folder }
    }

    /// The manifests of a bundle, or why there are none.
    pub async fn read(&self, entry: &Entry, known: &Known) -> Content {
        if let Some(found) = steps::bundle(known, entry) {
            return Content::Read(Arc::new(found));
        }
        let found = match &entry.content {
            BundleContent::Inline => self.of_catalog(entry).await,
            BundleContent::Image(image) => self.of_image(entry, image, known).await,
        };
        let why = match found {
            Ok(found) => return Content::Read(Arc::new(found)),
            Err(why) => why,
        };
        let Some(folder) = self.folder.as_deref() else {
            return Content::Unknown(format!("{why}; {HELP}"));
        };
        match folder::bundle(folder, entry) {
            Some(found) => Content::Read(Arc::new(found)),
            None => {
                let folder = folder.display();
                Content::Unknown(format!("{why}; {folder} has no bundle of that name either"))
            }
        }
    }

    async fn of_catalog(&self, entry: &Entry) -> Result<UnpackedBundle, String> {
        let found = self.catalogs.bundle(entry).await.map_err(|error| format!("{error:#}"))?;
        let (csv_name, csv_json, objects) = (found.name, found.csv_json, found.objects);
        Ok(UnpackedBundle { csv_name, csv_json, objects })
    }

    async fn of_image(
        &self,
        entry: &Entry,
        image: &str,
        known: &Known,
    ) -> Result<UnpackedBundle, String> {
        let stored = match self.cluster {
            Some(cluster) => config_map::read(cluster, entry, image).await,
            None => config_map::known(known, entry, image),
        };
        match (stored, &self.images) {
            (Some(found), _) => Ok(found),
            (None, Some(images)) => images.bundle(image).await.map_err(|why| format!("{why:#}")),
            (None, None) => Err("--offline pulls nothing".to_owned()),
        }
    }
}
