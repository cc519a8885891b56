//! Which operators are installed: five of a real catalog, or a small sample of the same shape.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use olm_testkit::builders::{Bundle, CatalogDir, Crd, Package, csv};
use olm_types::api::InstallModeType;
use serde_json::json;

/// The packages that are installed of a real catalog: 29 CRDs, and every kind that bundles bring.
const REAL: [&str; 5] = ["flux", "keda", "kiali", "redis-operator", "universal-crossplane"];

/// Those of the sample.
const SAMPLE: [&str; 5] = ["anvil", "bellows", "chisel", "drill", "emery"];

/// Where the real catalog is below the folder of catalogs.
const COMMUNITY: &str = "community";

/// Kinds of each operator of the sample.
const KINDS: usize = 3;

/// A catalog, and what is installed of it.
#[derive(Debug)]
pub(super) struct Content {
    catalog: PathBuf,
    packages: [&'static str; 5],
    /// The sample's files, which go with this value.
    files: Option<CatalogDir>,
}

impl Content {
    /// The packages of a real catalog.
    ///
    /// # Errors
    /// It lacks one of them.
    pub(super) fn of(catalog: PathBuf) -> Result<Self> {
        for package in REAL {
            let folder = catalog.join(package);
            ensure!(folder.is_dir(), "there is no package {package} in {}", catalog.display());
        }
        Ok(Self { catalog, packages: REAL, files: None })
    }

    /// Of the folder of catalogs, where there is one; else the sample.
    ///
    /// # Errors
    /// The catalog lacks a package, or the sample cannot be written.
    pub(super) fn find(corpus: Option<PathBuf>) -> Result<Self> {
        match corpus.map(|folder| folder.join(COMMUNITY)).filter(|folder| folder.is_dir()) {
            Some(catalog) => Self::of(catalog),
            None => Self::sample(),
        }
    }

    /// Small operators with the same kinds of objects.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn sample() -> Result<Self> {
        let files = CatalogDir::of(&SAMPLE.map(package))?;
        Ok(Self { catalog: files.path().to_owned(), packages: SAMPLE, files: Some(files) })
    }

    /// Says what is installed, and what a sample cannot show.
    pub(super) fn announce(&self) {
        println!("{} of {}", self.packages.join(", "), self.catalog.display());
        if !self.is_real() {
            println!("a small sample: set OLM_CORPUS to a folder with catalogs for the real ones");
        }
    }

    /// Whether the figures can be held against what is wanted of the real ones.
    pub(super) fn is_real(&self) -> bool {
        self.files.is_none()
    }

    /// Where the catalog is.
    pub(super) fn catalog(&self) -> &Path {
        &self.catalog
    }

    /// What is subscribed to.
    pub(super) fn packages(&self) -> [&'static str; 5] {
        self.packages
    }
}

/// An operator for all namespaces with everything that a bundle may bring.
fn package(name: &str) -> Package {
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
    let kinds: Vec<Crd> = (0..KINDS)
        .map(|number| {
            Crd::new(&format!("{name}.bench.example.com"), "v1", &format!("Part{number}"))
        })
        .collect();
    let made = csv(&format!("{name}.v1.0.0"), "1.0.0")
        .deployment(name, name)
        .permission(name, rules.clone())
        .cluster_permission(name, rules)
        .install_modes(&[InstallModeType::AllNamespaces]);
    let made = kinds.iter().fold(made, |made, kind| made.owns(kind));
    let bundle = kinds.iter().fold(Bundle::new("1.0.0", &made), Bundle::provides);
    Package::single(name, bundle.manifest(json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("{name}-settings")},
        "data": {"speed": "slow"},
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_is_there_without_a_corpus() {
        let nowhere = Some(PathBuf::from("/nowhere"));
        for content in [Content::find(None).unwrap(), Content::find(nowhere).unwrap()] {
            assert!(!content.is_real());
            for package in content.packages() {
                let file = content.catalog().join(package).join("catalog.json");
                let text = std::fs::read_to_string(file).unwrap();
                assert!(text.contains(&format!("\"{package}.v1.0.0\"")), "{text}");
                assert_eq!(text.matches("\"olm.gvk\"").count(), KINDS, "{text}");
            }
        }
    }

    #[test]
    fn a_catalog_without_a_package_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let refused = Content::of(folder.path().to_owned()).unwrap_err().to_string();
        assert!(refused.contains("flux"), "{refused}");
        std::fs::create_dir(folder.path().join(COMMUNITY)).unwrap();
        assert!(Content::find(Some(folder.path().to_owned())).is_err(), "it is no sample then");
        for package in REAL {
            std::fs::create_dir(folder.path().join(COMMUNITY).join(package)).unwrap();
        }
        assert!(Content::find(Some(folder.path().to_owned())).unwrap().is_real());
    }
}
