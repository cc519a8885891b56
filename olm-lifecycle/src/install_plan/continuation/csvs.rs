//! What becomes of the CSVs of a plan.

use std::sync::Arc;

use kube_core::ResourceExt;
use olm_types::api::{
    ClusterServiceVersion, InstallPlanStatus, Step, StepStatus, Subscription, SubscriptionStatus,
};

use super::{Surroundings, stays};
use crate::install_plan::package;

/// A CSV that a plan was made for, as its steps name it.
pub(super) struct Csv<'a> {
    pub(super) name: &'a str,
    /// Its packages; none when its manifest does not say.
    packages: Vec<String>,
    /// Whether its step is done.
    done: bool,
}

/// What becomes of a CSV.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CsvDecision {
    /// Its steps are executed.
    Wanted,
    /// No Subscription asks for it any more, and why.
    Unwanted(String),
    /// It, or what it would replace, was deleted; says which.
    Deleted(String),
}

/// What the decision about a CSV depends on.
pub(super) struct View<'a> {
    pub(super) around: &'a Surroundings,
    /// The Subscriptions that own or name the plan, and stay.
    pub(super) subscriptions: &'a [&'a Arc<Subscription>],
    /// Number of the plan.
    pub(super) generation: i64,
    /// Whether some step was tried.
    pub(super) begun: bool,
    /// Whether an older plan came first.
    pub(super) waited: bool,
    /// Whether the deletion of a CSV stops the one that would replace it.
    pub(super) successor_counts: bool,
}

/// The CSVs of a plan, without those that it generates a Subscription for.
pub(super) fn made_for(status: &InstallPlanStatus) -> Vec<Csv<'_>> {
    let generated = |name: &str| {
        status
            .plan
            .iter()
            .any(|step| step.resource.kind == Subscription::KIND && step.resolving == name)
    };
    let steps = status.plan.iter().filter(|step| {
        step.resource.kind == ClusterServiceVersion::KIND && !generated(&step.resource.name)
    });
    steps.map(csv_of).collect()
}

fn csv_of(step: &Step) -> Csv<'_> {
    Csv {
        name: &step.resource.name,
        packages: package::all_of_step(step),
        done: matches!(step.status, StepStatus::Created | StepStatus::Present),
    }
}

impl View<'_> {
    /// What becomes of a CSV of the plan.
    pub(super) fn decide(&self, csv: &Csv<'_>) -> CsvDecision {
        let asking: Vec<_> =
            self.subscriptions.iter().filter(|subscription| asks(subscription, csv)).collect();
        if asking.is_empty() {
            return CsvDecision::Unwanted(format!(
                "no Subscription asks for {} any more",
                csv.name
            ));
        }
        if !self.begun && asking.iter().all(|subscription| self.has_moved_on(subscription, csv)) {
            return CsvDecision::Unwanted(format!(
                "the Subscription that asked for {} follows a newer InstallPlan",
                csv.name
            ));
        }
        if !self.begun && self.waited && self.around.unoffered.contains(csv.name) {
            return CsvDecision::Unwanted(format!(
                "the subscribed channel does not offer {} any more",
                csv.name
            ));
        }
        self.deleted(csv, &asking).map_or(CsvDecision::Wanted, CsvDecision::Deleted)
    }

    /// Whether a newer plan was made for the Subscription, with another CSV.
    fn has_moved_on(&self, subscription: &Subscription, csv: &Csv<'_>) -> bool {
        let Some(status) = &subscription.status else { return false };
        let newer = status.install_plan_generation.is_some_and(|number| number > self.generation);
        newer && !names(status, csv.name)
    }

    fn deleted(&self, csv: &Csv<'_>, asking: &[&&Arc<Subscription>]) -> Option<String> {
        if self.is_there(csv.name) {
            return None;
        }
        if csv.done {
            return (!self.was_replaced(csv.name)).then(|| {
                format!(
                    "ClusterServiceVersion {}, which this InstallPlan installed, was deleted",
                    csv.name
                )
            });
        }
        let replaced = asking.iter().filter_map(|subscription| installed(subscription));
        let mut gone = replaced
            .filter(|old| *old != csv.name && !self.is_there(old) && !self.was_replaced(old));
        let old = gone.next().filter(|_| self.successor_counts)?;
        Some(format!(
            "ClusterServiceVersion {old}, which {} would replace, was deleted: nothing takes its place until the \
             Subscription is deleted and created anew",
            csv.name
        ))
    }

    fn is_there(&self, csv: &str) -> bool {
        self.around.csvs.iter().any(|one| stays(one) && one.name_any() == csv)
    }

    fn was_replaced(&self, csv: &str) -> bool {
        self.around.csvs.iter().any(|one| stays(one) && one.spec.replaces.as_deref() == Some(csv))
    }
}

/// Whether the Subscription is to a package of the CSV. Without a package every one may be.
fn asks(subscription: &Subscription, csv: &Csv<'_>) -> bool {
    csv.packages.is_empty()
        || csv.packages.contains(&subscription.spec.name)
        || subscription.status.as_ref().is_some_and(|status| names(status, csv.name))
}

fn names(status: &SubscriptionStatus, csv: &str) -> bool {
    [&status.current_csv, &status.installed_csv].iter().any(|name| name.as_deref() == Some(csv))
}

fn installed(subscription: &Subscription) -> Option<&str> {
    let installed = subscription.status.as_ref()?.installed_csv.as_deref();
    installed.filter(|name| !name.is_empty())
}
