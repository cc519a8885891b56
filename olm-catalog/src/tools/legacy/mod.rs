//! Catalogs in the format from before file-based catalogs: three lists in a ConfigMap (spec
//! catalog-operator 1.7).
//!
//! ```text
//! customResourceDefinitions -> clusterServiceVersions -> packages
//!            lists                    bundles            channels
//!                  \____________________|___________________/
//!                             load --> catalog, problems
//! ```
//! What is taken, refused and left out is what v0's loader takes, refuses and leaves out
//! (operator-registry v1.73, `pkg/sqlite/configmap.go` and `load.go`), and the catalog answers as its
//! database does. So the rules of file-based catalogs are none of these: a package may have any name,
//! two bundles may have one version, and a CSV that no channel leads to is not offered.

mod bundles;
mod calls;
mod catalog;
mod channels;
mod crds;
mod go;
mod lists;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

pub use catalog::LegacyCatalog;

/// Key of the list of CRDs.
pub const CRDS: &str = "customResourceDefinitions";
/// Key of the list of CSVs.
pub const CSVS: &str = "clusterServiceVersions";
/// Key of the list of packages.
pub const PACKAGES: &str = "packages";

/// What a ConfigMap holds.
#[derive(Debug, Default)]
pub struct Loaded {
    /// What could be read.
    pub catalog: LegacyCatalog,
    /// What is wrong with the rest; v0 serves nothing then, unless it is run as permissive.
    pub problems: Vec<LegacyProblem>,
}

/// Something that is wrong with a list, or with an element of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegacyProblem {
    /// Key of the list.
    pub key: &'static str,
    /// Number of the element, from 1; none if the list itself is meant.
    pub element: Option<usize>,
    /// Name of the element; may be empty.
    pub name: String,
    /// What is wrong.
    pub message: String,
}

/// Reads the lists in `data`, the data of a ConfigMap. A list that cannot be read ends that.
pub fn load(data: &BTreeMap<String, String>) -> Loaded {
    let mut loaded = Loaded::default();
    let Loaded { catalog, problems } = &mut loaded;
    // The loader stops where there is no list; what it has by then stays.
    let _ = load_into(data, catalog, problems).map_err(|problem| problems.push(problem));
    catalog.finish();
    loaded
}

fn load_into(
    data: &BTreeMap<String, String>,
    catalog: &mut LegacyCatalog,
    problems: &mut Vec<LegacyProblem>,
) -> Result<(), LegacyProblem> {
    let crds = crds::read(lists::crds(data)?, problems);
    for (number, csv) in lists::csvs(data)? {
        let name = csv.name().to_owned();
        let wrong = |message| LegacyProblem::of_element(CSVS, number, &name, message);
        let bundle = bundles::read(&csv, &crds, |message| problems.push(wrong(message)));
        if let Err(message) = bundle.and_then(|bundle| catalog.add_bundle(bundle)) {
            problems.push(wrong(message));
        }
    }
    for (number, package) in lists::packages(data)? {
        for message in catalog.add_package(&package).err().unwrap_or_default() {
            let problem =
                LegacyProblem::of_element(PACKAGES, number, &package.package_name, message);
            problems.push(problem);
        }
    }
    Ok(())
}

impl LegacyProblem {
    fn of_list(key: &'static str, message: impl Into<String>) -> Self {
        Self { key, element: None, name: String::new(), message: message.into() }
    }

    fn of_element(
        key: &'static str,
        number: usize,
        name: &str,
        message: impl Into<String>,
    ) -> Self {
        Self { key, element: Some(number), name: name.to_owned(), message: message.into() }
    }
}

impl fmt::Display for LegacyProblem {
    /// `packages, element 2 ("etcd"): …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key)?;
        if let Some(number) = self.element {
            write!(f, ", element {number}")?;
        }
        if !self.name.is_empty() {
            write!(f, " ({:?})", self.name)?;
        }
        write!(f, ": {}", self.message)
    }
}
