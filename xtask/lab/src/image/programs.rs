//! The executables of the image and the names that they have in it.

use std::fs;

use anyhow::{Context, Result};
use clap::ValueEnum;
use xtask::build::shipped::of_image;

use super::linked::{self, Linked};

/// An executable with its names, the first of which holds the file.
#[derive(Debug)]
pub struct Program {
    /// Absolute paths in the image.
    pub names: &'static [&'static str],
    /// The executable.
    pub bytes: Vec<u8>,
}

/// The names under which OLM v0's manifests and flags call each, and the console. An executable with several names
/// looks at the one it is called by.
const PROGRAMS: [Shipped; 5] = [
    Shipped {
        name: "olm-operator",
        library: "olm_operator",
        main: "olm-operator/src/main.rs",
        names: &["/bin/olm"],
    },
    Shipped {
        name: "catalog-operator",
        library: "catalog_operator",
        main: "catalog-operator/src/main.rs",
        names: &["/bin/catalog"],
    },
    Shipped {
        name: "olm-registry",
        library: "olm_catalog",
        main: "olm-catalog/src/bin/olm-registry.rs",
        names: &["/bin/opm", "/bin/configmap-server"],
    },
    Shipped {
        name: "olm-console",
        library: "olm_console",
        main: "olm-console/src/main.rs",
        names: &["/bin/olm-console"],
    },
    Shipped {
        name: "olm-copy",
        library: "olm_catalog",
        main: "olm-catalog/src/bin/olm-copy.rs",
        names: &["/bin/cpb", "/bin/cp", "/bin/copy-content"],
    },
];

/// A program of the image.
#[derive(Clone, Copy, Debug)]
struct Shipped {
    /// The executable.
    name: &'static str,
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

/// Builds every program.
///
/// # Errors
///
/// When one cannot be built; an image without a program is of no use.
pub fn build(profile: Profile) -> Result<Vec<Program>> {
    let bytes = match profile {
        Profile::Release => released()?,
        Profile::Debug => linked::programs(&PROGRAMS.map(Shipped::linked))?,
    };
    let named = PROGRAMS.iter().zip(bytes);
    Ok(named.map(|(program, bytes)| Program { names: program.names, bytes }).collect())
}

fn released() -> Result<Vec<Vec<u8>>> {
    let folder = of_image()?;
    let read = |program: Shipped| {
        let path = folder.join(program.name);
        fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    PROGRAMS.into_iter().map(read).collect()
}

impl Shipped {
    fn linked(self) -> Linked {
        Linked { name: self.name, library: self.library, main: self.main }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use xtask::build::shipped::IMAGE;
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

    #[test]
    fn the_image_has_what_is_built_for_it() {
        let built = IMAGE.map(|binary| binary.name);
        assert_eq!(PROGRAMS.map(|program| program.name), built);
    }

    #[test]
    fn every_program_is_declared_with_its_features() {
        let text = cargo_output(&["metadata", "--format-version=1", "--no-deps"]).unwrap();
        let metadata: Value = serde_json::from_str(&text).unwrap();
        let packages = metadata["packages"].as_array().unwrap();
        for binary in IMAGE {
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
