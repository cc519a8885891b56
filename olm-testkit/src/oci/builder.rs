//! Describing an image step by step.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::document::{
    self, Blob, CREATED, Config, Execution, Manifest, Present, RootFs, media_type,
};
use super::layer::{self, Content, Entry, Layer};
use super::{Image, Reference};

/// An image to be. Paths are absolute paths inside the image; missing parent directories are
/// added. What is wrong with a description is said by [`Self::build`].
#[derive(Clone, Debug)]
#[must_use]
pub struct ImageBuilder {
    reference: Option<Reference>,
    layers: Vec<Vec<Entry>>,
    /// Archives on top of these.
    archives: Vec<Vec<u8>>,
    env: BTreeMap<String, String>,
    execution: Execution,
    annotations: BTreeMap<String, String>,
}

impl Default for ImageBuilder {
    fn default() -> Self {
        Self {
            reference: None,
            layers: vec![Vec::new()],
            archives: Vec::new(),
            env: BTreeMap::new(),
            execution: Execution::default(),
            annotations: BTreeMap::new(),
        }
    }
}

impl ImageBuilder {
    /// The name under which the archive is imported. It is no part of the digest.
    pub fn reference(mut self, reference: Reference) -> Self {
        self.reference = Some(reference);
        self
    }

    /// A directory.
    pub fn directory(self, path: &str, mode: u32) -> Self {
        self.entry(path, Content::Directory { mode })
    }

    /// A file.
    pub fn file(self, path: &str, bytes: impl Into<Vec<u8>>, mode: u32) -> Self {
        self.entry(path, Content::File { bytes: bytes.into(), mode })
    }

    /// A symbolic link.
    pub fn link(self, path: &str, target: &str) -> Self {
        self.entry(path, Content::Symlink { target: target.to_owned() })
    }

    /// A second name of a file of the same layer: whoever copies either copies the whole file.
    pub fn hard_link(self, path: &str, target: &str) -> Self {
        self.entry(path, Content::HardLink { target: target.to_owned() })
    }

    /// Begins another layer; what follows goes into it.
    pub fn layer(mut self) -> Self {
        self.layers.push(Vec::new());
        self
    }

    /// A layer on top of all others that is a tar archive, whatever that holds: what no good image
    /// has, for tests of who unpacks it.
    pub fn archive(mut self, tar: Vec<u8>) -> Self {
        self.archives.push(tar);
        self
    }

    /// Who runs the programs, for example `1001:0`. The restricted pod security standard wants
    /// a number.
    pub fn user(mut self, user: &str) -> Self {
        user.clone_into(&mut self.execution.user);
        self
    }

    /// What is run.
    pub fn entrypoint<S: Into<String>>(mut self, words: impl IntoIterator<Item = S>) -> Self {
        self.execution.entrypoint = words.into_iter().map(Into::into).collect();
        self
    }

    /// Its arguments, when a pod names none.
    pub fn cmd<S: Into<String>>(mut self, words: impl IntoIterator<Item = S>) -> Self {
        self.execution.cmd = words.into_iter().map(Into::into).collect();
        self
    }

    /// A variable in the environment of what is run.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Where it is run.
    pub fn workdir(mut self, path: &str) -> Self {
        path.clone_into(&mut self.execution.working_dir);
        self
    }

    /// A label of the config, as bundle and catalog images carry them.
    pub fn label(mut self, key: &str, value: &str) -> Self {
        self.execution.labels.insert(key.to_owned(), value.to_owned());
        self
    }

    /// An annotation of the manifest.
    pub fn annotation(mut self, key: &str, value: &str) -> Self {
        self.annotations.insert(key.to_owned(), value.to_owned());
        self
    }

    /// A TCP port that is served.
    pub fn expose(mut self, port: u16) -> Self {
        self.execution.exposed_ports.insert(format!("{port}/tcp"), Present {});
        self
    }

    /// A directory that outlives the container's file system.
    pub fn volume(mut self, path: &str) -> Self {
        self.execution.volumes.insert(path.to_owned(), Present {});
        self
    }

    /// Packs the layers and writes the documents.
    ///
    /// # Errors
    ///
    /// When a path leads out of the image, occurs twice in a layer, or a hard link has no target
    /// in its layer.
    pub fn build(self) -> Result<Image> {
        let mut known = BTreeSet::new();
        let filled = self.layers.into_iter().filter(|entries| !entries.is_empty());
        let packed = filled.map(|entries| layer::pack(entries, &mut known));
        let archives = self.archives.iter().map(|tar| layer::of_archive(tar));
        let layers: Vec<Layer> = packed.chain(archives).collect::<Result<_>>()?;
        let env = self.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let config = config(Execution { env, ..self.execution }, &layers)?;
        let manifest = manifest(&config, &layers, self.annotations)?;
        Ok(Image { reference: self.reference, layers, config, manifest })
    }

    fn entry(mut self, path: &str, content: Content) -> Self {
        if let Some(layer) = self.layers.last_mut() {
            layer.push(Entry { path: path.to_owned(), content });
        }
        self
    }
}

fn config(config: Execution, layers: &[Layer]) -> Result<Blob> {
    let diff_ids = layers.iter().map(|layer| layer.diff_id().to_owned()).collect();
    let document = Config {
        created: CREATED.to_owned(),
        platform: document::platform(),
        config,
        rootfs: RootFs { kind: "layers".to_owned(), diff_ids },
    };
    Blob::json(media_type::CONFIG, &document)
}

fn manifest(
    config: &Blob,
    layers: &[Layer],
    annotations: BTreeMap<String, String>,
) -> Result<Blob> {
    let document = Manifest {
        schema_version: 2,
        media_type: media_type::MANIFEST.to_owned(),
        config: config.descriptor(),
        layers: layers.iter().map(|layer| layer.blob().descriptor()).collect(),
        annotations,
    };
    Blob::json(media_type::MANIFEST, &document)
}
