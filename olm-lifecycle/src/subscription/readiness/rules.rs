//! The rules, of which the first that applies decides.

use kube_core::ResourceExt;
use olm_types::annotations::PAUSE;
use olm_types::api::{
    Approval, CsvPhase, InstallPlan, InstallPlanPhase, Subscription, SubscriptionCatalogHealth,
    SubscriptionState, SubscriptionStatus,
};
use olm_types::conditions::subscription::{
    BUNDLE_UNPACK_FAILED, BUNDLE_UNPACKING, RESOLUTION_FAILED,
};
use olm_types::reasons::subscription as reasons;

use super::super::resolution::will_pass;
use super::super::{conditions, held, plan_status, policy};
use super::View;
use crate::install_plan::approval::planned_csvs;
use crate::readiness::{Readiness, Why};

/// What is known of a Subscription.
struct Facts<'a> {
    subscription: &'a Subscription,
    status: &'a SubscriptionStatus,
    view: &'a View<'a>,
    is_paused: bool,
}

/// Whether what a Subscription asks for is there.
pub(super) fn readiness(
    subscription: &Subscription,
    status: &SubscriptionStatus,
    view: &View<'_>,
) -> Readiness {
    let is_paused = held::is_paused(subscription);
    let facts = Facts { subscription, status, view, is_paused };
    malformed(&facts)
        .or_else(|| refused(&facts))
        .or_else(|| failed_plan(&facts))
        .or_else(|| absent(&facts))
        .or_else(|| under_way(&facts))
        .unwrap_or_else(|| of_operator(&facts))
}

/// What readiness depends on of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// The operator is at work.
    Succeeded,
    /// It is not, and the CSV says why.
    Failed,
    /// It is about to be one of the others.
    Other,
}

pub(super) fn class(phase: CsvPhase) -> Class {
    match phase {
        CsvPhase::Succeeded => Class::Succeeded,
        CsvPhase::Failed => Class::Failed,
        CsvPhase::None
        | CsvPhase::Pending
        | CsvPhase::InstallReady
        | CsvPhase::Installing
        | CsvPhase::Replacing
        | CsvPhase::Deleting
        | CsvPhase::Unknown => Class::Other,
    }
}

/// What is declared about versions cannot be read, so nothing is known to be as asked for.
fn malformed(facts: &Facts<'_>) -> Option<Readiness> {
    let problem = policy::held_by_mistake(facts.subscription)?;
    Some(Readiness::Stalled(Why::new(reasons::MALFORMED_VALUE, problem)))
}

/// The last resolution found nothing. While the Subscription is paused that says nothing any more.
fn refused(facts: &Facts<'_>) -> Option<Readiness> {
    let holds = |kind: &str| {
        let condition = conditions::get(facts.status, kind)?;
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let why = Why::new(&text(&condition.reason), text(&condition.message));
        (condition.status == "True" && !facts.is_paused).then_some((condition, why))
    };
    if let Some((condition, why)) = holds(BUNDLE_UNPACK_FAILED) {
        let passes = will_pass(condition) || is_unpacking(facts.status);
        return Some(if passes { Readiness::Progressing(why) } else { Readiness::Stalled(why) });
    }
    let (_, why) = holds(RESOLUTION_FAILED)?;
    let is_missing = is_catalog_missing(facts);
    match is_missing || why.reason == reasons::ERROR_PREVENTED_RESOLUTION {
        // What is there may be all that is asked for: nothing else is known, and it is tried again.
        true if is_installed(facts) => None,
        true if is_missing => {
            let reason = reasons::UNHEALTHY_CATALOG_SOURCE_FOUND;
            Some(Readiness::Progressing(Why { reason: reason.to_owned(), ..why }))
        }
        true => Some(Readiness::Progressing(why)),
        false => Some(Readiness::Stalled(why)),
    }
}

/// Whether the catalog that the Subscription names is not there: a tool that applies both may bring it yet.
fn is_catalog_missing(facts: &Facts<'_>) -> bool {
    let spec = &facts.subscription.spec;
    let is_it = |known: &SubscriptionCatalogHealth| {
        let known = &known.catalog_source_ref;
        known.name.as_ref() == Some(&spec.source)
            && known.namespace.as_ref() == Some(&spec.source_namespace)
    };
    !spec.source.is_empty() && !facts.status.catalog_health.iter().any(is_it)
}

/// What it would bring is still asked for.
fn failed_plan(facts: &Facts<'_>) -> Option<Readiness> {
    let plan = facts.view.plan.filter(|plan| plan.phase() == InstallPlanPhase::Failed)?;
    if held_by(facts).is_some() {
        return None;
    }
    let status = plan.status.as_ref()?;
    let message = format!("InstallPlan {} has failed", plan.name_any());
    let message = plan_status::message(status).map_or(message, |why| why);
    Some(Readiness::Stalled(Why::new(plan_status::failure_reason(status), message)))
}

