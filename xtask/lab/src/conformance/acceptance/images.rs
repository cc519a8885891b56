//! Images for the names that specs use. Bundles and catalogs are in `xtask/acceptance/images`, one
//! folder for each name and tag; what runs is our image, the program of test operators, or one of the
//! programs in `xtask/acceptance`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use olm_testkit::oci::{self, Image, ImageBuilder, Reference};
use olm_testkit::peer::AcceptanceSuite;
use olm_testkit::progress::Progress;
use olm_testkit::workload;
use serde::Deserialize;

use crate::image::{self, Profile, linked};
use xtask::workspace;

/// An image: its path in every registry, and its tag.
type Name = (&'static str, &'static str);

/// Our own.
const OLM: Name = ("olm-rs", env!("CARGO_PKG_VERSION"));

/// Serves the file-based catalogs that specs put into ConfigMaps, and those of `catalogs`.
const OPM: Name = ("operator-framework/opm", "latest");

/// A file of a cache as `opm` makes them, which ours leave alone.
const CACHE: &str = "/tmp/cache/pogreb.v1/digest";

/// What only has to run.
const WORKLOADS: [Name; 4] = [
    ("bitnami/nginx", "latest"),
    ("openshift-scale/nginx", "latest"),
    ("kiali/kiali-operator", "v1.4.2"),
    ("olmtest/olm-workload", "latest"),
];

/// What has to answer, the program that does, and its user.
const PROGRAMS: [(Name, &str, &str); 3] = [
    (("operator-framework/mock-extension-apiserver", "master"), "mock-extension-apiserver", "0:0"),
    // Its specs are about a program that needs root.
    (("olmtest/old-opm-catsrc", "v1.21.0"), "old-opm", "0:0"),
    (("olmtest/webhook-operator", "0.0.5"), "webhook-operator", "1001:0"),
];

/// A bundle of the suite itself, and the image that its catalog names.
const KIALI: (&str, Name) =
    ("kiali-image-bundle", ("olmtest/installplan_e2e-bundle-image", "latest"));

/// What is built before a registry is there.
pub(super) struct Images {
    olm: Image,
    workload: Image,
}

impl Images {
    /// Builds both.
    ///
    /// # Errors
    ///
    /// The workspace does not compile, or a program is not static.
    pub(super) fn build(profile: Profile, progress: &Progress) -> Result<Self> {
        profile.announce();
        let olm = image::build(profile, progress)?;
        let program = linked::programs(&[linked::WORKLOAD])?.pop().context("nothing was linked")?;
        Ok(Self { olm, workload: workload::image_of(program)? })
    }

    /// Pushes all images to a registry near the node, and returns the reference of ours.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or the registry refuses something.
    pub(super) async fn push(&self, registry: &str, suite: &AcceptanceSuite) -> Result<String> {
        let olm = push(&self.olm, registry, OLM).await?;
        for name in WORKLOADS {
            push(&self.workload, registry, name).await?;
        }
        let programs = fs::read(suite.stand_ins()).context("cannot read the stand-ins")?;
        for (name, program, user) in PROGRAMS {
            push(&image_of(program, user, &programs)?, registry, name).await?;
        }
        let (bundle, name) = KIALI;
        push(&bundle_image(&suite.bundle(bundle))?, registry, name).await?;
        for (folder, repository, tag) in named(&data("bundles"))? {
            oci::push(&bundle_image(&folder)?, registry, &repository, &tag).await?;
        }
        push_catalogs(registry, programs).await?;
        Ok(olm)
    }
}

async fn push(image: &Image, registry: &str, (repository, tag): Name) -> Result<String> {
    Ok(oci::push(image, registry, repository, tag).await?.reference)
}

