//! The image that test operators run, and the sandbox image of test nodes.

use anyhow::{Context, Result};

use crate::oci::{Image, Reference};
use crate::progress::Progress;
use crate::static_build::{self, Binary};

/// The program: waits, serves HTTP, or ends with a code.
pub const PROGRAM: Binary = Binary { package: "olm-workload", name: "olm-workload", features: &[] };

/// Its path in the image.
pub const PATH: &str = "/olm-workload";

/// Builds the image. Without arguments it waits for SIGTERM (`pause`); `serve --port N` and
/// `exit --code N` are the other ways to run it.
///
/// # Errors
///
/// When the static build fails.
pub fn image(progress: &Progress) -> Result<Image> {
    let built = static_build::build(&[PROGRAM], progress)?;
    let path = built.first().context("nothing was built")?;
    image_of(std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?)
}

/// The image with a static executable of the program.
///
/// # Errors
///
/// A layer cannot be written.
pub fn image_of(program: Vec<u8>) -> Result<Image> {
    Image::builder()
        .reference(Reference::new("localhost", "olm-workload", env!("CARGO_PKG_VERSION"))?)
        .directory("/tmp", 0o1777)
        .file(PATH, program, 0o755)
        .user("1001:0")
        .entrypoint([PATH])
        .cmd(["pause"])
        .build()
}
