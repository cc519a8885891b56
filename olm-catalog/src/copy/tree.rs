//! Copies a folder with everything below it.
//!
//! What is copied can be read by every user afterwards, and replaced by its owner: the one who
//! reads it runs in another container, often as another user. Symbolic links either stay what they
//! are, or become the file they lead to when that is inside the folder. Special files (devices,
//! pipes, sockets) are refused.

use std::fs::{self, File, FileType, OpenOptions, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// What every user may do with a file, beside what its mode says: read it.
const FILE_MODE: u32 = 0o644;
/// The same for a folder: list it and go through.
const FOLDER_MODE: u32 = 0o755;
/// The part of a mode that is about rights; set-user-ID and the like are not copied.
const RIGHTS: u32 = 0o777;

/// How much may be copied, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    /// Most bytes in all files.
    pub(super) bytes: u64,
    /// Most files and folders.
    pub(super) entries: u64,
    /// Deepest nesting of folders.
    pub(super) depth: usize,
    /// What happens to symbolic links.
    pub(super) links: Links,
}

/// What happens to symbolic links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Links {
    /// They are copied as links.
    Keep,
    /// The file that they lead to is copied; it must be inside the folder.
    Inside,
}

/// What was copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Copied {
    /// Files, links and folders.
    pub(super) entries: u64,
    /// Bytes in files.
    pub(super) bytes: u64,
}

/// A folder cannot be copied.
#[derive(Debug, Error)]
pub(super) enum TreeError {
    /// The file system refuses.
    #[error("{} {}: {}", .what, .path.display(), reason(.source))]
    Io {
        /// What was tried.
        what: &'static str,
        /// With what.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A link leads out of the folder, to a folder, or nowhere.
    #[error("{} is a link to {}, which is no file inside {}", .0.display(), .1.display(), .2.display())]
    Link(PathBuf, PathBuf, PathBuf),
    /// A device, a pipe or a socket.
    #[error("{} is neither a file nor a folder nor a link", .0.display())]
    Special(PathBuf),
    /// Too many bytes.
    #[error("{} holds more than {} bytes", .0.display(), .1)]
    Bytes(PathBuf, u64),
    /// Too many entries.
    #[error("{} holds more than {} files and folders", .0.display(), .1)]
    Entries(PathBuf, u64),
    /// Too deep.
    #[error("{} is nested deeper than {} folders", .0.display(), .1)]
    Depth(PathBuf, usize),
}

/// Copies the folder `from` to `to`, which is created with its parents if need be. A `from` that
/// is a link is followed.
///
/// # Errors
/// Something cannot be read, written, or may not be copied. What was copied stays.
pub(super) fn copy_tree(from: &Path, to: &Path, rules: Rules) -> Result<Copied, TreeError> {
    let root = fs::canonicalize(from).map_err(|error| io_error("read", from, error))?;
    let mut copy = Copy { root, rules, done: Copied::default() };
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(|error| io_error("create", parent, error))?;
    }
    let root = copy.root.clone();
    if root.is_dir() {
        copy.folder(&root, to, 0)?
    } else {
        copy.file(&root, to)?
    }
    Ok(copy.done)
}

struct Copy {
    /// What is copied, without links in its path.
    root: PathBuf,
    rules: Rules,
    done: Copied,
}

impl Copy {
    fn folder(&mut self, from: &Path, to: &Path, depth: usize) -> Result<(), TreeError> {
        if depth > self.rules.depth {
            return Err(TreeError::Depth(from.to_owned(), self.rules.depth));
        }
        self.count(0)?;
        fs::create_dir_all(to).map_err(|error| io_error("create", to, error))?;
        for path in children(from)? {
            let Some(name) = path.file_name() else { continue };
            self.entry(&path, &to.join(name), depth)?;
        }
        set_mode(from, to, FOLDER_MODE)
    }

