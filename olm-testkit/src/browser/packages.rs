//! Where the browser comes from: Debian's packages, whose programs have to be on PATH.

use std::path::PathBuf;

use anyhow::{Context, Result};

/// Programs, each with the package that brings it.
const PROGRAMS: [(&str, &str); 2] = [("chromium", "chromium"), ("chromedriver", "chromium-driver")];

/// Packages that bring what this machine lacks.
#[must_use]
pub fn missing_packages() -> Vec<&'static str> {
    let lacking = PROGRAMS.into_iter().filter(|(program, _)| find(program).is_none());
    lacking.map(|(_, package)| package).collect()
}

/// Why no browser can be started, and what would help; none where one can.
#[must_use]
pub fn missing() -> Option<String> {
    let packages = missing_packages().join(" ");
    (!packages.is_empty()).then(|| {
        format!(
            "there is no browser: `apt-get install {packages}`, or `OLM_INSTALL_PACKAGES=1 cargo xtask e2e --prepare`"
        )
    })
}

/// The browser and its driver.
pub(super) fn programs() -> Result<(PathBuf, PathBuf)> {
    let [browser, driver] = PROGRAMS.map(|(program, package)| {
        find(program).with_context(|| format!("{program} is not there: apt-get install {package}"))
    });
    Ok((browser?, driver?))
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(program));
    places.find(|place| place.is_file())
}
