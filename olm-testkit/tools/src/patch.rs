//! One change in one file of another module: what it takes to compile it against a newer Kubernetes
//! than it asks for, so that it shares the packages of all other programs, or to run it outside of a Pod.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// What is changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patch {
    /// The module.
    pub module: &'static str,
    /// The file in it.
    pub file: &'static str,
    /// What stands there, at least once.
    pub from: &'static str,
    /// What shall stand there.
    pub to: &'static str,
}

/// The folder of the copy, below that of our module.
const COPY: &str = "patched";

impl Patch {
    /// Lets our module in `source` use a changed copy. `go` makes the command; the other module is in
    /// the module cache already.
    pub(crate) fn apply(&self, source: &Path, go: impl Fn() -> Command) -> Result<()> {
        let listed = output(go().args(["list", "-m", "-f", "{{.Dir}}", self.module]))?;
        let copy = source.join(COPY);
        copy_folder(Path::new(listed.trim()), &copy)?;
        self.change(&copy.join(self.file))?;
        let replace = format!("-replace={}=./{COPY}", self.module);
        output(go().args(["mod", "edit", &replace])).map(drop)
    }

    fn change(&self, file: &Path) -> Result<()> {
        let text =
            fs::read_to_string(file).with_context(|| format!("there is no {}", self.file))?;
        ensure!(text.contains(self.from), "{} does not hold {}", self.file, self.from);
        fs::write(file, text.replace(self.from, self.to)).context("cannot write a file")
    }
}

/// Runs `go`, and returns what it prints.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.output().context("cannot run go")?;
    ensure!(output.status.success(), "go: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Copies a folder. Files of the module cache are read-only, and copies of `fs::copy` would be.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).context("cannot create a folder")?;
    for path in entries(from)? {
        let target = to.join(path.file_name().context("a file has no name")?);
        if path.is_dir() {
            copy_folder(&path, &target)?;
        } else {
            let content = fs::read(&path).context("cannot read a file")?;
            fs::write(target, content).context("cannot write a file")?;
        }
    }
    Ok(())
}

/// What is in a folder.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder);
    let entries = entries.with_context(|| format!("cannot list {}", folder.display()))?;
    let paths: Result<Vec<_>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    paths.context("cannot list a folder")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::Scratch;

    const PATCH: Patch =
        Patch { module: "example.org/a", file: "b/c.go", from: "old.Name", to: "\"new\"" };

    #[test]
    fn a_copy_is_changed_and_may_be_written() {
        let dir = Scratch::new("patch");
        let cached = dir.join("cached");
        fs::create_dir_all(cached.join("b")).unwrap();
        fs::write(cached.join("b/c.go"), "var a = old.Name + old.Name").unwrap();
        let mut read_only = fs::metadata(cached.join("b/c.go")).unwrap().permissions();
        read_only.set_readonly(true);
        fs::set_permissions(cached.join("b/c.go"), read_only).unwrap();
        copy_folder(&cached, &dir.join("copy")).unwrap();
        PATCH.change(&dir.join("copy/b/c.go")).unwrap();
        let text = fs::read_to_string(dir.join("copy/b/c.go")).unwrap();
        assert_eq!(text, "var a = \"new\" + \"new\"");
    }

    #[test]
    fn a_change_that_has_no_place_is_an_error() {
        let dir = Scratch::new("no-place");
        fs::write(dir.join("c.go"), "package c").unwrap();
        let error = PATCH.change(&dir.join("c.go")).unwrap_err().to_string();
        assert_eq!(error, "b/c.go does not hold old.Name");
    }
}
