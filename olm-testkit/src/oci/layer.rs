//! One layer: files, directories and links as a compressed tar archive.
//!
//! Everything belongs to root, has modification time zero and is sorted by path, so that a layer
//! depends on nothing but its entries.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail, ensure};
use flate2::{Compression, GzBuilder};
use tar::{EntryType, Header};

use super::digest::sha256;
use super::document::{Blob, media_type};

/// The mode of directories without an entry of their own.
const PARENT_MODE: u32 = 0o755;

/// A layer as it is stored and transferred.
#[derive(Clone, Debug)]
pub struct Layer {
    blob: Blob,
    diff_id: String,
    uncompressed: u64,
}

impl Layer {
    /// `sha256:…` of the compressed layer.
    pub fn digest(&self) -> &str {
        &self.blob.digest
    }

    /// `sha256:…` of the layer before compression.
    pub fn diff_id(&self) -> &str {
        &self.diff_id
    }

    /// Bytes that are transferred.
    pub fn size(&self) -> u64 {
        self.blob.size()
    }

    /// Bytes before compression.
    pub fn uncompressed_size(&self) -> u64 {
        self.uncompressed
    }

    pub(super) fn blob(&self) -> &Blob {
        &self.blob
    }
}

/// Something at a path of the image.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) path: String,
    pub(super) content: Content,
}

/// What is at a path.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Directory { mode: u32 },
    File { bytes: Vec<u8>, mode: u32 },
    Symlink { target: String },
    HardLink { target: String },
}

/// Packs a layer. `known` are the directories of the layers below; those of this one are added.
pub(super) fn pack(entries: Vec<Entry>, known: &mut BTreeSet<String>) -> Result<Layer> {
    let entries = arrange(entries, known)?;
    let mut archive = tar::Builder::new(Vec::new());
    for entry in &entries {
        append(&mut archive, entry).with_context(|| format!("cannot pack /{}", entry.path))?;
    }
    of_archive(&archive.into_inner().context("cannot end the archive of a layer")?)
}

/// A layer of an archive, whatever that holds.
pub(super) fn of_archive(tar: &[u8]) -> Result<Layer> {
    let blob = Blob::new(media_type::LAYER, compress(tar)?);
    Ok(Layer { blob, diff_id: sha256(tar), uncompressed: tar.len() as u64 })
}

/// Adds missing parents and sorts: whatever an entry needs comes before it.
fn arrange(entries: Vec<Entry>, known: &mut BTreeSet<String>) -> Result<Vec<Entry>> {
    let mut arranged = Vec::new();
    let mut paths = BTreeSet::new();
    for mut entry in entries {
        entry.path = relative(&entry.path)?;
        ensure!(paths.insert(entry.path.clone()), "a layer has two entries for /{}", entry.path);
        if let Content::HardLink { target } = &mut entry.content {
            *target = relative(target)?;
        }
        arranged.push(entry);
    }
    check_hard_links(&arranged, &paths)?;
    let directories = arranged.iter().filter(|e| matches!(e.content, Content::Directory { .. }));
    known.extend(directories.map(|entry| entry.path.clone()));
    arranged.extend(missing_parents(&paths, known));
    arranged.sort_by_cached_key(|entry| (is_hard_link(entry), entry.path.clone()));
    Ok(arranged)
}

/// A link to a file of another layer would be lost when layers are unpacked one by one.
fn check_hard_links(entries: &[Entry], paths: &BTreeSet<String>) -> Result<()> {
    for entry in entries {
        if let Content::HardLink { target } = &entry.content {
            let path = &entry.path;
            ensure!(paths.contains(target), "/{path} is a link to /{target}, not in its layer");
        }
    }
    Ok(())
}

fn missing_parents(paths: &BTreeSet<String>, known: &mut BTreeSet<String>) -> Vec<Entry> {
    let mut missing = Vec::new();
    for path in paths {
        for (end, _) in path.match_indices('/') {
            let parent = path.get(..end).unwrap_or_default().to_owned();
            if known.insert(parent.clone()) {
                let content = Content::Directory { mode: PARENT_MODE };
                missing.push(Entry { path: parent, content });
            }
        }
    }
    missing
}

fn is_hard_link(entry: &Entry) -> bool {
    matches!(entry.content, Content::HardLink { .. })
}

/// A path of the image as archives spell it: without the first slash, and leading nowhere else.
fn relative(path: &str) -> Result<String> {
    let trimmed = path.trim_matches('/');
    let bad = |part: &str| matches!(part, "" | "." | "..") || part.contains('\0');
    if trimmed.split('/').any(bad) {
        bail!("{path:?} is not a path inside an image; it must be like /bin/tool");
    }
    Ok(trimmed.to_owned())
}

fn append(archive: &mut tar::Builder<Vec<u8>>, entry: &Entry) -> Result<()> {
    let mut header = Header::new_gnu();
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(0);
    match &entry.content {
        Content::Directory { mode } => {
            header.set_entry_type(EntryType::Directory);
            header.set_mode(*mode);
            let path = format!("{}/", entry.path);
            archive.append_data(&mut header, path, &[][..])?;
        }
        Content::File { bytes, mode } => {
            header.set_entry_type(EntryType::Regular);
            header.set_mode(*mode);
            header.set_size(bytes.len() as u64);
            archive.append_data(&mut header, &entry.path, bytes.as_slice())?;
        }
        Content::Symlink { target } => {
            header.set_entry_type(EntryType::Symlink);
            header.set_mode(0o777);
            archive.append_link(&mut header, &entry.path, target)?;
        }
        Content::HardLink { target } => {
            header.set_entry_type(EntryType::Link);
            header.set_mode(PARENT_MODE);
            archive.append_link(&mut header, &entry.path, target)?;
        }
    }
    Ok(())
}

fn compress(tar: &[u8]) -> Result<Vec<u8>> {
    let gzip = GzBuilder::new().mtime(0).operating_system(255);
    let mut encoder = gzip.write(Vec::new(), Compression::new(6));
    std::io::Write::write_all(&mut encoder, tar).context("cannot compress a layer")?;
    encoder.finish().context("cannot compress a layer")
}
