//! SHA256SUMS, in the form that `sha256sum --check` reads.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use anyhow::{Context, Result};
use olm_types::hash::hex;
use sha2::{Digest, Sha256};

const NAME: &str = "SHA256SUMS";

/// Writes the sums of all files of the folder, sorted by name.
pub(super) fn write(folder: &Path) -> Result<()> {
    let mut sums = String::new();
    for (name, _) in files(folder)? {
        sums.push_str(&format!("{}  {name}\n", digest(&folder.join(&name))?));
    }
    fs::write(folder.join(NAME), sums).with_context(|| format!("cannot write {NAME}"))
}

/// Names and sizes in bytes of the files of the folder, sorted by name.
pub(super) fn files(folder: &Path) -> Result<Vec<(String, u64)>> {
    let mut found = Vec::new();
    for entry in
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?
    {
        let entry = entry.context("cannot read an entry of the folder")?;
        let metadata = entry.metadata().context("cannot look at a file")?;
        if metadata.is_file() {
            found.push((entry.file_name().to_string_lossy().into_owned(), metadata.len()));
        }
    }
    found.sort();
    Ok(found)
}

fn digest(path: &Path) -> Result<String> {
    let mut file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut sum = Sums(Sha256::new());
    io::copy(&mut file, &mut sum).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(hex(&sum.0.finalize()))
}

struct Sums(Sha256);

impl io::Write for Sums {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_has_its_line() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("b"), "abc").unwrap();
        fs::write(folder.path().join("a"), "").unwrap();
        write(folder.path()).unwrap();
        let expected = "\
            e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n\
            ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  b\n";
        assert_eq!(fs::read_to_string(folder.path().join(NAME)).unwrap(), expected);
    }
}
