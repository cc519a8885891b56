//! Paths of another checkout in what cargo notes of the files that a part was made of.
//!
//! Files of its package are noted by their paths in it. All others that went into a part (an embedded manifest or page,
//! the settings of clippy) are noted by absolute paths: cargo would look at those of the checkout that compiled
//! the part, which may be gone or may have changed. A path has its length in bytes before it, as 32 bits, the least
//! significant byte first.

use std::fs::{self, File, FileTimes};
use std::path::Path;

use anyhow::{Context, Result};

/// Bytes of a length.
const LENGTH: usize = 4;

/// Has a note name the files of the checkout `to` where it names those of `from`; its time stays, as cargo judges by
/// it. False where a path of `from` is left, so that the part must not be used.
///
/// # Errors
/// The note cannot be read or written.
pub(super) fn move_note(note: &Path, from: &Path, to: &Path) -> Result<bool> {
    let said = || format!("cannot change {}", note.display());
    let text = fs::read(note).with_context(said)?;
    let Some(moved) = moved(&text, &prefix(from), &prefix(to)) else { return Ok(false) };
    if moved != text {
        let modified = fs::metadata(note).and_then(|of| of.modified()).with_context(said)?;
        fs::write(note, moved).with_context(said)?;
        let times = FileTimes::new().set_modified(modified);
        let file = File::options().append(true).open(note).with_context(said)?;
        file.set_times(times).with_context(said)?;
    }
    Ok(true)
}

fn prefix(root: &Path) -> Vec<u8> {
    [root.as_os_str().as_encoded_bytes(), b"/"].concat()
}

/// The text with another beginning of its paths; nothing where one has no length before it.
fn moved(text: &[u8], from: &[u8], to: &[u8]) -> Option<Vec<u8>> {
    let (mut moved, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some(place) = rest.windows(from.len()).position(|window| window == from) {
        let (before, path) = rest.split_at(place);
        let (before, length) = before.split_last_chunk::<LENGTH>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let path = path.get(..length).filter(|path| path.len() >= from.len())?;
        let path = [to, &path[from.len()..]].concat();
        moved.extend_from_slice(before);
        moved.extend_from_slice(&u32::try_from(path.len()).ok()?.to_le_bytes());
        moved.extend_from_slice(&path);
        rest = &rest[place + length..];
    }
    moved.extend_from_slice(rest);
    Some(moved)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use rstest::rstest;

    use super::*;

    fn path(text: &str) -> Vec<u8> {
        let length = u32::try_from(text.len()).unwrap().to_le_bytes();
        [&length, text.as_bytes()].concat()
    }

    fn note(paths: [&str; 3]) -> Vec<u8> {
        paths.iter().flat_map(|text| [vec![0], path(text), vec![0]].concat()).collect()
    }

    #[rstest]
    #[case::shorter("/a/b", "/c")]
    #[case::longer("/a/b", "/longer/than/before")]
    #[case::same("/a/b", "/a/b")]
    fn paths_get_another_root_and_their_length(#[case] from: &str, #[case] to: &str) {
        let of = |root: &str| {
            let embedded = format!("{root}/tools/src/../../go.mod");
            note([&format!("{root}/clippy.toml"), "src/lib.rs", &embedded])
        };
        let (old, new) = (prefix(Path::new(from)), prefix(Path::new(to)));
        assert_eq!(moved(&of(from), &old, &new), Some(of(to)));
        let other = note(["/a/bc/clippy.toml", "src/lib.rs", "/usr/x"]);
        assert_eq!(moved(&other, &old, &new).as_ref(), Some(&other), "of no checkout of ours");
    }

    #[test]
    fn what_is_no_path_with_its_length_is_not_understood() {
        let (old, new) = (prefix(Path::new("/a/b")), prefix(Path::new("/c")));
        assert_eq!(moved(b"/a/b/x", &old, &new), None);
        assert_eq!(moved(&[&99_u32.to_le_bytes()[..], b"/a/b/x"].concat(), &old, &new), None);
    }

    #[test]
    fn a_note_keeps_its_time() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("dep-lib-a");
        fs::write(&file, path("/a/b/clippy.toml")).unwrap();
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(100);
        let times = FileTimes::new().set_modified(then);
        File::options().append(true).open(&file).unwrap().set_times(times).unwrap();
        assert!(move_note(&file, Path::new("/a/b"), Path::new("/c")).unwrap());
        assert_eq!(fs::read(&file).unwrap(), path("/c/clippy.toml"));
        assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), then);
        fs::write(&file, b"\x09\x00\x00\x00/a/b/").unwrap();
        assert!(!move_note(&file, Path::new("/a/b"), Path::new("/c")).unwrap());
    }
}
