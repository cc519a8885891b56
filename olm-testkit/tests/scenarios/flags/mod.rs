//! Flags that choose another way than v0's.

mod block;
mod digest;
mod follower;
pub mod hosted;
mod hostile;
mod process;

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;

use libtest_mimic::Trial;
use olm_testkit::deploy::LEADER_ELECT;
use olm_testkit::e2e::provider::local::Flags;
use olm_testkit::oci::server::ImageRegistry;

use crate::environment::Environment;
use crate::trial;

/// All of them at once: none of them is in the way of another. `folder` is for catalogs that the operator
/// serves itself.
pub fn flags(folder: &Path) -> Flags<'static> {
    let mut catalog = vec![
        "--bundle-unpack=process".to_owned(),
        "--unhealthy-catalogs=block".to_owned(),
        "--catalog-polling=digest".to_owned(),
        "--catalogs=process".to_owned(),
        format!("--catalogs-process-namespaces={}", HOSTED.join(",")),
        format!("--catalogs-dir={}", folder.display()),
        format!("--catalogs-address={}", address()),
    ];
    // They last as long as the environment: until the process ends.
    let catalog = catalog.drain(..).map(|flag| &*flag.leak()).collect::<Vec<_>>().leak();
    Flags { both: &[LEADER_ELECT], catalog, faults: false }
}

/// Namespaces of scenarios whose catalogs the operator serves.
const HOSTED: [&str; 2] = ["e2e-flags-hosted", "e2e-flags-hosted-pods"];

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
        for name in names.map(|name| format!("flags::{name}")) {
            println!("ignored: {name}: there is no docker-registry on this machine");
        }
    }
    let digest = trial(environment, "flags::digest", digest::spares_pods);
    let process = trial(environment, "flags::process", process::pulls_bundles);
    let hostile = trial(environment, "flags::hostile_images", hostile::images);
    let hosted = trial(environment, "flags::hosted", hosted::serves_catalogs);
    let pods = trial(environment, "flags::hosted_pods", hosted::gives_way_to_pods);
    vec![
        hosted.with_ignored_flag(lacking),
        pods.with_ignored_flag(lacking),
        trial(environment, "flags::block", block::stops_a_namespace),
        trial(environment, "flags::follower", follower::knows_catalogs),
        digest.with_ignored_flag(lacking),
        process.with_ignored_flag(lacking),
        hostile.with_ignored_flag(lacking),
    ]
}
