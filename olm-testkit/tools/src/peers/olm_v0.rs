//! The operators and the package server of OLM v0, and the definitions that it comes with.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::module::{Module, ModuleBuild, Source};
use crate::patch::{Patch, entries};
use crate::progress::Progress;

/// The module of OLM v0.
pub(super) const REQUIRES: &str = "github.com/operator-framework/operator-lifecycle-manager";

/// The folder of that module with the definitions.
const DEFINITIONS: &str = "deploy/chart/crds";

/// The Go module that pins it.
pub(super) const FILES: [Source; 3] = [
    ("go.mod", include_str!("../../../../xtask/olm/go.mod")),
    ("go.sum", include_str!("../../../../xtask/olm/go.sum")),
    ("tools.go", include_str!("../../../../xtask/olm/tools.go")),
];

/// The package server reviews access with the account of its Pod, whatever `--kubeconfig` says: it sets the
/// file on its options of authentication twice. Outside of a Pod it would try for ever.
const OUTSIDE_OF_PODS: Patch = Patch {
    module: REQUIRES,
    file: "pkg/package-server/server/server.go",
    from: "authorizationOptions.AllowCacheTTL",
    to: concat!(
        "authorizationOptions.RemoteKubeConfigFile = o.Kubeconfig\n",
        "authorizationOptions.AllowCacheTTL",
    ),
};

/// The built programs.
#[derive(Clone, Debug)]
pub struct OlmV0 {
    dir: PathBuf,
}

impl OlmV0 {
    /// The names of the operators, as the audit log has them.
    pub const PROGRAMS: [&str; 2] = ["olm", "catalog"];

    /// The name of the package server, which writes nothing.
    pub const PACKAGE_SERVER: &str = "package-server";

    /// Finds the programs, building them when they are missing.
    ///
    /// # Errors
    /// There is no Go, or the build fails; the error ends with what Go says.
    pub fn ensure(progress: &Progress) -> Result<Self> {
        let dir = module().ensure(progress, |workshop| {
            keep_definitions(workshop, &workshop.output.join("definitions"))
        })?;
        Ok(Self { dir })
    }

    /// The version, as its module says it.
    pub fn version() -> &'static str {
        let (_, go_mod) = FILES[0];
        let line = go_mod.lines().find_map(|line| line.strip_prefix("require "));
        line.and_then(|line| line.split(' ').nth(1)).unwrap_or_default()
    }

    /// The executable of one of [`Self::PROGRAMS`], or of [`Self::PACKAGE_SERVER`].
    pub fn program(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// The texts of its definitions.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn definitions(&self) -> Result<Vec<String>> {
        let mut files = entries(&self.dir.join("definitions"))?;
        files.sort();
        let text = |file: &PathBuf| fs::read_to_string(file).context("cannot read a file");
        files.iter().map(text).collect()
    }
}

fn module() -> Module {
    let programs = OlmV0::PROGRAMS.into_iter().chain([OlmV0::PACKAGE_SERVER]);
    let packages = programs.map(|name| format!("{REQUIRES}/cmd/{name}")).collect();
    let (title, patch) = ("the programs of OLM v0", Some(OUTSIDE_OF_PODS));
    let tags = vec!["containers_image_openpgp".to_owned()];
    Module { tags, patch, ..Module::new("olm-v0", title, &FILES, packages) }
}

/// Copies the definitions out of the module.
fn keep_definitions(workshop: &ModuleBuild<'_>, kept: &Path) -> Result<()> {
    let mut command = workshop.command();
    let listed = command.args(["list", "-m", "-f", "{{.Dir}}", REQUIRES]).output();
    let listed = listed.context("cannot run go")?;
    ensure!(listed.status.success(), "go list: {}", String::from_utf8_lossy(&listed.stderr));
    let module = PathBuf::from(String::from_utf8_lossy(&listed.stdout).trim());
    fs::create_dir_all(kept).context("cannot create a folder")?;
    for file in entries(&module.join(DEFINITIONS))? {
        let text = fs::read(&file).context("cannot read a file")?;
        let name = file.file_name().context("a file has no name")?;
        // Files of a module may be read-only, and a copy would be, too.
        fs::write(kept.join(name), text).context("cannot write a file")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_requires_the_programs() {
        let [(_, go_mod), (_, go_sum), (_, tools)] = FILES;
        assert!(go_mod.contains(&format!("require {REQUIRES} v")));
        assert!(go_sum.contains(&format!("{REQUIRES} v")));
        for program in module().packages {
            assert!(tools.contains(&format!("\"{program}\"")), "{program}");
        }
    }
}
