//! Plans that a Subscription holds back by what it declares about versions.
//!
//! What is accepted may have changed since a plan was made that waits for approval. So the plan is judged by what it
//! brings of the Subscription's package, as its steps name it, whoever asks for it; a version that is not known is
//! not accepted. A pin accepts its version, and what is known to be a step on the way to it: that is recorded on the
//! plan ([`Requesters::pins`]). The status of the Subscription, which others may write, only ever holds a plan back.

use kube_core::ResourceExt;
use olm_types::annotations::{PIN, VERSION_RANGE};
use olm_types::api::{
    ClusterServiceVersion, InstallPlan, StepStatus, Subscription, SubscriptionStatus,
};
use olm_types::properties::value::PackageProperty;
use olm_types::version::{Version, VersionRange};

use super::planned_csvs;
use crate::install_plan::continuation::owners;
use crate::install_plan::package;
use crate::install_plan::requesters::Requesters;
use crate::subscription::policy;

/// Why a Subscription holds a plan back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    /// The annotation that says so.
    pub(crate) key: &'static str,
    /// In words that follow the name of the Subscription.
    pub(super) why: String,
}

/// A CSV that a plan brings for a Subscription.
struct PlannedCsv<'a> {
    csv: &'a str,
    /// Its versions, as its properties name them: one, unless it was made to mislead.
    versions: Vec<Option<Version>>,
}

/// Why the Subscription, with this status, holds the plan back; nothing when the plan brings only what it accepts.
/// A value that cannot be read holds nothing here: it holds everything by itself.
pub(crate) fn hold(
    subscription: &Subscription,
    status: Option<&SubscriptionStatus>,
    plan: &InstallPlan,
) -> Option<Hold> {
    if !policy::selects_versions(subscription) {
        return None;
    }
    let planned_csvs = planned_csvs_for(subscription, status, plan);
    by_pin(subscription, status, plan, &planned_csvs)
        .or_else(|| by_range(subscription, &planned_csvs))
}

/// The annotation by which the Subscription does not ask any more for what `plan`, which has failed, would bring: its
/// range, or a pin to what is installed. A pin to something else says nothing, as the plan may lead there. Once the CSV
/// is there it is what the Subscription has, and what else belongs to it is still brought.
pub(crate) fn releases(
    subscription: &Subscription,
    status: Option<&SubscriptionStatus>,
    plan: &InstallPlan,
) -> Option<&'static str> {
    let hold = hold(subscription, status, plan)?;
    let installed = status.and_then(|status| status.installed_csv.as_deref());
    let is_there = installed.is_some() && policy::pinned(subscription) == installed;
    let mut planned = planned_csvs_for(subscription, status, plan).into_iter();
    let is_to_come = planned.any(|one| !is_done(plan, one.csv));
    (is_to_come && (hold.key == VERSION_RANGE || is_there)).then_some(hold.key)
}

/// Whether the Subscription follows a newer plan to another version, and `plan`, which failed, never brought its own.
pub(super) fn has_left(subscription: &Subscription, plan: &InstallPlan) -> bool {
    let Some(status) = &subscription.status else { return false };
    let names = [status.current_csv.as_deref(), status.installed_csv.as_deref()];
    let own = own(subscription, plan);
    status.install_plan_generation > plan.spec.generation
        && !own.is_empty()
        && own.iter().all(|csv| !names.contains(&Some(*csv)) && !is_done(plan, csv))
}

fn is_done(plan: &InstallPlan, csv: &str) -> bool {
    let mut steps = plan.status.iter().flat_map(|status| &status.plan);
    steps.any(|step| {
        step.resource.kind == ClusterServiceVersion::KIND
            && step.resource.name == csv
            && matches!(step.status, StepStatus::Created | StepStatus::Present)
    })
}

/// Whether the plan moves the Subscription to another version.
pub(super) fn moves(subscription: &Subscription, plan: &InstallPlan) -> bool {
    !own(subscription, plan).is_empty()
}

