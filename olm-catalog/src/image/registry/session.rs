//! A registry that let us in, and what is pulled from it.

use std::io;

use ::http::Method;
use sha2::{Digest, Sha256};
use tokio::fs::File;
use tokio::io::AsyncWriteExt;

use super::ImageError;
use super::access::Access;
use super::response::{RegistryResponse, wrong_length};
use crate::image::manifest::{Descriptor, hex_of, is_sha256, same, verify};

/// Most bytes of a manifest; what registries take.
pub(super) const MANIFEST: u64 = 4 << 20;

/// A registry that let us in, and the manifest it gave us.
#[derive(Debug)]
pub(in super::super) struct Session {
    access: Access,
    manifest: Vec<u8>,
}

impl Session {
    /// Gets the manifest of the image.
    pub(super) async fn begin(mut access: Access) -> Result<Self, ImageError> {
        let image = access.image().clone();
        let what = image.to_string();
        let answer = access.ask(Method::GET, "manifests", image.version()).await?;
        let manifest = answer.granted(&image, &what).await?.bytes(&what, MANIFEST).await?;
        if let Some(expected) = image.digest() {
            verify(&format!("the manifest of {image}"), expected, &manifest)?;
        }
        Ok(Self { access, manifest })
    }

    /// The manifest that the image's reference names.
    pub(in super::super) fn manifest(&self) -> &[u8] {
        &self.manifest
    }

    /// Another manifest of the repository, which a list names. Lists may leave out how long it is.
    pub(in super::super) async fn manifest_of(
        &mut self,
        listed: &Descriptor,
    ) -> Result<Vec<u8>, ImageError> {
        let (answer, what) = self.request("manifests", &listed.digest).await?;
        let bytes = match listed.size {
            0 => answer.bytes(&what, MANIFEST).await?,
            1..=MANIFEST => answer.exactly(&what, listed.size).await?,
            _ => return Err(ImageError::TooMuch { what, limit: MANIFEST, unit: "bytes" }),
        };
        verify(&what, &listed.digest, &bytes)?;
        Ok(bytes)
    }

    /// A layer of `size` bytes.
    pub(in super::super) async fn blob(
        &mut self,
        digest: &str,
        size: u64,
    ) -> Result<Vec<u8>, ImageError> {
        let (answer, what) = self.request("blobs", digest).await?;
        let bytes = answer.exactly(&what, size).await?;
        verify(&what, digest, &bytes)?;
        Ok(bytes)
    }

    /// Writes a layer of `size` bytes to a file, piece by piece. What was written when this fails is
    /// of no use.
    pub(in super::super) async fn blob_into(
        &mut self,
        digest: &str,
        size: u64,
        file: &mut File,
    ) -> Result<(), ImageError> {
        let (answer, what) = self.request("blobs", digest).await?;
        let announced = answer.length();
        let mut content = answer.content();
        let (mut hash, mut written) = (Sha256::new(), 0_u64);
        while let Some(piece) = content.piece().await? {
            written = written.saturating_add(piece.len() as u64);
            if written > size {
                return Err(wrong_length(&what, size, announced));
            }
            hash.update(&piece);
            file.write_all(&piece).await.map_err(|error| unwritten(&what, &error))?;
        }
        file.flush().await.map_err(|error| unwritten(&what, &error))?;
        if written < size {
            return Err(wrong_length(&what, size, Some(written)));
        }
        same(&what, digest, hex_of(&hash.finalize()))
    }

    /// Asks for something by its digest; also says what that is, for errors.
    async fn request(
        &mut self,
        kind: &str,
        digest: &str,
    ) -> Result<(RegistryResponse, String), ImageError> {
        let image = self.access.image().clone();
        if !is_sha256(digest) {
            let what = format!("the manifest of {image}");
            let why = "what it names as a digest is none by SHA-256".to_owned();
            return Err(ImageError::Malformed { what, why });
        }
        let what = format!("{} {digest} of {image}", kind.trim_end_matches('s'));
        let answer = self.access.ask(Method::GET, kind, digest).await?;
        Ok((answer.granted(&image, &what).await?, what))
    }
}

fn unwritten(what: &str, error: &io::Error) -> ImageError {
    ImageError::Disk { what: what.to_owned(), why: error.to_string() }
}
