//! Which parts of the target folder are of the workspace's own packages, and of use to another checkout.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::unit::{DEPS, FINGERPRINTS, compiled, hash, names, stem, units};
use crate::build::Built;

/// What this program is made of, and has been compiled when it runs.
const THIS_PROGRAM: [&str; 2] = ["xtask", "olm-tools"];

/// Whether nothing was compiled in this target folder but this program. Where something was, its files may have been
/// others then: an earlier time for them would make cargo take it for fresh.
pub(super) fn is_untouched(target: &Path, packages: &BTreeSet<String>) -> bool {
    let others = packages.iter().filter(|name| !THIS_PROGRAM.contains(&name.as_str()));
    units(target, &others.cloned().collect()).is_empty()
}

/// The parts of these packages that builds in this target folder used.
pub(super) fn used(
    target: &Path,
    packages: &BTreeSet<String>,
    builds: &[&Built],
) -> BTreeSet<String> {
    let executables = builds.iter().flat_map(|built| &built.executables);
    let executables: Vec<_> = executables.map(|one| &*one.path).collect();
    let mut hashes = hashes_of(target, &executables);
    hashes.extend(builds.iter().flat_map(|built| built.hashes.iter().cloned()));
    let is_used = |unit: &String| hashes.contains(hash(unit));
    let used = units(target, packages).into_iter().filter(is_used).collect();
    &documented(target, packages) | &used
}

/// The parts of some packages that made the documentation, of each package the last one.
fn documented(folder: &Path, packages: &BTreeSet<String>) -> BTreeSet<String> {
    let is_documentation = |unit: &String| {
        names(&folder.join(FINGERPRINTS).join(unit)).any(|name| name.starts_with("doc-"))
    };
    let found = units(folder, packages).into_iter().filter(is_documentation);
    let mut of_packages: BTreeMap<String, String> = BTreeMap::new();
    for unit in found {
        let package = unit.rsplit_once('-').map_or("", |(package, _)| package).to_owned();
        let known = of_packages.entry(package).or_insert_with(|| unit.clone());
        if compiled(folder, known) < compiled(folder, &unit) {
            *known = unit;
        }
    }
    of_packages.into_values().collect()
}

/// The hashes of executables to which cargo gave a name without one: each has a second name with it.
fn hashes_of(folder: &Path, executables: &[&Path]) -> BTreeSet<String> {
    let file = |path: &Path| fs::metadata(path).ok().map(|of| (of.dev(), of.ino()));
    let wanted: BTreeSet<_> = executables.iter().filter_map(|path| file(path)).collect();
    let deps = folder.join(DEPS);
    let same = names(&deps)
        .filter(|name| file(&deps.join(name)).is_some_and(|file| wanted.contains(&file)));
    same.map(|name| hash(stem(&name)).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Executable;

    fn write(folder: &Path, path: &str, text: &str) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_checkout_in_which_something_was_compiled_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let packages = ["olm-types", "olm-tools", "xtask"].map(str::to_owned).into();
        for unit in ["xtask-01/bin-xtask", "olm-tools-02/lib-olm_tools", "serde-03/lib-serde"] {
            write(folder.path(), &format!(".fingerprint/{unit}"), "");
        }
        assert!(is_untouched(folder.path(), &packages));
        write(folder.path(), ".fingerprint/olm-types-04/lib-olm_types", "");
        assert!(!is_untouched(folder.path(), &packages));
    }

    #[test]
    fn what_builds_used_is_found_by_hash_by_file_and_as_documentation() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path();
        for (unit, file) in [
            ("olm-kit-01", "lib-olm_kit"),
            ("olm-kit-02", "lib-olm_kit"),
            ("olm-kit-03", "doc-lib-olm_kit"),
            ("olm-operator-04", "bin-olm-operator"),
            ("olm-catalog-05", "test-integration-test-main"),
            ("serde-06", "lib-serde"),
        ] {
            write(target, &format!(".fingerprint/{unit}/{file}"), "");
        }
        write(target, "deps/olm_operator-04", "program");
        let program = target.join("olm-operator");
        fs::hard_link(target.join("deps/olm_operator-04"), &program).unwrap();
        let executable = Executable {
            package: "olm-operator".to_owned(),
            name: "olm-operator".to_owned(),
            folder: target.to_owned(),
            path: program,
            tests: false,
        };
        let hashes = ["01", "06"].map(str::to_owned).into();
        let built = Built { hashes, executables: vec![executable], ..Built::default() };
        let packages = ["olm-kit", "olm-operator", "olm-catalog"].map(str::to_owned).into();
        let found = used(target, &packages, &[&built]);
        assert_eq!(Vec::from_iter(found), ["olm-kit-01", "olm-kit-03", "olm-operator-04"]);
    }
}
