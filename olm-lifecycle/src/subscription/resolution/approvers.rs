//! Whose approval an InstallPlan needs that is made for some Subscriptions of a namespace.
//!
//! What is installed for one Subscription may be needed by another one, which would have its operator's
//! dependency upgraded without a word. So all that need a bundle are asked, and one is enough to have the plan
//! wait. What is in a plan already that was approved is not asked about again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kube_core::ResourceExt;
use olm_types::annotations::GENERATED_BY;
use olm_types::api::{Approval, Subscription};

use super::super::policy;
use super::Namespace;

/// Who asks for the bundles of a plan, by name of the CSV.
pub type RequestersByCsv = BTreeMap<String, BundleRequesters>;

/// Who asks for one bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BundleRequesters {
    /// Names of the Subscriptions that need it, directly or not.
    pub by: BTreeSet<String>,
    /// Names of those among them that will have it installed.
    pub followers: BTreeSet<String>,
}

/// The Subscriptions that a plan belongs to: those that ask for something in it. One that is held has no part
/// in it, unless the plan waits for its approval.
pub(super) fn asking(namespace: &Namespace, asks: &RequestersByCsv) -> Vec<Arc<Subscription>> {
    let all: BTreeSet<&String> = asks.values().flat_map(|ask| &ask.by).collect();
    let waited_for = approvers(namespace, asks);
    let own = namespace.subscriptions.iter().filter(|one| all.contains(&one.name_any()));
    let held = namespace.held.iter().filter(|one| waited_for.contains(&one.name_any()));
    let mut asking: Vec<_> = own.chain(held).cloned().collect();
    asking.sort_by_key(|one| one.name_any());
    asking
}

/// Names of the Subscriptions whose approval is needed.
pub(super) fn approvers(namespace: &Namespace, asks: &RequestersByCsv) -> BTreeSet<String> {
    let approved = approved(namespace);
    let open = asks.iter().filter(|(csv, _)| !approved.contains(csv.as_str()));
    // What one is moved to by a plan that is approved already is not what a pin or a first install lets in now.
    let moved: BTreeSet<&String> = open.clone().flat_map(|(_, ask)| &ask.followers).collect();
    let needed = open.flat_map(|(_, ask)| ask.by.iter().map(move |name| (name, ask)));
    let waited_for = needed.filter(|(name, ask)| {
        let is_it = |one: &&Arc<Subscription>| one.metadata.name.as_ref() == Some(*name);
        match namespace.subscriptions.iter().find(is_it) {
            Some(one) if moved.contains(name) => policy::approval(one) == Approval::Manual,
            Some(one) => one.spec.install_plan_approval == Some(Approval::Manual),
            None => namespace.held.iter().any(|one| is_it(&one) && holds(namespace, one, ask)),
        }
    });
    waited_for.map(|(name, _)| name.clone()).collect()
}

/// Whether a Subscription for which nothing new is applied holds what its operator needs: when it wants to be
/// asked, and what was installed on its behalf.
pub(super) fn holds(namespace: &Namespace, held: &Subscription, ask: &BundleRequesters) -> bool {
    let generated = |name: &String| {
        let mut all = namespace.subscriptions.iter();
        let follower = all.find(|one| one.metadata.name.as_ref() == Some(name));
        follower.is_none_or(|one| one.annotations().contains_key(GENERATED_BY))
    };
    held.spec.install_plan_approval == Some(Approval::Manual) || ask.followers.iter().all(generated)
}

/// Names of CSVs that plans bring which are approved and not done.
fn approved(namespace: &Namespace) -> BTreeSet<&str> {
    let under_way = namespace.plans.iter().filter(|plan| {
        plan.has_open_steps() && plan.spec.approved && plan.metadata.deletion_timestamp.is_none()
    });
    let names = under_way.flat_map(|plan| &plan.spec.cluster_service_version_names);
    names.map(String::as_str).collect()
}
