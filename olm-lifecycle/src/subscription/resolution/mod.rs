//! The Subscriptions of a namespace, before and after its resolution (spec catalog-operator 2.3).
//!
//! ```text
//! decide_resolution -> what has to be written first, or: resolve
//! adopt  -> Subscriptions whose operator is installed already
//! parts  -> which bundles of the solution get an InstallPlan of their own
//! unfinished -> whether a part waits for the InstallPlan that brings its Subscriptions what they have
//! select -> which bundles of a part become steps, and which Subscriptions follow them
//! unpack -> what is reported while bundles of the selection are still in their images
//! plan   -> the InstallPlan that this asks for
//! named  -> the same for the CSVs that a user's InstallPlan names
//! record -> the writes that finish the plan and point the Subscriptions at it
//! fail   -> the writes that say why there is no solution
//! report_orphans -> events of CSVs without a Subscription that lack something
//! ```
//! Every status write is guarded by the resourceVersion that was observed; a conflict means that
//! the namespace is looked at again, nothing is overwritten.

mod adopt;
mod approvers;
mod decision;
mod fail;
mod kept_back;
mod named;
mod orphans;
mod parts;
mod plan;
mod record;
mod recover;
mod select;
mod state;
mod unfinished;
mod unpack;
mod unusable;
mod upgrades;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use kube_core::ResourceExt;
use olm_effect::Effect;
use olm_types::annotations::EXCLUDE_GLOBAL_NAMESPACE;
use olm_types::api::{
    InstallPlan, InstallPlanPhase, OperatorGroup, Subscription, SubscriptionStatus,
};
use olm_types::conditions::subscription::INSTALL_PLAN_FAILED;

use super::readiness::{self, CsvState, View, plan_of};
use super::{conditions, held};

pub use adopt::adopt;
pub(super) use decision::is_pending;
pub use decision::{ResolutionDecision, ResolutionSettings, decide_resolution, waits_for_its_plan};
pub(super) use fail::will_pass;
pub use fail::{Failure, fail};
pub use kept_back::{Held, KeptBack};
pub use named::{NamedError, named_steps, named_subscriptions, select_named};
pub use orphans::{Orphans, report_orphans};
pub use parts::{Part, parts};
pub use plan::{approval, plan, plan_labels};
pub use record::{clear_failures, record};
pub use select::{Choice, Selection, select};
pub use unfinished::{Unfinished, unfinished};
pub use unpack::{Awaited, unpack_failed, unpacking};
pub use unusable::Unusable;
pub use upgrades::upgrade_under_way;

/// What is known about a namespace.
#[derive(Clone, Debug, Default)]
pub struct Namespace {
    /// Its name.
    pub name: String,
    /// Its Subscriptions, sorted by name.
    pub subscriptions: Vec<Arc<Subscription>>,
    /// Its Subscriptions for which nothing new is resolved ([`is_held`](crate::subscription::is_held)).
    pub held: Vec<Arc<Subscription>>,
    /// Its InstallPlans.
    pub plans: Vec<Arc<InstallPlan>>,
    /// Its CSVs that are not copies, by name.
    pub csvs: BTreeMap<String, CsvState>,
    /// Its OperatorGroups.
    pub groups: Vec<Arc<OperatorGroup>>,
}

impl Namespace {
    /// The namespace with these Subscriptions only.
    pub fn only(&self, names: &BTreeSet<String>) -> Self {
        self.with(|name| names.contains(name))
    }

    /// The namespace without these Subscriptions.
    pub fn without(&self, names: &BTreeSet<String>) -> Self {
        self.with(|name| !names.contains(name))
    }

    /// The namespaces whose catalogs are used here: its own, and the one of global catalogs
    /// (`global`) unless an OperatorGroup excludes it (spec catalog-operator 3.1).
    pub fn visible<'a>(&'a self, global: &'a str) -> Vec<&'a str> {
        let excludes = |group: &Arc<OperatorGroup>| {
            let annotation = group.annotations().get(EXCLUDE_GLOBAL_NAMESPACE);
            annotation.is_some_and(|value| value == "true")
        };
        let has_global = self.name != global && !self.groups.iter().any(excludes);
        std::iter::once(self.name.as_str()).chain(has_global.then_some(global)).collect()
    }

    /// Names of the Subscriptions.
    pub fn names(&self) -> BTreeSet<String> {
        self.subscriptions.iter().map(|subscription| subscription.name_any()).collect()
    }

    fn with(&self, counts: impl Fn(&str) -> bool) -> Self {
        let mut namespace = self.clone();
        namespace.subscriptions.retain(|subscription| counts(&subscription.name_any()));
        namespace
    }

    /// The InstallPlan that a Subscription follows.
    fn plan_of(&self, subscription: &Subscription) -> Option<&Arc<InstallPlan>> {
        let status = subscription.status.as_ref()?;
        self.plan_named(status.install_plan_ref.as_ref()?.name.as_deref()?)
    }

    fn plan_named(&self, name: &str) -> Option<&Arc<InstallPlan>> {
        self.plans.iter().find(|plan| plan.metadata.name.as_deref() == Some(name))
    }
}

/// What a resolution says about the spec of a Subscription.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spec {
    /// It was taken into account.
    Resolved,
    /// Nothing: it is still to be resolved.
    Unresolved,
}

/// The write of a Subscription's status, if it differs. `plan` is the one that it follows, where that is not among
/// those of the namespace yet.
fn write(
    namespace: &Namespace,
    subscription: &Subscription,
    mut status: SubscriptionStatus,
    plan: Option<&InstallPlan>,
    spec: Spec,
    now: Timestamp,
) -> Option<Effect> {
    let operator = status.installed_csv.as_ref().and_then(|csv| namespace.csvs.get(csv));
    let plan = plan.or_else(|| plan_of(&status, &namespace.plans));
    forget_failure(&mut status, subscription, plan);
    let view = View { operator, plan, is_observed: spec == Spec::Resolved };
    readiness::write(subscription, status, &view, now)
}

/// A plan that is tried again, that another one has taken the place of, or that brings what the Subscription does not
/// accept any more, has not failed: readiness is judged by what the plan is now, and tools that look at v0's state and
/// conditions are not to read something else.
fn forget_failure(
    status: &mut SubscriptionStatus,
    subscription: &Subscription,
    plan: Option<&InstallPlan>,
) {
    let Some(plan) = plan else { return };
    if plan.phase() == InstallPlanPhase::Failed {
        if held::holding(subscription, status, plan).is_none() {
            return;
        }
        status.state = held::state(subscription, status, plan);
    }
    conditions::remove(status, &[INSTALL_PLAN_FAILED]);
}
