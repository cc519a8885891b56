//! Whether an executable needs anything beside the kernel.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

/// Class 64 bit, little endian, after the magic bytes.
const MAGIC: [u8; 6] = [0x7f, b'E', b'L', b'F', 2, 1];

/// The length of the header of a file.
const HEADER: usize = 64;

/// The shortest program header.
const SEGMENT: usize = 56;

/// The type of the segment that names a dynamic loader.
const PT_INTERP: u32 = 3;

/// Looks whether a file is an executable that runs without a dynamic loader.
///
/// # Errors
///
/// It is not, or cannot be read.
pub fn check_static(path: &Path) -> Result<()> {
    let mut file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let is_static = has_no_loader(&mut file);
    if !is_static.with_context(|| format!("cannot read {}", path.display()))? {
        bail!("{} wants a dynamic loader, so it is not static", path.display());
    }
    Ok(())
}

fn has_no_loader(file: &mut (impl Read + Seek)) -> Result<bool> {
    let mut header = [0; HEADER];
    file.read_exact(&mut header).context("the file is too short for an executable")?;
    ensure!(header.starts_with(&MAGIC), "it is no 64-bit little-endian ELF file");
    let start = u64::from_le_bytes(bytes(&header, 32)?);
    let length = u64::from(u16::from_le_bytes(bytes(&header, 54)?));
    let count = u64::from(u16::from_le_bytes(bytes(&header, 56)?));
    ensure!(length >= SEGMENT as u64, "its program headers are too short");
    ensure!(count > 0, "it has no program headers");
    for index in 0..count {
        let offset = start.checked_add(index * length).context("a program header is nowhere")?;
        file.seek(SeekFrom::Start(offset))?;
        let mut kind = [0; 4];
        file.read_exact(&mut kind).context("a program header is beyond its end")?;
        if u32::from_le_bytes(kind) == PT_INTERP {
            return Ok(false);
        }
    }
    Ok(true)
}

fn bytes<const N: usize>(header: &[u8], at: usize) -> Result<[u8; N]> {
    let found = header.get(at..).and_then(|rest| rest.first_chunk());
    found.copied().context("the header is too short")
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use rstest::rstest;

    use super::*;

    fn executable(segments: &[u32]) -> Vec<u8> {
        let mut file = vec![0; HEADER];
        file[..6].copy_from_slice(&MAGIC);
        file[32] = HEADER as u8;
        file[54] = SEGMENT as u8;
        file[56] = segments.len() as u8;
        for kind in segments {
            file.extend(kind.to_le_bytes());
            file.extend([0; SEGMENT - 4]);
        }
        file
    }

    #[rstest]
    #[case::load_only(&[1, 1], true)]
    #[case::position_independent(&[6, 1, 2], true)]
    #[case::dynamic(&[6, 3, 1, 2], false)]
    fn a_loader_is_found(#[case] segments: &[u32], #[case] is_static: bool) {
        let found = has_no_loader(&mut Cursor::new(executable(segments))).unwrap();
        assert_eq!(found, is_static);
    }

    #[test]
    fn broken_files_are_refused() {
        let whole = executable(&[1, 2, 3]);
        for end in 0..HEADER + 2 * SEGMENT + 3 {
            assert!(has_no_loader(&mut Cursor::new(&whole[..end])).is_err(), "{end} bytes");
        }
        let script = b"#!/bin/sh\n".repeat(10);
        assert!(has_no_loader(&mut Cursor::new(script)).is_err());
        let mut far = whole;
        far[32..40].fill(0xff);
        assert!(has_no_loader(&mut Cursor::new(far)).is_err());
    }

    #[test]
    fn this_test_itself_is_dynamic() {
        let itself = std::env::current_exe().unwrap();
        let error = check_static(&itself).unwrap_err().to_string();
        assert!(error.contains("not static"), "{error}");
    }
}
