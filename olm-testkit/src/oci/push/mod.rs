//! Pushing an image over the distribution API: blobs first, the manifest last. `oci-client` would push as well, but
//! it brings a second HTTP client and its TLS into every build of the tests for two kinds of requests.

use anyhow::{Context, Result, anyhow, ensure};
use http::header::{CONTENT_TYPE, LOCATION};
use http::{Method, StatusCode, Uri};
use hyper::body::Bytes;

use super::document::Blob;
use super::transport::Registry;
use super::{Image, Reference};

/// An image in a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// `REGISTRY/NAME:TAG`.
    pub reference: String,
    /// `sha256:…` of the manifest.
    pub digest: String,
}

impl Pushed {
    /// `REGISTRY/NAME@sha256:…`: the image whatever becomes of the tag.
    pub fn pinned(&self) -> String {
        let name = self.reference.rsplit_once(':').map_or("", |(name, _)| name);
        format!("{name}@{}", self.digest)
    }
}

/// Pushes an image to a registry (`HOST[:PORT]`) on this machine or in its private network, over
/// plain HTTP. Blobs that the repository has are not sent again.
///
/// # Errors
///
/// When a part of the reference is wrong, the registry is away or far, or refuses something; the
/// message says which request failed and what would help.
pub async fn push(image: &Image, registry: &str, repository: &str, tag: &str) -> Result<Pushed> {
    let reference = Reference::new(registry, repository, tag)?;
    let what = || format!("cannot push {reference}");
    let push = Push { registry: Registry::at(registry).with_context(what)?, repository };
    for blob in image.blobs().filter(|blob| blob.digest != image.digest()) {
        push.blob(blob).await.with_context(what)?;
    }
    push.manifest(&image.manifest, tag).await.with_context(what)?;
    Ok(Pushed { reference: reference.to_string(), digest: image.digest().to_owned() })
}

/// Asks whether a push to a registry could succeed, for those who want to know before they build.
///
/// # Errors
///
/// As [`push`], for the registry alone.
pub async fn reach(registry: &str) -> Result<()> {
    let what = || format!("cannot push to {registry}");
    let answer = Registry::at(registry)?.send(Method::GET, "/v2/", None, Bytes::new()).await;
    answer.with_context(what)?.expect("a greeting", &[StatusCode::OK]).with_context(what)?;
    Ok(())
}

/// The way into one repository.
pub(super) struct Push<'a> {
    pub(super) registry: Registry,
    pub(super) repository: &'a str,
}

impl Push<'_> {
    pub(super) async fn blob(&self, blob: &Blob) -> Result<()> {
        let path = format!("/v2/{}/blobs/{}", self.repository, blob.digest);
        let head = self.registry.send(Method::HEAD, &path, None, Bytes::new()).await?;
        match head.status {
            StatusCode::OK => Ok(()),
            _ => {
                head.expect("a question for a blob", &[StatusCode::NOT_FOUND])?;
                self.upload(blob).await
            }
        }
    }

    /// The upload in one piece: the registry names a place, and the blob goes there.
    async fn upload(&self, blob: &Blob) -> Result<()> {
        let path = format!("/v2/{}/blobs/uploads/", self.repository);
        let begun = self.registry.send(Method::POST, &path, None, Bytes::new()).await?;
        let begun = begun.expect("the begin of an upload", &[StatusCode::ACCEPTED])?;
        let place = begun.header(LOCATION.as_str()).and_then(local_path);
        let place = place.ok_or_else(|| anyhow!("the registry names no place for an upload"))?;
        let separator = if place.contains('?') { '&' } else { '?' };
        let place = format!("{place}{separator}digest={}", blob.digest);
        let header = Some((CONTENT_TYPE, "application/octet-stream"));
        let sent = self.registry.send(Method::PUT, &place, header, blob.bytes.clone()).await?;
        sent.expect("a blob", &[StatusCode::CREATED])?;
        Ok(())
    }

    pub(super) async fn manifest(&self, manifest: &Blob, tag: &str) -> Result<()> {
        let path = format!("/v2/{}/manifests/{tag}", self.repository);
        let header = Some((CONTENT_TYPE, manifest.media_type));
        let sent = self.registry.send(Method::PUT, &path, header, manifest.bytes.clone()).await?;
        let sent = sent.expect("the manifest", &[StatusCode::CREATED])?;
        let stored = sent.header("docker-content-digest").unwrap_or(&manifest.digest);
        ensure!(
            stored == manifest.digest,
            "the registry stored the manifest as {stored} instead of {}",
            manifest.digest
        );
        Ok(())
    }
}

/// Path and query of a location, which may be absolute. The host in it does not matter: a
/// registry behind a forwarded port names itself as it knows itself.
fn local_path(location: &str) -> Option<String> {
    let uri: Uri = location.parse().ok()?;
    Some(uri.path_and_query()?.as_str().to_owned())
}

#[cfg(test)]
mod tests;
