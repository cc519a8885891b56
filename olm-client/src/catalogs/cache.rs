//! What was read once is kept in the user's cache folder, by digests of contents.
//!
//! Nothing depends on it: what cannot be read or written there is read anew.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The folder below the user's cache folder.
const NAME: &str = "kubectl-olm";

/// Most files of one section; the oldest go first.
const FILES: usize = 64;

/// Most bytes of a file that is read or kept.
const LARGEST: u64 = 256 << 20;

/// What is kept together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheSection {
    /// Listings of catalogs.
    Catalogs,
    /// Bundles of images.
    Bundles,
}

impl CacheSection {
    fn name(self) -> &'static str {
        match self {
            Self::Catalogs => "catalogs",
            Self::Bundles => "bundles",
        }
    }
}

/// The cache folder; without one nothing is kept.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    folder: Option<PathBuf>,
}

impl Cache {
    /// The folder that a flag names, or that of the user. An empty name is none.
    pub fn new(flag: Option<&Path>) -> Self {
        let folder = match flag {
            Some(folder) => Some(folder.to_owned()),
            None => of_user(|name| std::env::var_os(name).map(PathBuf::from)),
        };
        Self { folder: folder.filter(|folder| !folder.as_os_str().is_empty()) }
    }

    /// What is kept under a digest.
    pub fn read(&self, section: CacheSection, digest: &str) -> Option<Vec<u8>> {
        let file = self.file(section, digest)?;
        let size = fs::metadata(&file).ok()?.len();
        if size > LARGEST { None } else { fs::read(file).ok() }
    }

    /// Keeps something under a digest, if that can be done.
    pub fn write(&self, section: CacheSection, digest: &str, bytes: &[u8]) {
        let Some(file) = self.file(section, digest) else { return };
        let Some(folder) = file.parent() else { return };
        let fits = u64::try_from(bytes.len()).is_ok_and(|size| size <= LARGEST);
        if fits && private(folder).is_ok() && replace(&file, bytes).is_ok() {
            thin_out(folder);
        }
    }

    fn file(&self, section: CacheSection, digest: &str) -> Option<PathBuf> {
        let is_digest = !digest.is_empty() && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        let folder = self.folder.as_ref().filter(|_| is_digest)?;
        Some(folder.join(section.name()).join(digest))
    }
}

/// The cache folder of a user, as the system has it.
fn of_user(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|path| path.is_absolute());
    let folder = if cfg!(windows) {
        set("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        set("HOME").map(|home| home.join("Library").join("Caches"))
    } else {
        set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))
    };
    folder.map(|folder| folder.join(NAME))
}

/// A folder that only the user reads: catalogs may need credentials.
fn private(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Another process may read the file meanwhile: it is there as a whole, or not at all.
fn replace(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let part = file.with_extension(format!("part-{}", std::process::id()));
    let written = fs::File::create(&part).and_then(|mut part| part.write_all(bytes));
    let placed = written.and_then(|()| fs::rename(&part, file));
    placed.inspect_err(|_| drop(fs::remove_file(&part)))
}

/// Removes the oldest files beyond those that are kept.
fn thin_out(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let aged = |entry: fs::DirEntry| {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        (modified.unwrap_or(SystemTime::UNIX_EPOCH), entry.path())
    };
    let mut files: Vec<(SystemTime, PathBuf)> = entries.map(aged).collect();
    files.sort();
    let beyond = files.len().saturating_sub(FILES);
    files.iter().take(beyond).for_each(|(_, file)| drop(fs::remove_file(file)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_the_oldest_goes() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(Some(folder.path()));
        assert_eq!(cache.read(CacheSection::Catalogs, "00"), None);
        cache.write(CacheSection::Catalogs, "00", b"first");
        assert_eq!(cache.read(CacheSection::Catalogs, "00").as_deref(), Some(&b"first"[..]));
        assert_eq!(cache.read(CacheSection::Bundles, "00"), None);
        for number in 1..=FILES {
            cache.write(CacheSection::Catalogs, &format!("{number:02x}"), b"more");
        }
        let left = fs::read_dir(folder.path().join("catalogs")).unwrap().count();
        assert_eq!(left, FILES);
    }

    #[test]
    fn a_digest_is_no_path_and_no_folder_is_no_cache() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(Some(folder.path()));
        cache.write(CacheSection::Catalogs, "../00", b"outside");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let none = Cache::new(Some(Path::new("")));
        none.write(CacheSection::Catalogs, "00", b"nowhere");
        assert_eq!(none.read(CacheSection::Catalogs, "00"), None);
    }

    #[test]
    #[cfg(all(unix, not(target_os = "macos")))]
    fn the_folder_is_that_of_the_user() {
        let user = |pairs: &'static [(&str, &str)]| {
            let found = of_user(|name| {
                pairs.iter().find(|(known, _)| *known == name).map(|(_, path)| path.into())
            });
            found.map(|path| path.display().to_string()).unwrap_or_default()
        };
        assert_eq!(user(&[("HOME", "/h")]), "/h/.cache/kubectl-olm");
        assert_eq!(user(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/c")]), "/c/kubectl-olm");
        assert_eq!(user(&[("HOME", "/h"), ("XDG_CACHE_HOME", "c")]), "/h/.cache/kubectl-olm");
        assert_eq!(user(&[]), "");
    }
}
