//! The executables of the image and the names that they have in it.

use std::fs;

use anyhow::{Context, Result};
use olm_testkit::progress::Progress;
use olm_testkit::static_build::{self, Binary, Profile};

/// An executable with its names, the first of which holds the file.
#[derive(Debug)]
pub struct Program {
    /// Absolute paths in the image.
    pub names: &'static [&'static str],
    /// The executable.
    pub bytes: Vec<u8>,
}

/// What is built, and under which names OLM v0's manifests and flags call it. A program with
/// several names looks at the one it is called by.
const PROGRAMS: [(Binary, &[&str]); 4] = [
    (
        Binary { package: "olm-operator", name: "olm-operator", features: &["jemalloc", "otlp"] },
        &["/bin/olm"],
    ),
    (
        Binary {
            package: "catalog-operator",
            name: "catalog-operator",
            features: &["jemalloc", "otlp"],
        },
        &["/bin/catalog"],
    ),
    (
        Binary { package: "olm-catalog", name: "olm-registry", features: &["server", "tools"] },
        &["/bin/opm", "/bin/configmap-server"],
    ),
    (
        Binary { package: "olm-catalog", name: "olm-copy", features: &["copy"] },
        &["/bin/cpb", "/bin/cp", "/bin/copy-content"],
    ),
];

/// The executables of all programs.
pub fn binaries() -> [Binary; 4] {
    PROGRAMS.map(|(binary, _)| binary)
}

/// Builds every program.
///
/// # Errors
///
/// When one cannot be built; an image without a program is of no use.
pub fn build(profile: Profile, progress: &Progress) -> Result<Vec<Program>> {
    let paths = static_build::build(&binaries(), profile, progress)?;
    let named = PROGRAMS.iter().zip(paths);
    named
        .map(|((_, names), path)| {
            let bytes =
                fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            Ok(Program { names, bytes })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::workspace::cargo_output;

    #[test]
    fn the_names_are_those_of_v0() {
        let names: Vec<&str> =
            PROGRAMS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let expected = ["olm", "catalog", "opm", "configmap-server", "cpb", "cp", "copy-content"];
        assert_eq!(names, expected.map(|name| format!("/bin/{name}")));
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }

    #[test]
    fn every_program_is_declared_with_its_features() {
        let text = cargo_output(&["metadata", "--format-version=1", "--no-deps"]).unwrap();
        let metadata: Value = serde_json::from_str(&text).unwrap();
        let packages = metadata["packages"].as_array().unwrap();
        for (binary, _) in PROGRAMS {
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
