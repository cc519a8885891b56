//! Whether an InstallPlan may be started or continued: a function of the plan, of the Subscriptions
//! that it was made for, and of the CSVs of its namespace.
//!
//! A plan waits for older plans, for rights or for an API, and meanwhile a user may remove what it was
//! made for. What was removed stays removed: a plan whose Subscriptions are gone is over, and CSVs
//! that were deleted are not created again by the rest of their plan, nor replaced by a newer
//! one. Plans that users and tools write have no Subscription to ask.

mod csvs;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use kube_core::ResourceExt;
use olm_types::api::{
    Approval, ClusterServiceVersion, InstallPlan, InstallPlanStatus, OperatorGroup, StepStatus,
    Subscription,
};

use super::phase::Observed;
use super::{plan_order, request};
use csvs::{Csv, CsvDecision};

/// What is around a plan.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Whether its namespace is being deleted.
    pub namespace_goes: bool,
    /// The Subscriptions of its namespace.
    pub subscriptions: Vec<Arc<Subscription>>,
    /// The CSVs of its namespace that are not copies.
    pub csvs: Vec<Arc<ClusterServiceVersion>>,
    /// CSVs of the plan that the subscribed channel of a catalog, which is loaded, does not offer.
    pub unoffered: BTreeSet<String>,
}

/// What may be done with a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanDecision {
    /// It is executed, except for the steps of these CSVs.
    Go(BTreeSet<String>),
    /// Nothing: it is being deleted, or about to be collected with its owners.
    Over,
    /// Nothing for the time being, and why.
    Held(String),
    /// It is deleted, so that what is still asked for is resolved anew; and why.
    Withdrawn(String),
}

/// Judges a plan that would be executed now.
pub fn judge(plan: &InstallPlan, around: &Surroundings) -> PlanDecision {
    if plan.metadata.deletion_timestamp.is_some() || around.namespace_goes {
        return PlanDecision::Over;
    }
    if !is_made_by_olm(plan) {
        return PlanDecision::Go(BTreeSet::new());
    }
    let subscriptions: Vec<_> = around.subscriptions.iter().filter(|one| stays(*one)).collect();
    let subscriptions: Vec<_> = match owners(plan).next() {
        Some(_) if !subscriptions.iter().any(|subscription| owns(subscription, plan)) => {
            return without_owner(plan, around);
        }
        Some(_) => {
            subscriptions.into_iter().filter(|one| owns(one, plan) || refers(one, plan)).collect()
        }
        None => subscriptions.into_iter().filter(|one| refers(one, plan)).collect(),
    };
    if subscriptions.is_empty() {
        return PlanDecision::Held(
            "no Subscription refers to this InstallPlan any more; delete it".to_owned(),
        );
    }
    of_csvs(plan, around, &subscriptions)
}

/// The CSVs of a plan with the Subscriptions that move to them.
pub fn followers<'a>(
    plan: &'a InstallPlan,
    subscriptions: &'a [Arc<Subscription>],
) -> impl Iterator<Item = (&'a str, &'a Subscription)> {
    let moves = |subscription: &Subscription, csv: &str| {
        let status = subscription.status.as_ref();
        status.is_some_and(|status| status.current_csv.as_deref() == Some(csv))
    };
    let names = plan.spec.cluster_service_version_names.iter();
    names.flat_map(move |csv| {
        let following = subscriptions.iter().filter(move |subscription| moves(subscription, csv));
        following.map(move |subscription| (csv.as_str(), &**subscription))
    })
}

/// What is known before each write of an execution.
#[derive(Clone, Debug, Default)]
pub struct CurrentObjects {
    /// The plan, unless it is gone.
    pub plan: Option<Arc<InstallPlan>>,
    /// What is around it.
    pub around: Surroundings,
    /// OperatorGroups of its namespace that are not being deleted.
    pub groups: Vec<Arc<OperatorGroup>>,
}

impl CurrentObjects {
    /// Whether these are the very same objects, so that nothing has to be judged again.
    pub fn is(&self, other: &Self) -> bool {
        fn same<K>(one: &[Arc<K>], other: &[Arc<K>]) -> bool {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| Arc::ptr_eq(a, b))
        }
        let (around, other_around) = (&self.around, &other.around);
        same(self.plan.as_slice(), other.plan.as_slice())
            && same(&around.subscriptions, &other_around.subscriptions)
            && same(&around.csvs, &other_around.csvs)
            && same(&self.groups, &other.groups)
    }
}