/// Each is our image with a catalog on top, as `opm generate dockerfile` makes them.
async fn push_catalogs(registry: &str, programs: Vec<u8>) -> Result<()> {
    let olm = Reference::new(registry, OLM.0, OLM.1)?;
    let probe = Image::builder().file("/bin/grpc_health_probe", programs, 0o755);
    let opm = probe.entrypoint(["/bin/opm"]).build()?;
    oci::push_on(&olm, &opm, OPM.0, OPM.1).await?;
    let opm = Reference::new(registry, OPM.0, OPM.1)?;
    for (folder, repository, tag) in named(&data("catalogs"))? {
        let content = oci::catalog(&folder)?.label(oci::CONFIGS, "/configs");
        // Pods may copy a cache out of the image of a catalog.
        let content = content.directory("/tmp", 0o1777).file(CACHE, "", 0o644);
        let serves = content.entrypoint(["/bin/opm"]).cmd(["serve", "/configs"]);
        oci::push_on(&opm, &serves.build()?, &repository, &tag).await?;
    }
    Ok(())
}

fn image_of(program: &str, user: &str, bytes: &[u8]) -> Result<Image> {
    let path = format!("/bin/{program}");
    let image = Image::builder().directory("/tmp", 0o1777).file(&path, bytes, 0o755);
    image.user(user).workdir("/").env("PATH", "/bin").entrypoint([path]).build()
}

/// The annotations of a bundle are the labels of its image, too.
#[derive(Debug, Deserialize)]
struct Metadata {
    annotations: BTreeMap<String, String>,
}

fn bundle_image(folder: &Path) -> Result<Image> {
    let what = || format!("cannot read the bundle in {}", folder.display());
    let text = fs::read_to_string(folder.join("metadata/annotations.yaml")).with_context(what)?;
    let metadata: Metadata = yaml_serde::from_str(&text).with_context(what)?;
    let image = add(Image::builder(), folder, "manifests").with_context(what)?;
    let image = add(image, folder, "metadata").with_context(what)?;
    let labels = metadata.annotations.iter();
    labels.fold(image, |image, (key, value)| image.label(key, value)).build()
}

/// The files of a folder in a bundle, which has no folders of its own.
fn add(mut image: ImageBuilder, bundle: &Path, folder: &str) -> Result<ImageBuilder> {
    for path in entries(&bundle.join(folder))? {
        image = image.file(&format!("/{folder}/{}", last(&path)), fs::read(&path)?, 0o644);
    }
    Ok(image)
}

/// The folders three levels down: the first two are the name of an image, the last one is its tag.
fn named(root: &Path) -> Result<Vec<(PathBuf, String, String)>> {
    let mut all = Vec::new();
    for owner in entries(root)? {
        for image in entries(&owner)? {
            for folder in entries(&image)? {
                let repository = format!("{}/{}", last(&owner), last(&image));
                let tag = last(&folder);
                all.push((folder, repository, tag));
            }
        }
    }
    Ok(all)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let what = || format!("cannot list {}", folder.display());
    let entries = fs::read_dir(folder).with_context(what)?;
    let paths: Result<Vec<PathBuf>, _> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut paths = paths.with_context(what)?;
    paths.sort();
    Ok(paths)
}

fn last(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn data(kind: &str) -> PathBuf {
    workspace::root().join("xtask/acceptance/images").join(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bundle_of_a_catalog_has_an_image() {
        let bundles = named(&data("bundles")).unwrap().into_iter();
        let bundles = bundles.map(|(_, repository, tag)| format!("{repository}:{tag}"));
        let (_, (repository, tag)) = KIALI;
        let known: Vec<String> = bundles.chain([format!("{repository}:{tag}")]).collect();
        for (folder, ..) in named(&data("catalogs")).unwrap() {
            let text = fs::read_to_string(folder.join("index.yaml")).unwrap();
            let images = text.lines().filter_map(|line| line.strip_prefix("image: quay.io/"));
            images.for_each(|image| assert!(known.iter().any(|name| name == image), "{image}"));
        }
    }

    #[test]
    fn every_bundle_makes_an_image() {
        for (folder, ..) in named(&data("bundles")).unwrap() {
            let image = bundle_image(&folder).unwrap();
            assert_eq!(image.layers().len(), 1, "{}", folder.display());
        }
    }
}