/// What the plan brings for the Subscription itself.
pub(super) fn own<'a>(subscription: &Subscription, plan: &'a InstallPlan) -> Vec<&'a str> {
    let planned_csvs = planned_csvs_for(subscription, subscription.status.as_ref(), plan);
    planned_csvs.into_iter().map(|one| one.csv).collect()
}

fn by_pin(
    subscription: &Subscription,
    status: Option<&SubscriptionStatus>,
    plan: &InstallPlan,
    planned_csvs: &[PlannedCsv<'_>],
) -> Option<Hold> {
    let pin = policy::pinned(subscription)?;
    let csv = planned_csvs.iter().find(|one| one.csv != pin)?.csv;
    let is_there = status.is_some_and(|status| status.installed_csv.as_deref() == Some(pin));
    let why = match is_there {
        true => format!(
            "is pinned to {pin}, which is installed; to let it go on, name {csv} in spec.startingCSV, or remove \
             annotation {PIN}"
        ),
        false if leads_to(pin, subscription, status, plan, csv) => return None,
        false => format!("is pinned to {pin}, and {csv} is not known to lead there"),
    };
    Some(Hold { key: PIN, why })
}

/// Whether the CSV of the plan is known to be a step on the way to the pinned one. A plan for one Subscription, which
/// has no record, waits only if it was made without the pin. In v0 a plan is for all, without a record: there the
/// last resolution counts.
fn leads_to(
    pin: &str,
    subscription: &Subscription,
    status: Option<&SubscriptionStatus>,
    plan: &InstallPlan,
    csv: &str,
) -> bool {
    if let Some(asked) = Requesters::of(plan) {
        return asked.pins.get(&subscription.name_any()).is_some_and(|known| known == pin);
    }
    let is_for_all = owners(plan).nth(1).is_some();
    let is_next = |status: &SubscriptionStatus| {
        status.current_csv.as_deref() == Some(csv) && !policy::is_refused(status)
    };
    is_for_all && status.is_some_and(is_next)
}

fn by_range(subscription: &Subscription, planned_csvs: &[PlannedCsv<'_>]) -> Option<Hold> {
    let text = subscription.annotations().get(VERSION_RANGE)?;
    let range = VersionRange::parse(text).ok()?;
    let csv = planned_csvs.iter().find(|one| !one.is_in(&range))?.csv;
    let why = format!(
        "accepts only {text:?} (annotation {VERSION_RANGE}), and {csv} is not in it; to let it go on, widen the range"
    );
    Some(Hold { key: VERSION_RANGE, why })
}

impl PlannedCsv<'_> {
    fn is_in(&self, range: &VersionRange) -> bool {
        let is_in = |version: &Option<Version>| {
            version.as_ref().is_some_and(|version| range.contains(version))
        };
        !self.versions.is_empty() && self.versions.iter().all(is_in)
    }
}

/// What the plan brings of the Subscription's package, or as what the Subscription moves to.
fn planned_csvs_for<'a>(
    subscription: &Subscription,
    status: Option<&SubscriptionStatus>,
    plan: &'a InstallPlan,
) -> Vec<PlannedCsv<'a>> {
    let steps = plan.status.iter().flat_map(|status| &status.plan);
    let csvs = steps.filter(|step| step.resource.kind == ClusterServiceVersion::KIND);
    let mut all: Vec<(&str, Vec<PackageProperty>)> =
        csvs.map(|step| (step.resource.name.as_str(), package::properties_of_step(step))).collect();
    for csv in planned_csvs(plan) {
        if !all.iter().any(|(known, _)| *known == csv) {
            all.push((csv, Vec::new()));
        }
    }
    let current = status.and_then(|status| status.current_csv.as_deref());
    let own = |(csv, properties): (&'a str, Vec<PackageProperty>)| {
        let own = properties.iter().filter(|one| one.package_name == subscription.spec.name);
        let versions: Vec<_> = own.map(|one| Version::parse_tolerant(&one.version).ok()).collect();
        (!versions.is_empty() || current == Some(csv)).then_some(PlannedCsv { csv, versions })
    };
    all.into_iter().filter_map(own).collect()
}

#[cfg(test)]
mod tests;
