//! `cargo xtask release --dry-run`: everything that a release consists of, in one folder.
//!
//! ```text
//! crates      the library crates as they would be published, each compiled from its package
//! examples    programs outside the workspace, built and tested against the crates
//! image       what every container runs, as an OCI archive
//! manifests   crds.yaml and olm.yaml for kubectl
//! chart       the same for Helm
//! policies    policies.yaml, what the API server may refuse; for those who want that
//! plugin      kubectl olm as an archive, and its manifest for krew
//! sbom        what the shipped programs are made of
//! changes     the section of CHANGELOG.md
//! checksums   SHA256SUMS of all of it
//! ```
//!
//! Nothing leaves the machine. To publish takes rights that a checkout does not have.

mod changes;
mod chart;
mod checksums;
mod crates;
mod plugin;
mod policies;
mod sbom;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::{examples, image, manifests};
use xtask::workspace;

/// Arguments of the command.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Makes everything and publishes nothing; the only way so far
    #[arg(long)]
    dry_run: bool,
    /// The folder; target/release-VERSION by default
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Compiles neither the packaged crates nor the examples, and does not try the image
    #[arg(long)]
    no_verify: bool,
}

/// Version of everything in this checkout.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Makes the release.
///
/// # Errors
///
/// When a part cannot be made; the message names it.
pub fn run(arguments: &Arguments) -> Result<()> {
    ensure!(
        arguments.dry_run,
        "only `release --dry-run` is there: publishing is up to those who own the names"
    );
    let default = || workspace::root().join(format!("target/release-{VERSION}"));
    let out = arguments.out.clone().unwrap_or_else(default);
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| format!("cannot empty {}", out.display()))?;
    }
    fs::create_dir_all(&out).with_context(|| format!("cannot create {}", out.display()))?;
    make(&out, !arguments.no_verify)?;
    checksums::write(&out)?;
    report(&out)
}

fn make(out: &Path, verify: bool) -> Result<()> {
    crates::package(out, verify).context("cannot package the crates")?;
    if verify {
        examples::check().context("the examples do not work")?;
    }
    image::write(&out.join(format!("olm-rs-{VERSION}.oci.tar")))
        .context("cannot build the image")?;
    if verify {
        image::try_it().context("the image does not do its job")?;
    }
    manifests::write_default(out).context("cannot write the manifests")?;
    chart::write(out).context("cannot write the chart")?;
    policies::write(out).context("cannot write the policies")?;
    plugin::write(out, VERSION).context("cannot make the plugin of kubectl")?;
    sbom::write(&out.join(format!("olm-rs-{VERSION}.cdx.json")))
        .context("cannot list what it is made of")?;
    let notes = changes::of(VERSION, &workspace::root().join("CHANGELOG.md"))?;
    fs::write(out.join("CHANGES.md"), notes).context("cannot write the changes")
}

fn report(out: &Path) -> Result<()> {
    println!("{}", out.display());
    for (name, size) in checksums::files(out)? {
        println!("{size:>12}  {name}");
    }
    Ok(())
}
