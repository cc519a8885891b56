//! The copying of `cp`: what fails is reported, and the rest is copied all the same.

use std::fs::{self, File, FileTimes, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, chown, symlink};
use std::path::Path;

use super::arguments::{Arguments, Options};
use crate::copy::reason::reason;
use crate::copy::tree::children;

/// Deepest nesting of folders, for the sake of the stack.
const DEPTH: usize = 200;

/// The part of a mode that is about rights.
const RIGHTS: u32 = 0o777;

/// What is wrong, as it is printed after `cp: `.
type Refused = Result<(), String>;

/// Copies everything; whether all went well.
pub(super) fn run(arguments: &Arguments) -> bool {
    let mut copy = Copy { options: arguments.options, failed: false };
    let Arguments { sources, target, options } = arguments;
    let into = !options.no_target_folder && target.is_dir();
    if sources.len() > 1 && !into {
        let why = match fs::metadata(target) {
            Ok(_) => "Not a directory".to_owned(),
            Err(error) => reason(&error),
        };
        copy.report(Err(format!("target '{}': {why}", target.display())));
        return false;
    }
    for source in sources {
        let named = if into { source.file_name() } else { None };
        let target = named.map_or_else(|| target.clone(), |name| target.join(name));
        copy.entry(source, &target, 0);
    }
    !copy.failed
}

struct Copy {
    options: Options,
    failed: bool,
}

impl Copy {
    fn report(&mut self, result: Refused) {
        if let Err(message) = result {
            eprintln!("cp: {message}");
            self.failed = true;
        }
    }

    fn entry(&mut self, from: &Path, to: &Path, depth: usize) {
        let follow = self.options.follows(depth == 0);
        let found = if follow { fs::metadata(from) } else { fs::symlink_metadata(from) };
        let result = match found {
            Err(error) => Err(format!("cannot stat '{}': {}", from.display(), reason(&error))),
            Ok(found) if found.is_dir() => self.folder(from, to, &found, depth),
            Ok(found) if found.is_symlink() => self.link(from, to),
            Ok(found) if found.is_file() => self.file(from, to, &found),
            Ok(_) => Err(format!("cannot copy special file '{}'", from.display())),
        };
        self.report(result);
    }

    fn folder(&mut self, from: &Path, to: &Path, found: &Metadata, depth: usize) -> Refused {
        if !self.options.recursive {
            return Err(format!("-r not specified; omitting directory '{}'", from.display()));
        }
        if depth > DEPTH {
            return Err(format!("'{}' is nested deeper than {DEPTH} folders", from.display()));
        }
        if is_inside(to, from) {
            let (from, to) = (from.display(), to.display());
            return Err(format!("cannot copy a directory, '{from}', into itself, '{to}'"));
        }
        let is_new = !to.is_dir();
        if is_new {
            self.create_folder(from, to)?;
        }
        let entries = children(from).map_err(|error| format!("cannot access {error}"))?;
        for path in entries {
            if let Some(name) = path.file_name() {
                self.entry(&path, &to.join(name), depth.saturating_add(1));
            }
        }
        if is_new || self.options.preserve { self.finish(to, found) } else { Ok(()) }
    }

    fn create_folder(&self, from: &Path, to: &Path) -> Refused {
        if fs::symlink_metadata(to).is_ok() {
            let (from, to) = (from.display(), to.display());
            return Err(format!("cannot overwrite non-directory '{to}' with directory '{from}'"));
        }
        fs::create_dir(to).map_err(|error| {
            format!("cannot create directory '{}': {}", to.display(), reason(&error))
        })?;
        self.say(from, to);
        Ok(())
    }

    fn link(&self, from: &Path, to: &Path) -> Refused {
        check_overwritten(to)?;
        let target = fs::read_link(from).map_err(|error| {
            format!("cannot read symbolic link '{}': {}", from.display(), reason(&error))
        })?;
        let made = match fs::remove_file(to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => symlink(target, to),
        };
        made.map_err(|error| {
            format!("cannot create symbolic link '{}': {}", to.display(), reason(&error))
        })?;
        self.say(from, to);
        Ok(())
    }

    fn file(&self, from: &Path, to: &Path, found: &Metadata) -> Refused {
        check_overwritten(to)?;
        match fs::metadata(to) {
            Ok(target) if (target.dev(), target.ino()) == (found.dev(), found.ino()) => {
                let (from, to) = (from.display(), to.display());
                return Err(format!("'{from}' and '{to}' are the same file"));
            }
            Err(_) if to.is_symlink() => {
                return Err(format!("not writing through dangling symlink '{}'", to.display()));
            }
            _ => {}
        }
        let mut source = File::open(from).map_err(|error| {
            format!("cannot open '{}' for reading: {}", from.display(), reason(&error))
        })?;
        let mut target = self.create(to, found).map_err(|error| {
            format!("cannot create regular file '{}': {}", to.display(), reason(&error))
        })?;
        self.say(from, to);
        io::copy(&mut source, &mut target).map_err(|error| {
            let (from, to) = (from.display(), to.display());
            format!("error copying '{from}' to '{to}': {}", reason(&error))
        })?;
        if self.options.preserve { self.finish(to, found) } else { Ok(()) }
    }

    /// Opens a file for writing; a new one gets the rights of the source as far as the umask lets.
    fn create(&self, to: &Path, found: &Metadata) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(found.mode() & RIGHTS);
        match options.open(to) {
            Err(_) if self.options.force && to.exists() => {
                fs::remove_file(to)?;
                options.open(to)
            }
            opened => opened,
        }
    }

    /// Gives a copy the rights of its source, and what else is to be preserved.
    fn finish(&self, to: &Path, found: &Metadata) -> Refused {
        let preserved = || -> io::Result<()> {
            if self.options.preserve {
                // Only root can give files away; as in coreutils, that is no failure.
                let _ = chown(to, Some(found.uid()), Some(found.gid()));
                let times = FileTimes::new();
                let times = times.set_accessed(found.accessed()?).set_modified(found.modified()?);
                File::open(to)?.set_times(times)?;
            }
            fs::set_permissions(to, Permissions::from_mode(found.mode() & RIGHTS))
        };
        preserved().map_err(|error| {
            format!("preserving permissions for '{}': {}", to.display(), reason(&error))
        })
    }

    fn say(&self, from: &Path, to: &Path) {
        if self.options.verbose {
            println!("'{}' -> '{}'", from.display(), to.display());
        }
    }
}

fn check_overwritten(to: &Path) -> Refused {
    match fs::symlink_metadata(to) {
        Ok(found) if found.is_dir() => {
            Err(format!("cannot overwrite directory '{}' with non-directory", to.display()))
        }
        _ => Ok(()),
    }
}

/// Whether a path that need not exist is a folder or below it.
fn is_inside(path: &Path, folder: &Path) -> bool {
    let Ok(folder) = fs::canonicalize(folder) else { return false };
    let mut place = Some(path);
    while let Some(path) = place {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        if let Ok(real) = fs::canonicalize(path) {
            return real.starts_with(&folder);
        }
        place = path.parent();
    }
    false
}
