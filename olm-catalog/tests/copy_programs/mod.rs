//! The binary `olm-copy` (feature `copy`), under the names that Jobs and Pods use.

mod bundle;
mod content;
mod cp;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::support::built;

/// A folder that plays the root of an image, and the programs in it.
struct Root {
    dir: TempDir,
}

/// How a program ended.
struct Outcome {
    code: i32,
    out: String,
    err: String,
}

impl Root {
    /// An empty root.
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file and the folders above it.
    fn file(&self, name: &str, text: &str) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn link(&self, name: &str, target: &str) -> &Self {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        symlink(target, self.path(name)).unwrap();
        self
    }

    /// A pipe, on which whoever opens it waits.
    fn pipe(&self, name: &str) -> &Self {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        assert!(Command::new("mkfifo").arg(self.path(name)).status().unwrap().success());
        self
    }

    fn set_mode(&self, name: &str, mode: u32) -> &Self {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
        self
    }

    fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o777
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Everything below a folder, sorted, folders with a slash at the end.
    fn list(&self, name: &str) -> Vec<String> {
        let mut found = Vec::new();
        list(&self.path(name), "", &mut found);
        found.sort();
        found
    }

    /// Runs a program of the binary in the root.
    fn run(&self, line: &str) -> Outcome {
        let binary = built("olm-copy");
        Outcome::of(Command::new(binary).args(line.split_whitespace()).current_dir(self.dir.path()))
    }

    /// Runs a program that lies in the root.
    fn run_own(&self, line: &str) -> Outcome {
        let mut words = line.split_whitespace();
        let program = self.path(words.next().unwrap());
        Outcome::of(Command::new(program).args(words).current_dir(self.dir.path()))
    }
}

impl Outcome {
    fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        Self {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Fails unless the program did what it should.
    fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        self
    }

    /// The message of a program that failed.
    fn failed(self) -> String {
        assert_eq!(self.code, 1, "{}", self.out);
        self.err
    }
}

fn list(folder: &Path, prefix: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            list(&entry.path(), &format!("{name}/"), found);
            found.push(format!("{name}/"));
        } else {
            found.push(name);
        }
    }
}

#[test]
fn the_name_decides_which_program_runs() {
    let root = Root::new();
    let help = |line: &str| root.run(line).ok().out;
    assert!(help("--help").starts_with("Usage: olm-copy PROGRAM"));
    assert!(help("cp --help").starts_with("Usage: cp [OPTION]"));
    assert!(help("cpb --help").starts_with("Copy bundle metadata and manifests"));
    assert!(help("copy-content --help").starts_with("Copy catalog and cache content"));
    assert_eq!(help("--version"), format!("olm-copy {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(
        root.run("mv a b").failed(),
        "Error: unknown program \"mv\": it must be one of cp, cpb, copy-content\n"
    );
    assert!(root.run("").failed().starts_with("Usage: olm-copy PROGRAM"));
}
