//! The executables of the image and the names that they have in it.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::ValueEnum;
use olm_testkit::progress::Progress;
use olm_testkit::static_build::{self, Binary};

use super::linked::{self, Linked};

/// An executable with its names, the first of which holds the file.
#[derive(Debug)]
pub struct Program {
    /// Absolute paths in the image.
    pub names: &'static [&'static str],
    /// The executable.
    pub bytes: Vec<u8>,
}

/// What is built, and under which names OLM v0's manifests and flags call it. An executable with
/// several names looks at the one it is called by. What runs in images of others is copied there, and
/// small.
const PROGRAMS: [Shipped; 2] = [
    Shipped {
        binary: Binary { package: "olm-programs", name: "olm-programs", features: &["jemalloc"] },
        library: "olm_programs",
        main: "olm-programs/src/main.rs",
        names: &[
            "/bin/olm",
            "/bin/catalog",
            "/bin/opm",
            "/bin/configmap-server",
            "/bin/olm-console",
        ],
    },
    Shipped {
        binary: Binary { package: "olm-catalog", name: "olm-copy", features: &["copy"] },
        library: "olm_catalog",
        main: "olm-catalog/src/bin/olm-copy.rs",
        names: &["/bin/cpb", "/bin/cp", "/bin/copy-content"],
    },
];

/// A program that ships.
#[derive(Clone, Copy, Debug)]
struct Shipped {
    binary: Binary,
    /// What its `main`, in this file, calls.
    library: &'static str,
    main: &'static str,
    /// The names in the image.
    names: &'static [&'static str],
}

/// What the programs of an image are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Profile {
    /// What ships: optimised, which takes a quarter of an hour
    #[default]
    Release,
    /// What was just built for tests, linked for an image
    Debug,
}

impl Profile {
    /// Says what an image of this kind shows, and what it does not.
    pub fn announce(self) {
        match self {
            Self::Release => println!("The image is the one that ships."),
            Self::Debug => println!(
                "The image holds the programs that were just built for tests, linked once more; \
                 `--release` takes what ships."
            ),
        }
    }
}

/// The executables of all programs.
pub fn binaries() -> [Binary; 2] {
    PROGRAMS.map(|program| program.binary)
}

/// Builds every program.
///
/// # Errors
///
/// When one cannot be built; an image without a program is of no use.
pub fn build(profile: Profile, progress: &Progress) -> Result<Vec<Program>> {
    let bytes = match profile {
        Profile::Release => released(progress)?,
        Profile::Debug => linked::programs(&PROGRAMS.map(Shipped::linked))?,
    };
    let named = PROGRAMS.iter().zip(bytes);
    Ok(named.map(|(program, bytes)| Program { names: program.names, bytes }).collect())
}

fn released(progress: &Progress) -> Result<Vec<Vec<u8>>> {
    let paths = static_build::build(&binaries(), progress)?;
    let read =
        |path: &PathBuf| fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    paths.iter().map(read).collect()
}

impl Shipped {
    fn linked(self) -> Linked {
        Linked { name: self.binary.name, library: self.library, main: self.main }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use xtask::workspace::cargo_output;

    #[test]
    fn the_names_are_those_of_v0_and_the_console() {
        let names: Vec<&str> =
            PROGRAMS.iter().flat_map(|program| program.names.iter().copied()).collect();
        let of_v0 = ["olm", "catalog", "opm", "configmap-server"];
        let copied = ["cpb", "cp", "copy-content"];
        let expected = of_v0.into_iter().chain(["olm-console"]).chain(copied);
        let expected: Vec<String> = expected.map(|name| format!("/bin/{name}")).collect();
        assert_eq!(names, expected);
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }

    /// The executable's own list; it is not linked here.
    #[test]
    fn the_executable_knows_each_of_its_names() {
        let list = include_str!("../../../../olm-programs/src/lib.rs");
        let (_, list) = list.split_once("const PROGRAMS").unwrap();
        let (list, _) = list.split_once("];\n").unwrap();
        let known: Vec<String> = list
            .lines()
            .filter_map(|line| Some(line.trim().strip_prefix("(\"")?.split_once('"')?.0))
            .map(|name| format!("/bin/{name}"))
            .collect();
        assert_eq!(known, PROGRAMS[0].names);
    }

    #[test]
    fn every_program_is_declared_with_its_features() {
        let text = cargo_output(&["metadata", "--format-version=1", "--no-deps"]).unwrap();
        let metadata: Value = serde_json::from_str(&text).unwrap();
        let packages = metadata["packages"].as_array().unwrap();
        for Shipped { binary, .. } in PROGRAMS {
            let package =
                packages.iter().find(|package| package["name"] == binary.package).unwrap();
            let targets = package["targets"].as_array().unwrap();
            let is_it = |t: &&Value| t["name"] == binary.name && t["kind"][0] == "bin";
            let target = targets.iter().find(is_it).unwrap_or_else(|| panic!("{binary:?}"));
            let required = target["required-features"].as_array().into_iter().flatten();
            for feature in required {
                let given = binary.features.iter().any(|given| feature == given);
                assert!(given, "{binary:?} needs {feature}");
            }
            for feature in binary.features {
                assert!(package["features"].get(feature).is_some(), "{binary:?}: {feature}");
            }
        }
    }
}
