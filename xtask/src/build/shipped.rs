//! The programs that ship: static, and each by itself. A process that runs one of several programs in one file has
//! much of the others in its memory, as the kernel maps 64 KB of a file around each page that is needed.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use olm_tools::Progress;
use olm_tools::static_build::{self, Binary};

/// Those of the image.
pub const IMAGE: [Binary; 5] = [
    Binary { package: "olm-operator", name: "olm-operator", features: &["jemalloc", "otlp"] },
    Binary {
        package: "catalog-operator",
        name: "catalog-operator",
        features: &["jemalloc", "otlp"],
    },
    Binary {
        package: "olm-catalog",
        name: "olm-registry",
        features: &["jemalloc", "server", "tools"],
    },
    Binary { package: "olm-console", name: "olm-console", features: &["jemalloc"] },
    // Runs in images of others, and is copied there.
    Binary { package: "olm-catalog", name: "olm-copy", features: &["copy"] },
];

/// What users run.
pub const PLUGIN: Binary = Binary { package: "kubectl-olm", name: "kubectl-olm", features: &[] };

/// What test operators run.
const WORKLOAD: Binary = Binary { package: "olm-workload", name: "olm-workload", features: &[] };

/// Builds what the image holds; the folder with it.
///
/// # Errors
/// Something does not compile, or is not static.
pub fn of_image() -> Result<PathBuf> {
    build(&IMAGE)
}

/// Builds everything that clusters start: what the image holds, what users run and what test operators run. Each
/// has the features that it has when it is built for a release, so nothing is built twice.
///
/// # Errors
/// Something does not compile, or is not static.
pub fn all() -> Result<PathBuf> {
    build(&[PLUGIN])?;
    build(&[WORKLOAD])?;
    of_image()
}

fn build(binaries: &[Binary]) -> Result<PathBuf> {
    let built = static_build::build(binaries, &Progress::to_stderr())?;
    let folder = built.first().and_then(|path| path.parent()).map(Path::to_path_buf);
    folder.context("nothing was built")
}
