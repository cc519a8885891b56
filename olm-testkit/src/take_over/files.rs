//! What v0 and we apply, as files for kubectl.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::deploy::{self, Options};
use crate::kubectl::Kubectl;
use crate::operators::OLM_NAMESPACE;

/// The CSV and the Deployment by which v0 serves the packages API.
pub const PACKAGE_SERVER: &str = "packageserver";

/// The API that it serves: the API server proxies its objects, and does not store them.
pub const PACKAGES: &str = "packages.operators.coreos.com";

/// What an installation of v0 applies beside its definitions.
const V0: &str = include_str!("v0.yaml");

/// Files in a folder.
#[derive(Debug)]
pub struct Files {
    dir: PathBuf,
}

impl Files {
    /// Writes our files into a folder.
    ///
    /// # Errors
    /// A file of `deploy/` is bad, or the folder cannot be written.
    pub fn write(dir: &Path) -> Result<Self> {
        let files = Self { dir: dir.to_owned() };
        files.put("crds.yaml", &deploy::render("", &deploy::definitions()?)?)?;
        files.put("olm.yaml", &deploy::render("", &deploy::objects(&Options::default())?)?)?;
        Ok(files)
    }

    /// Writes v0's beside them, with these definitions.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn of_v0(&self, definitions: &[String]) -> Result<()> {
        self.put("v0-crds.yaml", &definitions.join("\n---\n"))?;
        self.put("v0.yaml", V0)
    }

    /// Installs ours over whatever is there, as docs/take-over.md says.
    ///
    /// # Errors
    /// kubectl's.
    pub fn apply(&self, kubectl: &Kubectl) -> Result<()> {
        self.apply_both(kubectl, "crds.yaml", "olm.yaml")
    }

    /// Installs v0 over whatever is there, as docs/take-over.md says.
    ///
    /// # Errors
    /// kubectl's.
    pub fn apply_v0(&self, kubectl: &Kubectl) -> Result<()> {
        self.apply_both(kubectl, "v0-crds.yaml", "v0.yaml")
    }

    /// Ends the Pods of both operators, whosever they are; their Deployments stay.
    ///
    /// # Errors
    /// kubectl's.
    pub fn stop_operators(&self, kubectl: &Kubectl) -> Result<()> {
        let both = ["deployment/olm-operator", "deployment/catalog-operator"];
        let scale = ["-n", OLM_NAMESPACE, "scale", "--replicas=0"];
        kubectl.run(&[&scale[..], &both].concat())?;
        let pods = ["-l", "app in (olm-operator, catalog-operator)", "--timeout=90s"];
        let wait = ["-n", OLM_NAMESPACE, "wait", "--for=delete", "pod"];
        kubectl.run(&[&wait[..], &pods].concat()).map(drop)
    }

    /// Applies our definitions alone, and waits until they are served.
    ///
    /// # Errors
    /// kubectl's.
    pub fn apply_definitions(&self, kubectl: &Kubectl) -> Result<()> {
        self.define(kubectl, "crds.yaml")
    }

    fn apply_both(&self, kubectl: &Kubectl, definitions: &str, objects: &str) -> Result<()> {
        self.define(kubectl, definitions)?;
        kubectl.run(&["apply", "-f", &self.path(objects)]).map(drop)
    }

    fn define(&self, kubectl: &Kubectl, definitions: &str) -> Result<()> {
        let file = self.path(definitions);
        kubectl.run(&["apply", "--server-side", "--force-conflicts", "-f", &file])?;
        let wait = ["wait", "--for=condition=Established", "--timeout=90s", "-f", &file];
        kubectl.run(&wait).map(drop)
    }

    fn path(&self, name: &str) -> String {
        self.dir.join(name).to_string_lossy().into_owned()
    }

    fn put(&self, name: &str, text: &str) -> Result<()> {
        let file = self.dir.join(name);
        std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
    }
}