/// Nothing is installed.
fn absent(facts: &Facts<'_>) -> Option<Readiness> {
    if is_installed(facts) {
        return None;
    }
    if let Some(csv) = installed(facts) {
        let message = format!(
            "ClusterServiceVersion {csv} was deleted: nothing takes its place until the Subscription is deleted and \
             created anew"
        );
        return Some(Readiness::Stalled(Why::new(reasons::CSV_MISSING, message)));
    }
    Some(match facts.view.plan {
        _ if facts.is_paused => {
            let message = format!("annotation {PAUSE}: nothing is installed until it is removed");
            Readiness::Waiting(Why::new(reasons::PAUSED, message))
        }
        Some(plan) if plan.waits_for_approval() => Readiness::Waiting(requires_approval(plan)),
        _ => {
            let package = &facts.subscription.spec.name;
            let message = format!("no operator of package {package} is installed yet");
            Readiness::Progressing(Why::new(reasons::INSTALLING, message))
        }
    })
}

/// Something that the Subscription asks for is to come. While it is paused, that is only what a plan brings that
/// has begun.
fn under_way(facts: &Facts<'_>) -> Option<Readiness> {
    let plan = facts.view.plan.filter(|plan| !plan.is_over());
    let has_begun = plan.is_some_and(|plan| plan.phase() == InstallPlanPhase::Installing);
    if facts.is_paused && !has_begun {
        return None;
    }
    let upgrading = |message: String| Readiness::Progressing(Why::new(reasons::UPGRADING, message));
    let installed = installed(facts)?;
    let pin = policy::pinned(facts.subscription).filter(|pin| *pin != installed);
    if held_by(facts).is_some() {
        return pin.map(|pin| upgrading(format!("{installed} is upgraded to {pin}")));
    }
    let is_pending = facts.status.state == SubscriptionState::UpgradePending;
    if let Some(plan) = plan.filter(|plan| plan.waits_for_approval()) {
        let is_manual = facts.subscription.spec.install_plan_approval == Some(Approval::Manual);
        return match is_manual && pin.is_none() || !is_pending {
            true => None,
            false => Some(Readiness::Waiting(requires_approval(plan))),
        };
    }
    if is_unpacking(facts.status) && !facts.is_paused {
        return Some(upgrading("bundles are being unpacked".to_owned()));
    }
    let current = facts.status.current_csv.as_deref().filter(|current| *current != installed);
    let next = current.filter(|_| is_pending || plan.is_some()).or(pin);
    if let Some(next) = next {
        return Some(upgrading(format!("{installed} is upgraded to {next}")));
    }
    plan.map(|plan| {
        let message = format!("InstallPlan {} is executed", plan.name_any());
        Readiness::Progressing(Why::new(reasons::INSTALLING, message))
    })
}

/// Also after a failure, which stays recorded until something was unpacked.
fn is_unpacking(status: &SubscriptionStatus) -> bool {
    conditions::get(status, BUNDLE_UNPACKING).is_some_and(|condition| condition.status == "True")
}

/// All that is asked for is installed.
fn of_operator(facts: &Facts<'_>) -> Readiness {
    let name = installed(facts).unwrap_or_default();
    let operator = facts.view.operator.cloned().unwrap_or_default();
    let message = format!("ClusterServiceVersion {name} is {}", operator.phase.as_str());
    match class(operator.phase) {
        Class::Succeeded => Readiness::Ready(Why::new(reasons::SUCCEEDED, message + &next(facts))),
        Class::Failed => {
            let message = format!("{message}: {}", operator.message);
            Readiness::Stalled(Why::new(&operator.reason, message))
        }
        Class::Other => {
            let message = format!("ClusterServiceVersion {name} has not succeeded yet");
            Readiness::Progressing(Why::new(reasons::INSTALLING, message))
        }
    }
}

/// What comes next, once a user lets it.
fn next(facts: &Facts<'_>) -> String {
    let waits = facts.view.plan.is_some_and(InstallPlan::waits_for_approval);
    let next = facts.status.current_csv.as_deref().filter(|next| Some(*next) != installed(facts));
    let holding = held_by(facts).or(facts.is_paused.then_some(PAUSE));
    match (next, holding) {
        (Some(next), Some(key)) => format!("; {next} waits, as annotation {key} says"),
        (Some(next), None) if waits => format!("; {next} waits for approval"),
        _ => String::new(),
    }
}

/// The annotation by which the Subscription holds back what its plan would bring.
fn held_by(facts: &Facts<'_>) -> Option<&'static str> {
    held::holding(facts.subscription, facts.status, facts.view.plan?)
}

fn requires_approval(plan: &InstallPlan) -> Why {
    let own = plan.status.as_ref().and_then(|status| status.message.clone());
    let message = own.filter(|message| !message.is_empty()).unwrap_or_else(|| {
        let planned_csvs: Vec<&str> = planned_csvs(plan).into_iter().take(LISTED).collect();
        format!("InstallPlan {} waits for approval of {}", plan.name_any(), planned_csvs.join(", "))
    });
    Why::new(InstallPlanPhase::RequiresApproval.as_str(), message)
}

/// Most CSVs that a message names.
const LISTED: usize = 10;

fn installed<'a>(facts: &Facts<'a>) -> Option<&'a str> {
    facts.status.installed_csv.as_deref().filter(|csv| !csv.is_empty())
}

fn is_installed(facts: &Facts<'_>) -> bool {
    installed(facts).is_some() && facts.view.operator.is_some()
}
