//! What is kept of the files of a layer: their content in memory, or where it is.

use std::io::Read;
use std::sync::Arc;

use super::super::{LayerError, Limits};
use super::broken;

/// A file of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileLocation {
    /// Number of the layer, the lowest is 0.
    pub layer: u32,
    /// Number of the entry in the layer, headers about other entries included.
    pub entry: u32,
    /// Bytes of the file.
    pub size: u64,
}

/// Keeps files.
pub(in super::super) trait Files {
    /// What is kept of one.
    type Kept: Clone;

    /// Keeps a file, whose content is not longer than a file may be.
    fn keep(
        &mut self,
        path: &str,
        place: FileLocation,
        content: &mut dyn Read,
        limits: &Limits,
    ) -> Result<Self::Kept, LayerError>;
}

/// Keeps content in memory.
#[derive(Debug, Default)]
pub(in super::super) struct InMemory {
    kept: u64,
}

impl Files for InMemory {
    type Kept = Arc<[u8]>;

    fn keep(
        &mut self,
        path: &str,
        place: FileLocation,
        content: &mut dyn Read,
        limits: &Limits,
    ) -> Result<Self::Kept, LayerError> {
        self.kept = self.kept.saturating_add(place.size);
        if self.kept > limits.kept {
            return Err(LayerError::TooMuch { limit: limits.kept, unit: "bytes in files" });
        }
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes).map_err(broken)?;
        if bytes.len() as u64 != place.size {
            return Err(LayerError::Archive(format!("{path} is cut off")));
        }
        Ok(Arc::from(bytes))
    }
}

/// Keeps where files are.
#[derive(Debug, Default)]
pub(in super::super) struct Places;

impl Files for Places {
    type Kept = FileLocation;

    fn keep(
        &mut self,
        _: &str,
        place: FileLocation,
        _: &mut dyn Read,
        _: &Limits,
    ) -> Result<Self::Kept, LayerError> {
        Ok(place)
    }
}
