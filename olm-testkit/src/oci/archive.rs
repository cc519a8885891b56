//! The OCI image layout as one tar file.
//!
//! `manifest.json` is no part of the layout; `docker load` of before version 25 reads it, and
//! every other reader passes over it.

use std::collections::BTreeMap;
use std::fs::{File, Permissions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::json;
use tar::{EntryType, Header};

use super::digest::blob_path;
use super::document::{self, Index, media_type};
use super::{Image, Reference};

/// The name of an image, where tools of the OCI look.
const REF_NAME: &str = "org.opencontainers.image.ref.name";

/// The name of an image, where containerd looks first.
const CONTAINERD_NAME: &str = "io.containerd.image.name";

/// Writes the archive beside its place and moves it there when it is whole.
pub(super) fn write(image: &Image, path: &Path) -> Result<()> {
    let what = || format!("cannot write {}", path.display());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    // Like any file: the user's mask decides. A temporary one would be for its owner alone.
    let readable = Permissions::from_mode(0o666);
    let mut temporary = tempfile::Builder::new();
    let mut file = temporary.permissions(readable).tempfile_in(folder).with_context(what)?;
    write_to(image, BufWriter::new(file.as_file_mut())).with_context(what)?;
    file.persist(path).map_err(|error| error.error).with_context(what)?;
    Ok(())
}

fn write_to(image: &Image, out: BufWriter<&mut File>) -> Result<()> {
    let mut archive = tar::Builder::new(out);
    for directory in ["blobs/", "blobs/sha256/"] {
        append(&mut archive, directory, &[])?;
    }
    let blobs: BTreeMap<String, &[u8]> =
        image.blobs().map(|blob| (blob_path(&blob.digest), blob.bytes.as_ref())).collect();
    for (path, bytes) in blobs {
        append(&mut archive, &path, bytes)?;
    }
    append(&mut archive, "index.json", &serde_json::to_vec(&index(image))?)?;
    append(&mut archive, "manifest.json", &serde_json::to_vec(&docker_manifest(image))?)?;
    append(&mut archive, "oci-layout", br#"{"imageLayoutVersion":"1.0.0"}"#)?;
    archive.into_inner()?.flush()?;
    Ok(())
}

/// A path that ends with a slash is a directory.
fn append(archive: &mut tar::Builder<impl Write>, path: &str, bytes: &[u8]) -> Result<()> {
    let mut header = Header::new_gnu();
    let (kind, mode) = match path.ends_with('/') {
        true => (EntryType::Directory, 0o755),
        false => (EntryType::Regular, 0o644),
    };
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(bytes.len() as u64);
    archive.append_data(&mut header, path, bytes)?;
    Ok(())
}

fn index(image: &Image) -> Index {
    let mut descriptor = image.manifest.descriptor();
    descriptor.platform = Some(document::platform());
    if let Some(reference) = &image.reference {
        let names = [CONTAINERD_NAME, REF_NAME].map(str::to_owned);
        descriptor.annotations = names.map(|name| (name, reference.to_string())).into();
    }
    Index {
        schema_version: 2,
        media_type: media_type::INDEX.to_owned(),
        manifests: vec![descriptor],
    }
}

fn docker_manifest(image: &Image) -> serde_json::Value {
    let tags: Vec<String> = image.reference.iter().map(Reference::to_string).collect();
    let layers: Vec<String> =
        image.layers.iter().map(|layer| blob_path(&layer.blob().digest)).collect();
    json!([{
        "Config": blob_path(&image.config.digest),
        "Layers": layers,
        "RepoTags": tags,
    }])
}
