//! An image on top of one that a registry holds, as `FROM` of a Dockerfile makes it.

use anyhow::{Context, Result};
use http::header::ACCEPT;
use http::{Method, StatusCode};
use hyper::body::Bytes;
use serde::de::DeserializeOwned;

use super::document::{Blob, Config, Descriptor, Execution, Manifest, media_type};
use super::push::{Push, Pushed};
use super::transport::Registry;
use super::{Image, Layer, Reference};

/// Pushes the layers of an image on top of those of another one, which the same registry holds. What
/// the upper image says of how it is run replaces what the lower one says.
///
/// # Errors
///
/// When the registry is away, does not hold the lower image, or refuses something; the message says
/// which request failed.
pub async fn push_on(
    lower: &Reference,
    upper: &Image,
    repository: &str,
    tag: &str,
) -> Result<Pushed> {
    let reference = Reference::new(lower.registry(), repository, tag)?;
    let what = || format!("cannot push {reference} on top of {lower}");
    let registry = Registry::at(lower.registry()).with_context(what)?;
    let held = Held { registry: registry.clone(), repository: lower.repository() };
    let (manifest, config) = held.documents(lower.tag()).await.with_context(what)?;
    let push = Push { registry, repository };
    for layer in &manifest.layers {
        held.mount(layer, repository).await.with_context(what)?;
    }
    for layer in upper.layers() {
        push.blob(layer.blob()).await.with_context(what)?;
    }
    let (manifest, config) = on_top(manifest, config, upper)?;
    push.blob(&config).await.with_context(what)?;
    push.manifest(&manifest, tag).await.with_context(what)?;
    Ok(Pushed { reference: reference.to_string(), digest: manifest.digest })
}

/// An image that a registry holds.
struct Held<'a> {
    registry: Registry,
    repository: &'a str,
}

impl Held<'_> {
    async fn documents(&self, tag: &str) -> Result<(Manifest, Config)> {
        let manifest: Manifest = self.document("manifests", tag, media_type::MANIFEST).await?;
        let config = self.document("blobs", &manifest.config.digest, media_type::CONFIG).await?;
        Ok((manifest, config))
    }

    async fn document<T: DeserializeOwned>(
        &self,
        kind: &str,
        name: &str,
        media_type: &str,
    ) -> Result<T> {
        let path = format!("/v2/{}/{kind}/{name}", self.repository);
        let header = Some((ACCEPT, media_type));
        let answer = self.registry.send(Method::GET, &path, header, Bytes::new()).await?;
        let answer = answer.expect("a document of the lower image", &[StatusCode::OK])?;
        serde_json::from_slice(answer.body()).with_context(|| format!("{path} is no {media_type}"))
    }

    /// The same layer in another repository: nothing is sent.
    async fn mount(&self, layer: &Descriptor, repository: &str) -> Result<()> {
        let (digest, from) = (&layer.digest, self.repository);
        let path = format!("/v2/{repository}/blobs/uploads/?mount={digest}&from={from}");
        let mounted = self.registry.send(Method::POST, &path, None, Bytes::new()).await?;
        mounted.expect("a layer of the lower image", &[StatusCode::CREATED]).map(drop)
    }
}

/// The documents of both images as one.
fn on_top(lower: Manifest, config: Config, upper: &Image) -> Result<(Blob, Blob)> {
    let over: Config = serde_json::from_slice(&upper.config.bytes).context("the upper config")?;
    let mut rootfs = config.rootfs;
    rootfs.diff_ids.extend(over.rootfs.diff_ids);
    let config = Config { config: replaced(config.config, over.config), rootfs, ..config };
    let config = Blob::json(media_type::CONFIG, &config)?;
    let layers = upper.layers().iter().map(Layer::blob).map(Blob::descriptor);
    let layers = lower.layers.into_iter().chain(layers).collect();
    let manifest = Manifest { config: config.descriptor(), layers, ..lower };
    Ok((Blob::json(media_type::MANIFEST, &manifest)?, config))
}

/// A command belongs to its entry point, so both are replaced together. User, environment and folder
/// stay those of the lower image.
fn replaced(mut lower: Execution, upper: Execution) -> Execution {
    if !upper.entrypoint.is_empty() {
        (lower.entrypoint, lower.cmd) = (upper.entrypoint, upper.cmd);
    }
    lower.labels.extend(upper.labels);
    lower
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_come_on_top_and_what_is_run_is_replaced() {
        let lower = Image::builder().file("/bin/opm", "program", 0o755).user("1001:0");
        let lower = lower.entrypoint(["/bin/olm"]).cmd(["--help"]).env("PATH", "/bin");
        let lower = lower.label("a", "lower").build().unwrap();
        let upper = Image::builder().file("/configs/a.json", "{}", 0o644).label("a", "upper");
        let upper = upper.entrypoint(["/bin/opm"]).cmd(["serve", "/configs"]).build().unwrap();
        let manifest = serde_json::from_slice(&lower.manifest.bytes).unwrap();
        let config = serde_json::from_slice(&lower.config.bytes).unwrap();
        let (manifest, config) = on_top(manifest, config, &upper).unwrap();
        let manifest: Manifest = serde_json::from_slice(&manifest.bytes).unwrap();
        assert_eq!(manifest.config.digest, config.digest);
        let digests: Vec<_> = manifest.layers.iter().map(|one| one.digest.as_str()).collect();
        assert_eq!(digests, [lower.layers()[0].digest(), upper.layers()[0].digest()]);
        let config: Config = serde_json::from_slice(&config.bytes).unwrap();
        let diff_ids = [lower.layers()[0].diff_id(), upper.layers()[0].diff_id()];
        assert_eq!(config.rootfs.diff_ids, diff_ids);
        let run = config.config;
        assert_eq!((run.user.as_str(), run.env), ("1001:0", vec!["PATH=/bin".to_owned()]));
        assert_eq!(
            (run.entrypoint, run.cmd),
            (vec!["/bin/opm".to_owned()], vec!["serve".to_owned(), "/configs".to_owned()])
        );
        assert_eq!(run.labels["a"], "upper");
    }
}
