//! `configmap-server`, which serves the catalog in a ConfigMap.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::module::{Module, Source};
use crate::progress::Progress;

/// The program as its module has it.
const PACKAGE: &str = "github.com/operator-framework/operator-registry/cmd/configmap-server";

/// Leaves out what would need another C library, and shares packages with `opm`.
const TAG: &str = "containers_image_openpgp";

/// The Go module that pins it: that of `opm`, which comes from the same module.
const FILES: [Source; 2] = [
    ("go.mod", include_str!("../../../../xtask/opm/go.mod")),
    ("go.sum", include_str!("../../../../xtask/opm/go.sum")),
];

/// The built program.
#[derive(Clone, Debug)]
pub struct ConfigMapServer {
    program: PathBuf,
}

impl ConfigMapServer {
    /// Finds the program, building it when it is missing. Its database is in C, so it needs a C compiler.
    ///
    /// # Errors
    /// There is no Go, or the build fails; the error ends with what Go says.
    pub fn ensure(progress: &Progress) -> Result<Self> {
        let folder = module().ensure(progress, |_| Ok(()))?;
        Ok(Self { program: folder.join("configmap-server") })
    }

    /// The executable.
    pub fn program(&self) -> &Path {
        &self.program
    }
}

fn module() -> Module {
    let (title, packages) = ("configmap-server v1.73.0", vec![PACKAGE.to_owned()]);
    Module {
        tags: vec![TAG.to_owned()],
        // The compiler of C takes a minute to make the database fast, which it need not be.
        env: &[("CGO_ENABLED", "1"), ("CGO_CFLAGS", "-O0 -g0")],
        ..Module::new("configmap-server", title, &FILES, packages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_version_is_the_one_that_is_reported() {
        let [(_, go_mod), (_, go_sum)] = FILES;
        let version = module().title.strip_prefix("configmap-server ").unwrap();
        let (registry, _) = PACKAGE.split_once("/cmd/").unwrap();
        assert!(go_mod.contains(&format!("{registry} {version}\n")));
        assert!(go_sum.contains(&format!("{registry} {version} ")));
    }
}
