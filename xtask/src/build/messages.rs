//! What cargo says of a build: one JSON document per line.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;

/// What was built.
#[derive(Debug, Default)]
pub struct Built {
    /// How many parts of the graph are there now.
    pub parts: u64,
    /// How many of them were there already.
    pub fresh: u64,
    /// Warnings of compiler and lints.
    pub warnings: usize,
    /// The hashes in the names of all that was built or used.
    pub hashes: BTreeSet<String>,
    /// The files of our libraries, by the names that code has for them.
    pub libraries: BTreeMap<String, PathBuf>,
    /// Programs and test programs.
    pub executables: Vec<Executable>,
}

/// An executable that is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executable {
    /// The package.
    pub package: String,
    /// The target's name.
    pub name: String,
    /// Its folder, in which its tests run.
    pub folder: PathBuf,
    /// The file.
    pub path: PathBuf,
    /// Whether it runs tests.
    pub tests: bool,
}

impl Built {
    /// Takes a line in; what compiler or lints complain of goes to `report`.
    pub(super) fn read(&mut self, line: &str, report: impl Fn(&str)) {
        let Ok(message) = serde_json::from_str::<Value>(line) else { return };
        match message["reason"].as_str() {
            Some("compiler-artifact") => self.artifact(&message),
            Some("build-script-executed") => self.note(message["out_dir"].as_str()),
            Some("compiler-message") => self.complaint(&message["message"], report),
            _ => {}
        }
    }

    fn artifact(&mut self, message: &Value) {
        self.parts += 1;
        self.fresh += u64::from(message["fresh"] == true);
        for file in message["filenames"].as_array().into_iter().flatten() {
            self.note(file.as_str());
        }
        self.library(message);
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let Some(path) = text(&message["executable"]) else { return };
        let target = &message["target"];
        let manifest = PathBuf::from(text(&message["manifest_path"]).unwrap_or_default());
        let folder = manifest.parent().map(PathBuf::from).unwrap_or_default();
        self.executables.push(Executable {
            package: package(message["package_id"].as_str().unwrap_or_default()),
            name: text(&target["name"]).unwrap_or_default(),
            folder,
            path: path.into(),
            tests: message["profile"]["test"] == true && target["kind"][0] != "bench",
        });
    }

    fn library(&mut self, message: &Value) {
        let ours = message["package_id"].as_str().is_some_and(|id| id.starts_with("path+"));
        let files = message["filenames"].as_array().into_iter().flatten();
        let mut files = files.filter_map(Value::as_str).filter(|file| file.ends_with(".rlib"));
        if let (true, Some(file), Some(name)) =
            (ours, files.next(), message["target"]["name"].as_str())
        {
            self.libraries.insert(name.to_owned(), file.into());
        }
    }

    /// Notes the hash in the path of a part's file, or in that of the folder of its build script.
    fn note(&mut self, path: Option<&str>) {
        let names = path.unwrap_or_default().rsplit('/').take(2);
        let stems = names.map(|name| name.split_once('.').map_or(name, |(stem, _)| stem));
        let hashes = stems.filter_map(|stem| Some(stem.rsplit_once('-')?.1));
        self.hashes.extend(hashes.filter(|hash| hash.len() == 16).map(str::to_owned));
    }

    fn complaint(&mut self, message: &Value, report: impl Fn(&str)) {
        // What has no code is a sum over others.
        let counts = message["level"] == "warning" && !message["code"].is_null();
        self.warnings += usize::from(counts);
        report(message["rendered"].as_str().unwrap_or_default().trim_end());
    }

    /// The programs by name.
    pub fn programs(&self) -> BTreeMap<&str, &Executable> {
        let programs = self.executables.iter().filter(|one| !one.tests);
        programs.map(|one| (one.name.as_str(), one)).collect()
    }
}

/// The name in an identifier such as `path+file:///a/olm-rs/olm-kit#0.1.0` or `…/x#name@0.1.0`.
fn package(id: &str) -> String {
    let (place, version) = id.rsplit_once('#').unwrap_or((id, ""));
    let name = version.split_once('@').map(|(name, _)| name);
    name.unwrap_or_else(|| place.rsplit('/').next().unwrap_or(place)).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executables_and_warnings_are_found() {
        let lines = [
            r#"{"reason":"compiler-artifact","package_id":"path+file:///o/olm-kit#0.1.0","manifest_path":"/o/olm-kit/Cargo.toml","target":{"name":"olm_kit","kind":["lib"]},"profile":{"test":true},"executable":"/t/olm_kit-1"}"#,
            r#"{"reason":"compiler-artifact","package_id":"path+file:///o/olm-kit#0.1.0","manifest_path":"/o/olm-kit/Cargo.toml","target":{"name":"speed","kind":["bench"]},"profile":{"test":true},"executable":"/t/speed-1"}"#,
            r#"{"reason":"compiler-artifact","package_id":"registry+x#tokio@1.0.0","target":{"name":"tokio"},"profile":{"test":false},"executable":null}"#,
            r#"{"reason":"compiler-message","message":{"level":"warning","code":{"code":"dead_code"},"rendered":"warning: x\n"}}"#,
            r#"{"reason":"compiler-message","message":{"level":"warning","code":null,"rendered":"1 warning emitted"}}"#,
            r#"{"reason":"build-finished","success":true}"#,
            "not JSON",
        ];
        let mut built = Built::default();
        lines.iter().for_each(|line| built.read(line, |_| {}));
        assert_eq!((built.parts, built.warnings), (3, 1));
        assert!(!built.executables[1].tests, "a benchmark is no test");
        let executable = &built.executables[0];
        assert_eq!((executable.package.as_str(), executable.tests), ("olm-kit", true));
        assert_eq!(executable.folder, PathBuf::from("/o/olm-kit"));
    }

    #[test]
    fn packages_are_named_in_both_forms() {
        assert_eq!(
            package("path+file:///a/olm-testkit/workload#olm-workload@0.1.0"),
            "olm-workload"
        );
        assert_eq!(package("path+file:///a/olm-kit#0.1.0"), "olm-kit");
    }
}
