//! Flags that choose another way than v0's.

mod block;
mod digest;
mod follower;
mod hostile;
mod process;

use std::sync::Arc;

use libtest_mimic::Trial;
use olm_testkit::deploy::LEADER_ELECT;
use olm_testkit::e2e::provider::local::Flags;
use olm_testkit::oci::server::ImageRegistry;

use crate::environment::Environment;
use crate::trial;

/// All of them at once: none of them is in the way of another.
pub const FLAGS: Flags<'static> = Flags {
    both: &[LEADER_ELECT],
    catalog: &["--bundle-unpack=process", "--unhealthy-catalogs=block", "--catalog-polling=digest"],
    faults: false,
};

/// The scenarios of this folder. Three of them ask a registry of images.
pub fn all(environment: &Arc<Environment>) -> Vec<Trial> {
    let lacking = !ImageRegistry::is_available();
    if lacking {
        for name in ["flags::digest", "flags::process", "flags::hostile_images"] {
            println!("ignored: {name}: there is no docker-registry on this machine");
        }
    }
    let digest = trial(environment, "flags::digest", digest::spares_pods);
    let process = trial(environment, "flags::process", process::pulls_bundles);
    let hostile = trial(environment, "flags::hostile_images", hostile::images);
    vec![
        trial(environment, "flags::block", block::stops_a_namespace),
        trial(environment, "flags::follower", follower::knows_catalogs),
        digest.with_ignored_flag(lacking),
        process.with_ignored_flag(lacking),
        hostile.with_ignored_flag(lacking),
    ]
}
