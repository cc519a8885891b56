//! `cargo xtask image`: everything that ships, as one container image.
//!
//! Static executables, the roots of trust and hardly anything else; the image runs as a user
//! without rights and on a read-only root. The same sources give the same digest.

mod contents;
pub mod linked;
mod programs;
mod report;
mod roots;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use olm_testkit::oci::{self, Image, Reference};
use olm_testkit::progress::Progress;
use olm_testkit::static_build;

use crate::e2e;
use xtask::test::shipped;
use xtask::workspace;

pub use programs::Profile;

/// Arguments of the command.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Pushes the image, too, without TLS to a registry nearby
    #[arg(long, value_name = "REGISTRY/NAME:TAG")]
    push: Option<Reference>,
    /// What is built: the thing that ships, or one that compiles faster
    #[arg(long, value_enum, default_value_t)]
    profile: Profile,
    /// Starts what ships on a real node, has it do its main job, and notes for which state of
    /// everything that decides how it is made that was done
    #[arg(long = "try", conflicts_with_all = ["push", "profile"])]
    try_it: bool,
}

/// Runs the command.
///
/// # Errors
///
/// When the registry is away, which is looked at first, the static build fails, the archive
/// cannot be written, or the registry does not take the image.
pub fn run(arguments: &Arguments) -> Result<()> {
    if arguments.try_it {
        return try_it();
    }
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    if let Some(reference) = &arguments.push {
        runtime.block_on(oci::reach(reference.registry()))?;
    }
    let start = Instant::now();
    let image = build(arguments.profile, &Progress::to_stderr())?;
    let archive = archive();
    image.write_archive(&archive)?;
    report::print(&image, &archive, start.elapsed());
    if let Some(reference) = &arguments.push {
        let (registry, repository) = (reference.registry(), reference.repository());
        let push = oci::push(&image, registry, repository, reference.tag());
        report::print_pushed(&runtime.block_on(push)?);
    }
    Ok(())
}

/// What the programs rely on when a task panics: that it unwinds. Code that does so has a place of its own in what
/// ships.
const UNWINDS: &str = "olm-tasks";

/// Builds the image that ships, has it do its main job on a real node, and notes that.
///
/// # Errors
///
/// When it cannot be built or started, or does not do it, or a panic does not unwind in what ships.
pub fn try_it() -> Result<()> {
    static_build::test(UNWINDS, &Progress::to_stderr())?;
    e2e::run(&e2e::Arguments::of_the_image_that_ships())?;
    shipped::note()
}

/// Builds the image; others, such as the e2e runner, hand it to a cluster without an archive.
///
/// # Errors
///
/// When the static build fails or a program is missing.
pub fn build(profile: Profile, progress: &Progress) -> Result<Image> {
    let programs = programs::build(profile)?;
    progress.step("image");
    contents::image(programs)
}

/// Builds the image that ships into an archive.
///
/// # Errors
///
/// When the static build fails, or the archive cannot be written.
pub fn write(archive: &Path) -> Result<()> {
    build(Profile::Release, &Progress::to_stderr())?.write_archive(archive)
}

/// Where the archive is written.
pub fn archive() -> PathBuf {
    workspace::root().join("target/olm-rs-image.tar")
}
