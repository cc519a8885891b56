//! axe-core, which finds what of a page keeps users out. It is a script of npm under the MPL: got when a test
//! needs it, compared with a digest, and never a part of this repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha512};

use crate::cache::{once, tools_dir};
use crate::progress::Progress;
use crate::run::{Reminder, run};

/// The version.
const VERSION: &str = "4.14.1";

/// Digest of its archive, as npm has it.
const SHA512: [&str; 2] = [
    "1477dafa598d8d065f273d6af302aa203c02e83131707b7fa648cd41bd3d6b73",
    "4f8c22a0dab86ee6a6f64b8afbe804b214d36db85a2826965edfb3a0b9d546b5",
];

/// The script.
#[derive(Clone, Debug)]
pub struct AxeCore {
    path: PathBuf,
}

impl AxeCore {
    /// Finds the script, and gets it with npm when it is missing.
    ///
    /// # Errors
    ///
    /// There is no npm, it cannot get the script, or what it gets is another one.
    pub fn ensure(progress: &Progress) -> Result<Self> {
        let name = format!("axe-core-{}", VERSION.replace('.', "-"));
        let folder = once(&tools_dir()?, &name, progress, |folder| get(folder, progress))?;
        Ok(Self { path: folder.join("package/axe.min.js") })
    }

    /// Its text.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn script(&self) -> Result<String> {
        fs::read_to_string(&self.path)
            .with_context(|| format!("cannot read {}", self.path.display()))
    }
}

fn get(folder: &Path, progress: &Progress) -> Result<()> {
    progress.step(format!("getting axe-core {VERSION} with npm, once per machine"));
    let mut npm = Command::new("npm");
    npm.current_dir(folder).args(["pack", "--silent", "--ignore-scripts"]);
    npm.arg(format!("axe-core@{VERSION}"));
    let log = folder.join("npm.log");
    let line = |_, seconds| format!("axe-core: npm has been at it for {seconds} s");
    run(npm, &log, progress, &mut Reminder::new(), line).context("npm cannot get axe-core")?;
    let archive = format!("axe-core-{VERSION}.tgz");
    let bytes = fs::read(folder.join(&archive)).context("npm has written no archive")?;
    let digest = hexadecimal(&bytes);
    ensure!(
        digest == SHA512.concat(),
        "npm got another axe-core {VERSION}: its SHA-512 is {digest}"
    );
    let mut tar = Command::new("tar");
    tar.current_dir(folder).args(["-xzf", &archive]).stdin(Stdio::null());
    let unpacked = tar.status().context("cannot run tar")?;
    ensure!(unpacked.success(), "tar cannot unpack {archive}");
    Ok(())
}

fn hexadecimal(bytes: &[u8]) -> String {
    Sha512::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_that_of_sha_512() {
        let digest = hexadecimal(b"abc");
        assert_eq!(digest.len(), SHA512.concat().len());
        assert!(digest.starts_with("ddaf35a193617abacc417349ae204131"), "{digest}");
    }
}
