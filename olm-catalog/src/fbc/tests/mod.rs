//! Verdicts on small catalogs written as YAML.

mod reading;
mod validation;

use std::fs;
use std::io;

use super::{
    Bundle, BundleContent, Catalog, Contents, Meta, PackageBlob, ReadLimits, load, load_into,
};

/// A package, a channel of one bundle and the bundle: the start of most cases.
const FOO: &str = r#"
{schema: olm.package, name: foo, defaultChannel: alpha}
---
{schema: olm.channel, package: foo, name: alpha, entries: [{name: foo.v0.1.0}]}
---
schema: olm.bundle
package: foo
name: foo.v0.1.0
image: quay.io/foo/foo:v0.1.0
properties: [{type: olm.package, value: {packageName: foo, version: 0.1.0}}]
"#;

/// The catalog with these files, or the complete message that says why there is none.
fn load_files(files: &[(&str, &[u8])]) -> Result<Catalog, String> {
    let root = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let place = format!("{}/", root.path().display());
    load(root.path(), &ReadLimits::default()).map_err(|error| error.to_string().replace(&place, ""))
}

/// Keeps everything.
#[derive(Default)]
struct MemoryContents {
    packages: Vec<PackageBlob>,
    bundles: Vec<BundleContent>,
    metas: Vec<Meta>,
}

impl Contents for MemoryContents {
    fn package(&mut self, package: PackageBlob) -> io::Result<()> {
        self.packages.push(package);
        Ok(())
    }

    fn bundle(&mut self, _: &str, _: &Bundle, content: BundleContent) -> io::Result<()> {
        self.bundles.push(content);
        Ok(())
    }

    fn meta(&mut self, meta: Meta) -> io::Result<()> {
        self.metas.push(meta);
        Ok(())
    }
}

/// The content of a valid catalog.
fn keep_files(files: &[(&str, &[u8])]) -> MemoryContents {
    let root = tempfile::tempdir().unwrap();
    for (name, content) in files {
        fs::write(root.path().join(name), content).unwrap();
    }
    let mut kept = MemoryContents::default();
    load_into(root.path(), &ReadLimits::default(), &mut kept).unwrap();
    kept
}

/// The catalog in one YAML file.
fn load_yaml(text: &str) -> Result<Catalog, String> {
    load_files(&[("catalog.yaml", text.as_bytes())])
}
