//! Programs that are built from a Go module of ours: once per machine, and again when something that
//! determines them changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use crate::cache::{once, tools_dir};
use crate::compile::compile;
use crate::go::{self, go};
use crate::patch::Patch;
use crate::progress::Progress;

/// Flags of every build. These programs are not debugged, and what no debugger reads need not be
/// made: a tenth of the compiler's time and a third of the linker's.
const FLAGS: [&str; 2] = ["-trimpath", "-gcflags=all=-dwarf=false"];

/// A file of a module: its path there, and its content.
pub(crate) type Source = (&'static str, &'static str);

/// Programs that are built together.
#[derive(Clone, Debug)]
pub(crate) struct Module {
    /// Begins the name of their folder in the cache.
    pub name: &'static str,
    /// What they are, for whoever waits for them.
    pub title: &'static str,
    /// The files that they are built from, `go.mod` and `go.sum` among them.
    pub files: Vec<Source>,
    /// The programs as Go names them: `./folder`, or the path of a package of another module.
    pub packages: Vec<String>,
    /// Tags of the build.
    pub tags: Vec<String>,
    /// Flags of the linker.
    pub link: &'static str,
    /// What is changed in another module first.
    pub patch: Option<Patch>,
    /// Variables of the build.
    pub env: &'static [(&'static str, &'static str)],
}

/// A module while it is built.
pub(crate) struct ModuleBuild<'a> {
    /// The `go` command.
    pub go: PathBuf,
    /// The folder with its files.
    pub source: PathBuf,
    /// The folder with its programs.
    pub output: &'a Path,
    /// Variables of the build.
    pub env: &'static [(&'static str, &'static str)],
}

impl Module {
    /// One without tags, patches and variables, whose programs are linked without what only debuggers read.
    pub fn new(
        name: &'static str,
        title: &'static str,
        files: &[Source],
        packages: Vec<String>,
    ) -> Self {
        let (files, tags, link) = (files.to_vec(), Vec::new(), "-s -w");
        Self { name, title, files, packages, tags, link, patch: None, env: &[] }
    }

    /// The folder with the programs, which are built when it is missing. Then `finish` may add to them.
    ///
    /// # Errors
    /// There is no Go, or the build fails; the error ends with what Go says.
    pub(crate) fn ensure(
        &self,
        progress: &Progress,
        finish: impl FnOnce(&ModuleBuild<'_>) -> Result<()>,
    ) -> Result<PathBuf> {
        let root = tools_dir()?;
        once(&root, &self.folder(), progress, |output| {
            let source = output.with_extension("source");
            self.write(&source)?;
            let workshop = ModuleBuild { go: go(progress)?, source, output, env: self.env };
            compile(self, &workshop, progress)?;
            finish(&workshop)?;
            fs::remove_dir_all(&workshop.source).context("cannot remove the build directory")
        })
    }

    /// The name of their folder: it changes whenever a build would give something else.
    pub(crate) fn folder(&self) -> String {
        let mut hash = Sha256::new();
        let files = self.files.iter().flat_map(|(name, content)| [*name, *content]);
        let texts = files.chain(self.packages.iter().map(String::as_str));
        let texts = texts.chain(self.tags.iter().map(String::as_str)).chain(FLAGS);
        let patch = self.patch.into_iter().flat_map(|patch| [patch.file, patch.from, patch.to]);
        let env = self.env.iter().flat_map(|(name, value)| [*name, *value]);
        texts.chain([self.link]).chain(patch).chain(env).for_each(|text| {
            hash.update(text.len().to_le_bytes());
            hash.update(text);
        });
        let hash: String =
            hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        format!("{}-{hash}", self.name)
    }

    /// The arguments of `go list` and `go build` that decide what is compiled, and how.
    pub(crate) fn flags(&self) -> Vec<String> {
        let tags = format!("-tags={}", self.tags.join(","));
        FLAGS.into_iter().map(str::to_owned).chain([tags]).collect()
    }

    fn write(&self, source: &Path) -> Result<()> {
        let _ = fs::remove_dir_all(source);
        for (name, content) in &self.files {
            let path = source.join(name);
            let folder = path.parent().context("a file has no folder")?;
            fs::create_dir_all(folder).context("cannot create the build directory")?;
            fs::write(path, content).context("cannot write the Go module")?;
        }
        Ok(())
    }
}

impl ModuleBuild<'_> {
    /// `go` in the module.
    pub(crate) fn command(&self) -> Command {
        let mut command = go::command(&self.go, &self.source);
        command.envs(self.env.iter().copied());
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module() -> Module {
        Module {
            name: "name",
            title: "a title",
            files: vec![("go.mod", "module a"), ("main.go", "package main")],
            packages: vec!["./a".to_owned()],
            tags: Vec::new(),
            link: "-s",
            patch: None,
            env: &[],
        }
    }

    #[test]
    fn the_folder_changes_with_what_determines_the_programs() {
        let same = Module { title: "another title", ..module() };
        assert_eq!(same.folder(), module().folder());
        let patch = Patch { module: "a", file: "b", from: "c", to: "d" };
        let others = [
            Module { files: vec![("go.mod", "module a"), ("main.go", "package b")], ..module() },
            Module { packages: vec!["./b".to_owned()], ..module() },
            Module { tags: vec!["without_etcd".to_owned()], ..module() },
            Module { link: "-w", ..module() },
            Module { patch: Some(patch), ..module() },
            Module { env: &[("CGO_ENABLED", "1")], ..module() },
        ];
        assert!(others.iter().all(|other| other.folder() != module().folder()));
    }

    #[test]
    fn the_folder_is_a_file_name() {
        let folder = module().folder();
        let hash = folder.strip_prefix("name-").unwrap();
        assert_eq!(hash.len(), 16);
        assert!(hash.chars().all(|c| c.is_ascii_hexdigit()));
    }
}
