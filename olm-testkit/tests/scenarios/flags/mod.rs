//! Flags that choose another way than v0's.

mod block;
mod digest;
mod follower;
pub mod hosted;
mod hosted_faults;
mod hosted_limits;
mod hosted_namespaces;
mod hosted_sources;
mod hosted_steps;
mod hostile;
mod process;

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result};
use libtest_mimic::Trial;
use olm_testkit::deploy::LEADER_ELECT;
use olm_testkit::e2e::provider::local::Flags;
use olm_testkit::oci::server::ImageRegistry;

use crate::environment::Environment;
use crate::trial;

/// All of them at once: none of them is in the way of another. `folder` is for catalogs that the operator
/// serves itself, and for rules about registries.
///
/// # Errors
/// The folder cannot be written to.
pub fn flags(folder: &Path) -> Result<Flags<'static>> {
    let rules = REGISTRIES.get_or_init(|| folder.join("registries.conf"));
    fs::write(rules, "").context("cannot write rules about registries")?;
    let mut catalog = vec![
        "--bundle-unpack=process".to_owned(),
        "--unhealthy-catalogs=block".to_owned(),
        "--catalog-polling=digest".to_owned(),
        "--catalogs=process".to_owned(),
        format!("--catalogs-process-namespaces={}", HOSTED.join(",")),
        format!("--catalogs-dir={}", folder.join("catalogs").display()),
        format!("--catalogs-dir-size={DISK}"),
        format!("--registries-config={}", rules.display()),
        format!("--catalogs-address={}", address()),
        format!("--catalogs-limits={}", hosted_limits::LIMITS),
    ];
    // They last as long as the environment: until the process ends.
    let catalog = catalog.drain(..).map(|flag| &*flag.leak()).collect::<Vec<_>>().leak();
    Ok(Flags { both: &[LEADER_ELECT], catalog, faults: false })
}

/// Bytes that the catalogs of all scenarios here may have on the disk.
const DISK: u64 = 4 << 20;

/// The file with mirrors of registries.
static REGISTRIES: OnceLock<PathBuf> = OnceLock::new();

fn registries() -> &'static Path {
    REGISTRIES.get().map_or(Path::new("registries.conf"), PathBuf::as_path)
}

/// Namespaces of scenarios whose catalogs the operator serves.
const HOSTED: [&str; 9] = [
    "e2e-flags-hosted",
    "e2e-flags-hosted-pods",
    "e2e-flags-hosted-secrets",
    "e2e-flags-hosted-mirror",
    "e2e-flags-hosted-mirror-set",
    "e2e-flags-hosted-full-disk",
    "e2e-flags-hosted-faults",
    "e2e-flags-hosted-limits",
    "e2e-flags-hosted-namespaces",
];

/// An address of this machine that no other run uses.
pub fn address() -> IpAddr {
    let [.., high, low] = std::process::id().to_be_bytes();
    Ipv4Addr::new(127, 213, high, low.clamp(1, 254)).into()
}

/// The scenarios of this folder. Most of them ask a registry of images.
pub fn all(environment: &Arc<Environment>) -> Vec<Trial> {
    let lacking = !ImageRegistry::is_available();
    if lacking {
        let names = ["digest", "process", "hostile_images", "hosted", "hosted_pods"];
        let sources = ["hosted_secrets", "hosted_mirror", "hosted_mirror_set", "hosted_full_disk"];
        let hostile = ["hosted_faults", "hosted_limits", "hosted_namespaces"];
        for name in
            names.into_iter().chain(sources).chain(hostile).map(|name| format!("flags::{name}"))
        {
            println!("ignored: {name}: there is no docker-registry on this machine");
        }
    }
    let digest = trial(environment, "flags::digest", digest::spares_pods);
    let process = trial(environment, "flags::process", process::pulls_bundles);
    let hostile = trial(environment, "flags::hostile_images", hostile::images);
    let hosted = trial(environment, "flags::hosted", hosted::serves_catalogs);
    let pods = trial(environment, "flags::hosted_pods", hosted::gives_way_to_pods);
    let secrets = trial(environment, "flags::hosted_secrets", hosted_sources::secrets);
    let mirror = trial(environment, "flags::hosted_mirror", hosted_sources::mirror);
    let set = trial(environment, "flags::hosted_mirror_set", hosted_sources::mirror_set);
    let full_disk = trial(environment, "flags::hosted_full_disk", hosted_sources::full_disk);
    let faults = trial(environment, "flags::hosted_faults", hosted_faults::faults);
    let limits = trial(environment, "flags::hosted_limits", hosted_limits::limits);
    let namespaces = trial(environment, "flags::hosted_namespaces", hosted_namespaces::namespaces);
    vec![
        namespaces.with_ignored_flag(lacking),
        faults.with_ignored_flag(lacking),
        limits.with_ignored_flag(lacking),
        secrets.with_ignored_flag(lacking),
        mirror.with_ignored_flag(lacking),
        set.with_ignored_flag(lacking),
        full_disk.with_ignored_flag(lacking),
        hosted.with_ignored_flag(lacking),
        pods.with_ignored_flag(lacking),
        trial(environment, "flags::block", block::stops_a_namespace),
        trial(environment, "flags::follower", follower::knows_catalogs),
        digest.with_ignored_flag(lacking),
        process.with_ignored_flag(lacking),
        hostile.with_ignored_flag(lacking),
    ]
}