    fn entry(&mut self, from: &Path, to: &Path, depth: usize) -> Result<(), TreeError> {
        let kind = kind(from)?;
        if kind.is_dir() {
            self.folder(from, to, depth.saturating_add(1))
        } else if kind.is_symlink() {
            self.link(from, to)
        } else {
            self.file(from, to)
        }
    }

    fn link(&mut self, from: &Path, to: &Path) -> Result<(), TreeError> {
        let target = fs::read_link(from).map_err(|error| io_error("read", from, error))?;
        match self.rules.links {
            Links::Keep => {
                self.count(0)?;
                symlink(&target, to).map_err(|error| io_error("create", to, error))
            }
            Links::Inside => {
                let real = fs::canonicalize(from).ok();
                let real = real.filter(|real| real.starts_with(&self.root) && real.is_file());
                match real {
                    Some(real) => self.file(&real, to),
                    None => Err(TreeError::Link(from.to_owned(), target, self.root.clone())),
                }
            }
        }
    }

    fn file(&mut self, from: &Path, to: &Path) -> Result<(), TreeError> {
        // Opening a pipe would wait for a writer that never comes.
        if !kind(from)?.is_file() {
            return Err(TreeError::Special(from.to_owned()));
        }
        let left = self.rules.bytes.saturating_sub(self.done.bytes);
        let source = File::open(from).map_err(|error| io_error("read", from, error))?;
        let mut options = OpenOptions::new();
        let mut target = options
            .write(true)
            .create_new(true)
            .mode(FILE_MODE)
            .open(to)
            .map_err(|error| io_error("create", to, error))?;
        let copied = io::copy(&mut source.take(left.saturating_add(1)), &mut target)
            .map_err(|error| io_error("write", to, error))?;
        self.count(copied)?;
        set_mode(from, to, FILE_MODE)
    }

    fn count(&mut self, bytes: u64) -> Result<(), TreeError> {
        self.done.entries = self.done.entries.saturating_add(1);
        self.done.bytes = self.done.bytes.saturating_add(bytes);
        if self.done.entries > self.rules.entries {
            return Err(TreeError::Entries(self.root.clone(), self.rules.entries));
        }
        if self.done.bytes > self.rules.bytes {
            return Err(TreeError::Bytes(self.root.clone(), self.rules.bytes));
        }
        Ok(())
    }
}

/// Removes a file, a link or a folder with everything in it; nothing when there is nothing.
pub(super) fn remove(path: &Path) -> Result<(), TreeError> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    };
    removed.map_err(|error| io_error("remove", path, error))
}

/// What is in a folder, in the order of names.
pub(super) fn children(folder: &Path) -> Result<Vec<PathBuf>, TreeError> {
    let failed = |error| io_error("read", folder, error);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<Result<_, _>>().map_err(failed)?;
    paths.sort();
    Ok(paths)
}

pub(super) fn io_error(what: &'static str, path: &Path, source: io::Error) -> TreeError {
    TreeError::Io { what, path: path.to_owned(), source }
}

fn kind(path: &Path) -> Result<FileType, TreeError> {
    let metadata = fs::symlink_metadata(path).map_err(|error| io_error("read", path, error))?;
    Ok(metadata.file_type())
}

/// Gives `to` the mode of `from` and at least `least`.
fn set_mode(from: &Path, to: &Path, least: u32) -> Result<(), TreeError> {
    let source = fs::metadata(from).map_err(|error| io_error("read", from, error))?;
    let mode = (source.permissions().mode() & RIGHTS) | least;
    fs::set_permissions(to, Permissions::from_mode(mode))
        .map_err(|error| io_error("change the mode of", to, error))
}

/// The text of an error without its number.
pub(super) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" (os error ") {
        Some((reason, _)) => reason.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_left_out() {
        let missing = File::open("/no/such/file").unwrap_err();
        assert_eq!(reason(&missing), "No such file or directory");
        assert_eq!(reason(&io::Error::other("of our own")), "of our own");
    }
}