/// Whether an execution that was decided on with what was known `before` may write something.
pub fn goes_on(before: &Observed, now: &CurrentObjects) -> bool {
    let same = |plan: &&Arc<InstallPlan>| plan.metadata.uid == before.plan.metadata.uid;
    let uids = |groups: &[Arc<OperatorGroup>]| -> BTreeSet<_> {
        groups.iter().map(|group| group.metadata.uid.clone()).collect()
    };
    now.plan.as_ref().filter(same).is_some_and(|plan| {
        judge(plan, &now.around) == judge(&before.plan, &before.around)
            && uids(&now.groups) == uids(&before.groups)
    })
}

/// Whether some step was tried already.
fn is_begun(status: &InstallPlanStatus) -> bool {
    let untried =
        |status: StepStatus| matches!(status, StepStatus::Unknown | StepStatus::NotPresent);
    status.start_time.is_some() || status.plan.iter().any(|step| !untried(step.status))
}

/// The plan by what becomes of each CSV that it was made for; dependencies share its fate.
fn of_csvs(
    plan: &InstallPlan,
    around: &Surroundings,
    subscriptions: &[&Arc<Subscription>],
) -> PlanDecision {
    let Some(status) = &plan.status else { return PlanDecision::Go(BTreeSet::new()) };
    let (begun, waited) = (is_begun(status), plan_order::has_waited(status));
    let view = csvs::View {
        around,
        subscriptions,
        generation: plan.spec.generation.unwrap_or_default(),
        begun,
        waited,
        // Who approves a plan after the CSV was deleted wants the next one.
        successor_counts: begun || waited || plan.spec.approval == Approval::Automatic,
    };
    let fates: Vec<_> = csvs::made_for(status)
        .into_iter()
        .map(|csv: Csv<'_>| (csv.name, view.decide(&csv)))
        .collect();
    let lost = |fate: &CsvDecision| matches!(fate, CsvDecision::Unwanted(_));
    let unwanted = fates.iter().find_map(|(_, fate)| match fate {
        CsvDecision::Unwanted(why) => Some(why.clone()),
        _ => None,
    });
    let none_wanted = fates.iter().all(|(_, fate)| lost(fate));
    match unwanted {
        Some(why) if none_wanted || !begun => PlanDecision::Withdrawn(why),
        _ => rest(&fates),
    }
}

/// What is left of a plan without CSVs that were deleted or are not wanted.
fn rest(fates: &[(&str, CsvDecision)]) -> PlanDecision {
    let without: BTreeSet<_> = fates
        .iter()
        .filter(|(_, fate)| *fate != CsvDecision::Wanted)
        .map(|(name, _)| (*name).to_owned())
        .collect();
    let deleted = fates.iter().find_map(|(_, fate)| match fate {
        CsvDecision::Deleted(why) => Some(why.clone()),
        _ => None,
    });
    match deleted {
        Some(why) if without.len() == fates.len() => PlanDecision::Held(why),
        _ => PlanDecision::Go(without),
    }
}

/// Owners that are being deleted may take long; those that are gone take the plan along.
fn without_owner(plan: &InstallPlan, around: &Surroundings) -> PlanDecision {
    if around.subscriptions.iter().any(|one| owns(one, plan)) {
        let why = "the Subscription that this InstallPlan was made for is being deleted";
        return PlanDecision::Held(why.to_owned());
    }
    PlanDecision::Over
}

/// Plans of the operator are numbered, named by the API server, and owned by Subscriptions; a
/// deletion that spares dependents takes the owners away.
pub(super) fn is_made_by_olm(plan: &InstallPlan) -> bool {
    let named = plan.metadata.generate_name.as_deref() == Some(request::NAME_PREFIX);
    owners(plan).next().is_some() || (named && plan.spec.generation.unwrap_or_default() > 0)
}

/// `uid`s of the Subscriptions that own a plan.
pub(super) fn owners(plan: &InstallPlan) -> impl Iterator<Item = &str> {
    let owners = plan.metadata.owner_references.iter().flatten();
    owners.filter(|owner| owner.kind == Subscription::KIND).map(|owner| owner.uid.as_str())
}

fn owns(subscription: &Subscription, plan: &InstallPlan) -> bool {
    let uid = subscription.metadata.uid.as_deref();
    uid.is_some_and(|uid| owners(plan).any(|owner| owner == uid))
}

/// Whether the Subscription names the plan.
pub(super) fn refers(subscription: &Subscription, plan: &InstallPlan) -> bool {
    let status = subscription.status.as_ref();
    let Some(reference) = status.and_then(|status| status.install_plan_ref.as_ref()) else {
        return false;
    };
    let same = reference.uid.is_none() || reference.uid == plan.metadata.uid;
    same && reference.name.as_deref() == Some(&*plan.name_any())
}

fn stays<K: ResourceExt>(object: &Arc<K>) -> bool {
    object.meta().deletion_timestamp.is_none()
}
