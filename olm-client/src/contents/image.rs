//! Bundle images, pulled and unpacked as OLM does it.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use k8s_openapi::api::core::v1::ConfigMap;
use olm_catalog::bundle::config_map::{DATA_BYTES, Encoding, Options, write};
use olm_catalog::bundle::unpack;
use olm_catalog::image::{ImageReference, Keychain, Limits, Registry, RegistryOptions, Tree, pull};
use olm_catalog::registry::client::Proxy;
use olm_effect::Resource;
use olm_lifecycle::unpack::UnpackedBundle;
use olm_types::document::{Budget, json_as};
use serde::{Deserialize, Serialize};
use tokio::sync::OnceCell;

use super::config_map::bundle_in;
use super::mirrors::{self, Mirror};
use super::registry_config;
use crate::catalogs::{Cache, CacheSection};
use crate::cluster::Cluster;

/// Longest pull of one image.
const LONGEST: Duration = Duration::from_secs(120);

/// How bundle images are pulled.
#[derive(Args, Clone, Debug, Default)]
pub struct Pulling {
    /// File with credentials for registries; otherwise those of podman or docker
    #[arg(long, value_name = "FILE")]
    pub registry_config: Option<PathBuf>,
    /// Another place of images, such as quay.io=registry.example.com/quay; repeatable
    #[arg(long, value_name = "SOURCE=MIRROR")]
    pub mirror: Vec<Mirror>,
    /// Registry (HOST or HOST:PORT) that is asked without TLS; repeatable
    #[arg(long, value_name = "REGISTRY")]
    pub insecure_registry: Vec<String>,
    /// Pull no bundle images: what is only there is unknown
    #[arg(long)]
    pub no_pull: bool,
}

/// Pulls bundle images.
pub struct Images<'a> {
    cluster: &'a Cluster,
    pulling: &'a Pulling,
    cache: &'a Cache,
    ready: OnceCell<Ready>,
}

/// What is needed once the first image is pulled.
struct Ready {
    registry: Registry,
    keychain: Keychain,
    mirrors: Vec<Mirror>,
}

/// A bundle as it is kept.
#[derive(Deserialize, Serialize)]
struct StoredBundle {
    name: String,
    csv: String,
    objects: Vec<String>,
}

impl<'a> Images<'a> {
    /// Nothing is pulled yet.
    pub fn new(cluster: &'a Cluster, pulling: &'a Pulling, cache: &'a Cache) -> Self {
        Self { cluster, pulling, cache, ready: OnceCell::new() }
    }

    /// The bundle in an image. One with a digest is pulled once.
    ///
    /// # Errors
    /// The image is unavailable, or holds no bundle.
    pub async fn bundle(&self, image: &str) -> Result<UnpackedBundle> {
        if self.pulling.no_pull {
            bail!("--no-pull: nothing is pulled");
        }
        let reference: ImageReference = image.parse().map_err(|error| anyhow!("{error}"))?;
        let digest = reference.digest().and_then(|digest| digest.strip_prefix("sha256:"));
        let kept = digest.and_then(|digest| self.cache.read(CacheSection::Bundles, digest));
        if let Some(found) = kept.and_then(|bytes| read(&bytes)) {
            return Ok(found);
        }
        let found = unpacked(&self.tree(image).await?, image)?;
        if let (Some(digest), Some(bytes)) = (digest, kept_form(&found)) {
            self.cache.write(CacheSection::Bundles, digest, &bytes);
        }
        Ok(found)
    }

    /// The files of an image.
    ///
    /// # Errors
    /// The image is unavailable.
    pub async fn tree(&self, image: &str) -> Result<Tree> {
        self.cluster.notices.slow(&format!("pulling {image}"), self.pulled(image)).await
    }

    /// From the first of its places that has it.
    async fn pulled(&self, image: &str) -> Result<Tree> {
        let ready = self.ready.get_or_try_init(|| self.prepare()).await?;
        let mut failures = Vec::new();
        for place in mirrors::places(image, &ready.mirrors) {
            match tokio::time::timeout(LONGEST, ready.pulled(&place)).await {
                Ok(Ok(found)) => return Ok(found),
                Ok(Err(error)) => failures.push(format!("{error:#}")),
                Err(_) => failures.push(format!("{place} was not there in time")),
            }
        }
        bail!("{}", failures.join("; "))
    }

    async fn prepare(&self) -> Result<Ready> {
        let options = RegistryOptions {
            without_tls: self.pulling.insecure_registry.to_vec(),
            proxy: Proxy::for_images(|name| std::env::var(name).ok()),
            ..RegistryOptions::default()
        };
        let registry = Registry::with(options);
        let registry = registry.context("there are no usable certificates of authorities")?;
        let keychain = registry_config::keychain(self.pulling.registry_config.as_deref())?;
        let mut mirrors = self.pulling.mirror.clone();
        for [group, version, kind, plural, list] in mirrors::KINDS {
            mirrors.extend(self.mirrors_of_cluster([group, version, kind, plural], list).await);
        }
        Ok(Ready { registry, keychain, mirrors })
    }

    /// Those of OpenShift, where they are there and may be read.
    async fn mirrors_of_cluster(&self, names: [&str; 4], list: &str) -> Vec<Mirror> {
        let [group, version, kind, plural] = names;
        let api = self.cluster.objects(&Resource::new(group, version, kind, plural), None);
        let found = self.cluster.list(&api).await.unwrap_or_default();
        found.iter().flat_map(|object| mirrors::of_object(&object.data, list)).collect()
    }
}

impl Ready {
    async fn pulled(&self, image: &str) -> Result<Tree> {
        let reference: ImageReference = image.parse().map_err(|error| anyhow!("{error}"))?;
        Ok(pull(&self.registry, &reference, &self.keychain, &Limits::default()).await?)
    }
}

/// The bundle in the files of an image, as it would be in its ConfigMap.
fn unpacked(tree: &Tree, image: &str) -> Result<UnpackedBundle> {
    let folder = unpack(tree)?;
    let mut into = ConfigMap::default();
    let image = image.to_owned();
    write(&mut into, &folder, &Options { encoding: Encoding::Gzip, limit: DATA_BYTES, image })?;
    bundle_in(&into).context("the bundle in the image has no CSV")
}

fn read(bytes: &[u8]) -> Option<UnpackedBundle> {
    let StoredBundle { name, csv, objects } = json_as(bytes, &Budget::BUNDLE).ok()?;
    Some(UnpackedBundle { csv_name: name, csv_json: csv, objects })
}

fn kept_form(bundle: &UnpackedBundle) -> Option<Vec<u8>> {
    let UnpackedBundle { csv_name, csv_json, objects } = bundle.clone();
    serde_json::to_vec(&StoredBundle { name: csv_name, csv: csv_json, objects }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_again() {
        let bundle = UnpackedBundle {
            csv_name: "a.v1".to_owned(),
            csv_json: r#"{"kind":"ClusterServiceVersion"}"#.to_owned(),
            objects: vec!["{}".to_owned()],
        };
        assert_eq!(read(&kept_form(&bundle).unwrap()), Some(bundle));
        assert_eq!(read(b"\xff"), None);
        assert_eq!(read(b"{}"), None);
    }
}
