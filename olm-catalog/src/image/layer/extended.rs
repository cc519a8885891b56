//! Headers that say more about the next entry: long names.

use std::io::Read;

use tar::{Entry, EntryType};

use super::super::LayerError;
use super::broken;

/// Most bytes of such a header. Real ones hold a path or two, and a few attributes.
const BYTES: u64 = 64 << 10;

/// What is said about the next entry.
#[derive(Debug, Default)]
pub(super) struct Extended {
    /// Its path.
    pub(super) path: Option<Vec<u8>>,
    /// What it links to.
    pub(super) link: Option<Vec<u8>>,
}

impl Extended {
    /// Takes in a header that is about the next entry; says whether the entry was one.
    pub(super) fn take(
        &mut self,
        entry: &mut Entry<'_, &mut dyn Read>,
    ) -> Result<bool, LayerError> {
        match entry.header().entry_type() {
            EntryType::GNULongName => self.path = Some(name(&read(entry)?)),
            EntryType::GNULongLink => self.link = Some(name(&read(entry)?)),
            EntryType::XHeader => self.records(&read(entry)?)?,
            // What is said about all that follows is of no interest: times and comments.
            EntryType::XGlobalHeader => drop(read(entry)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Lines of `LENGTH KEY=VALUE`.
    fn records(&mut self, mut text: &[u8]) -> Result<(), LayerError> {
        let malformed = || LayerError::Archive("malformed extended header".to_owned());
        while !text.is_empty() {
            let space = text.iter().position(|byte| *byte == b' ').ok_or_else(malformed)?;
            let length = text.get(..space).and_then(|digits| std::str::from_utf8(digits).ok());
            let length: usize = length.and_then(|text| text.parse().ok()).ok_or_else(malformed)?;
            let record = text.get(space + 1..length.saturating_sub(1)).ok_or_else(malformed)?;
            let equals = record.iter().position(|byte| *byte == b'=').ok_or_else(malformed)?;
            let (key, value) = record.split_at(equals);
            let value = value.get(1..).unwrap_or_default();
            match key {
                b"path" => self.path = Some(value.to_vec()),
                b"linkpath" => self.link = Some(value.to_vec()),
                // The size in the plain header would be wrong then.
                b"size" => {
                    return Err(LayerError::Archive("a file of more than 8 GiB".to_owned()));
                }
                key if key.starts_with(b"GNU.sparse.") => {
                    return Err(LayerError::Archive("a sparse file".to_owned()));
                }
                _ => {}
            }
            text = text.get(length..).unwrap_or_default();
        }
        Ok(())
    }
}

fn read(entry: &mut Entry<'_, &mut dyn Read>) -> Result<Vec<u8>, LayerError> {
    let size = entry.header().entry_size().map_err(broken)?;
    if size > BYTES {
        return Err(LayerError::TooMuch { limit: BYTES, unit: "bytes in a header" });
    }
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes).map_err(broken)?;
    Ok(bytes)
}

/// Up to the zero byte that ends a name.
fn name(bytes: &[u8]) -> Vec<u8> {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default().to_vec()
}
