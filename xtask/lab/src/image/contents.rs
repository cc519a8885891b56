//! What is in the image beside the programs, and how it is run.

use anyhow::Result;
use olm_testkit::oci::{Image, ImageBuilder, Reference};

use super::programs::Program;
use super::roots;

/// The user of the programs: any but root, of the root group, as OpenShift likes it.
const USER: &str = "1001:0";

/// Names for the two users that occur.
const PASSWD: &str = "\
root:x:0:0:root:/:/sbin/nologin
olm:x:1001:0:olm:/:/sbin/nologin
";

const GROUP: &str = "root:x:0:\n";

/// Files before DNS, so that `hostAliases` of a pod work.
const NSSWITCH: &str = "hosts: files dns\n";

/// The certificates' place on Debian; the variable points every program there.
const CERTIFICATES: &str = "/etc/ssl/certs/ca-certificates.crt";

/// Puts the image together: one layer that rarely changes, and one for the programs.
///
/// # Errors
///
/// When a document or a layer cannot be written.
pub fn image(programs: Vec<Program>) -> Result<Image> {
    let version = env!("CARGO_PKG_VERSION");
    let builder = Image::builder()
        .reference(Reference::new("localhost", "olm-rs", version)?)
        .directory("/tmp", 0o1777)
        .file("/etc/passwd", PASSWD, 0o644)
        .file("/etc/group", GROUP, 0o644)
        .file("/etc/nsswitch.conf", NSSWITCH, 0o644)
        .file(CERTIFICATES, roots::pem(), 0o644)
        .layer();
    let builder = programs.into_iter().fold(builder, add);
    let builder = builder
        .user(USER)
        .entrypoint(["/bin/olm"])
        .workdir("/")
        // Init containers of catalog pods call `cp` by its bare name.
        .env("PATH", "/bin")
        .env("SSL_CERT_FILE", CERTIFICATES);
    describe(builder, version).build()
}

/// Further names are hard links: `cp -R` of any name copies the program, never a link.
fn add(builder: ImageBuilder, program: Program) -> ImageBuilder {
    let Some((first, others)) = program.names.split_first() else { return builder };
    let builder = builder.file(first, program.bytes, 0o755);
    others.iter().fold(builder, |builder, name| builder.hard_link(name, first))
}

/// Says what the image is, on the manifest and, for engines that show only those, in labels. The
/// source revision is absent: a commit that changes no program must not change the digest.
fn describe(builder: ImageBuilder, version: &str) -> ImageBuilder {
    let said = [
        ("org.opencontainers.image.title", "olm-rs"),
        (
            "org.opencontainers.image.description",
            "Installs, upgrades and scopes Kubernetes operators",
        ),
        ("org.opencontainers.image.version", version),
        ("org.opencontainers.image.licenses", env!("CARGO_PKG_LICENSE")),
    ];
    said.into_iter()
        .fold(builder, |builder, (key, value)| builder.annotation(key, value).label(key, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs() -> Vec<Program> {
        let olm = Program { names: &["/bin/olm"], bytes: b"olm".to_vec() };
        let copy = Program { names: &["/bin/cpb", "/bin/cp"], bytes: b"copy".to_vec() };
        vec![olm, copy]
    }

    #[test]
    fn the_same_programs_give_the_same_digest() {
        let one = image(programs()).unwrap();
        let other = image(programs().into_iter().rev().collect()).unwrap();
        assert_eq!(one.digest(), other.digest());
        let mut changed = programs();
        changed[0].bytes.push(b'!');
        let changed = image(changed).unwrap();
        assert_ne!(one.digest(), changed.digest());
        // What rarely changes is downloaded once.
        assert_eq!(one.layers()[0].digest(), changed.layers()[0].digest());
    }
}
