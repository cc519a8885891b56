//! Catalogs in the format from before file-based catalogs: three lists in a ConfigMap (spec
//! catalog-operator 1.7).
//!
//! ```text
//! customResourceDefinitions  clusterServiceVersions  packages
//!          \_______________________|___________________/
//!                               convert --> blobs of a file-based catalog, problems
//! ```
//! Pure. A channel of a package names its newest CSV; the others are found by following `replaces`.

mod chain;
mod lists;
mod packages;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::fbc::{Blob, Located, Origin};

/// Key of the list of CRDs.
pub const CRDS: &str = "customResourceDefinitions";
/// Key of the list of CSVs.
pub const CSVS: &str = "clusterServiceVersions";
/// Key of the list of packages.
pub const PACKAGES: &str = "packages";

/// What a ConfigMap holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Converted {
    /// Blobs of the packages that are whole.
    pub blobs: Vec<Located<Blob>>,
    /// What is wrong with the others.
    pub problems: Vec<LegacyProblem>,
    /// Names of CSVs that no channel leads to.
    pub unused: Vec<String>,
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

/// Reads the lists in `data`, the data of a ConfigMap.
pub fn convert(data: &BTreeMap<String, String>) -> Converted {
    let mut converted = Converted::default();
    let lists = lists::read(data, &mut converted.problems);
    packages::convert(&lists, &mut converted);
    converted
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

/// The place of an element, for problems that are found later.
fn origin(key: &str, number: usize) -> Origin {
    Origin { file: Arc::from(Path::new(key)), document: number }
}
