//! Names of the InstallPlans that the operator makes.
//!
//! v0 leaves the last five characters to the API server. Two processes that see the same (the old
//! Pod of a Deployment and the new one, or a leader and its successor) then make two plans. Here the
//! characters follow from the Subscriptions of the namespace and the number of the plan, so that the API server
//! refuses the second, also where each of the two begins with the plan of another Subscription.

use std::collections::BTreeSet;
use std::sync::Arc;

use kube_core::ResourceExt;
use olm_types::api::InstallPlan;
use sha2::{Digest, Sha256};

use super::PlanRequest;

/// What the names of plans begin with that the operator makes.
pub(crate) const NAME_PREFIX: &str = "install-";

/// What the API server makes generated names of: no vowels, so no words.
const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// Characters after [`NAME_PREFIX`], as many as the API server adds.
const LENGTH: usize = 5;

/// The name of a plan for the request, which none of `plans` has: the same for the same Subscriptions of the
/// namespace and generation.
pub(super) fn name(request: &PlanRequest, plans: &[Arc<InstallPlan>]) -> String {
    let taken: BTreeSet<String> = plans.iter().map(|plan| plan.name_any()).collect();
    let mut attempts = (0u32..).map(|attempt| candidate(request, attempt));
    // There are more candidates than a namespace can have plans.
    attempts.find(|name| !taken.contains(name)).unwrap_or_default()
}

fn candidate(request: &PlanRequest, attempt: u32) -> String {
    let mut hash = Sha256::new();
    for uid in &request.present {
        hash.update(uid);
        hash.update([0]);
    }
    hash.update(request.generation.to_be_bytes());
    hash.update(attempt.to_be_bytes());
    let digest = hash.finalize();
    let letters = digest.iter().filter_map(|byte| LETTERS.get(usize::from(*byte) % LETTERS.len()));
    let suffix = letters.take(LENGTH).map(|letter| char::from(*letter));
    NAME_PREFIX.chars().chain(suffix).collect()
}
