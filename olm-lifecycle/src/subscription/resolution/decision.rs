//! What has to be true before a namespace is resolved.

use jiff::Timestamp;
use olm_effect::{Effect, EventNote, EventType, Resource, Target};
use olm_types::api::{
    InstallPlan, InstallPlanPhase, Subscription, SubscriptionState, UpgradeStrategy,
};
use olm_types::conditions::subscription::CATALOG_SOURCES_UNHEALTHY;
use olm_types::reasons::event::RESOLUTION_FAILED;
use olm_types::reasons::subscription as reasons;

use super::super::{conditions, policy};
use super::{Namespace, Spec, state, write};
use crate::install_plan::approval::{self, versions};
use crate::install_plan::requesters::Requesters;

/// What the OperatorGroup of the namespace says about resolution, beside which catalogs it sees
/// ([`Namespace::visible`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResolutionSettings {
    /// A failed CSV may be replaced by a newer one.
    pub fail_forward: bool,
}

/// Whether a namespace is resolved now.
#[derive(Clone, Debug, PartialEq)]
pub enum ResolutionDecision {
    /// There is no Subscription here that anything is resolved for.
    NothingSubscribed,
    /// The namespace does not have exactly one OperatorGroup. v0 says so only in its log; the
    /// event makes it visible to the user.
    WrongGroups {
        /// v0's text.
        message: String,
        /// The same on the Namespace, with a hint.
        event: Box<Effect>,
    },
    /// A Subscription is still looked at by itself (spec catalog-operator 2.2); that comes first,
    /// and brings the namespace back here. It keeps conditions in v0's order, and two writes from
    /// meeting.
    NotSynced,
    /// Subscriptions have to be brought up to date first; their change starts over.
    OutOfDate(Vec<Effect>),
    /// Every Subscription waits for its InstallPlan.
    AllPending,
    /// Resolve.
    Resolve(ResolutionSettings),
}

/// Looks at a namespace before it is resolved.
pub fn decide_resolution(namespace: &Namespace, now: Timestamp) -> ResolutionDecision {
    let asks = !namespace.subscriptions.is_empty();
    let group = match namespace.groups.as_slice() {
        [group] if asks || !namespace.held.is_empty() => group,
        _ if !asks => return ResolutionDecision::NothingSubscribed,
        _ => return wrong_groups(namespace),
    };
    let settings = ResolutionSettings {
        fail_forward: group.spec.upgrade_strategy
            == Some(UpgradeStrategy::TechPreviewUnsafeFailForward),
    };
    if !namespace.subscriptions.iter().all(|subscription| is_synced(subscription)) {
        return ResolutionDecision::NotSynced;
    }
    let changes = out_of_date(namespace, settings, now);
    if !changes.is_empty() {
        ResolutionDecision::OutOfDate(changes)
    } else if !asks {
        ResolutionDecision::NothingSubscribed
    } else if all_pending(namespace) {
        ResolutionDecision::AllPending
    } else {
        ResolutionDecision::Resolve(settings)
    }
}

/// What changed among the catalogs is reported for one look only; the next write follows at once.
fn is_synced(subscription: &Subscription) -> bool {
    let status = subscription.status.as_ref();
    let health = status.and_then(|status| conditions::get(status, CATALOG_SOURCES_UNHEALTHY));
    let reason = health.map(|condition| condition.reason.as_deref().unwrap_or_default());
    reason.is_some_and(|reason| !reasons::CATALOG_SOURCES_CHANGED.contains(&reason))
}

fn out_of_date(namespace: &Namespace, settings: ResolutionSettings, now: Timestamp) -> Vec<Effect> {
    // Those that are held by their annotations follow plans that have begun.
    let held = namespace.held.iter().filter(|one| is_synced(one));
    let writes = namespace.subscriptions.iter().chain(held).filter_map(|subscription| {
        let status = state::up_to_date(namespace, subscription, settings.fail_forward, now)?;
        write(namespace, subscription, status, None, Spec::Unresolved, now)
    });
    writes.collect()
}

fn all_pending(namespace: &Namespace) -> bool {
    namespace.subscriptions.iter().all(|one| waits_for_its_plan(namespace, one))
}

/// Whether the Subscription waits for its InstallPlan, which is still to be done for it.
#[must_use]
pub fn waits_for_its_plan(namespace: &Namespace, subscription: &Subscription) -> bool {
    let plan = namespace.plan_of(subscription).map(AsRef::as_ref);
    is_pending(plan, subscription) && !plan.is_some_and(|plan| is_released(namespace, plan))
}

/// Whether a plan has failed and is not tried again, as one of the namespace declares that it does not accept what the
/// plan brings of its package: the others get a plan without that.
pub(super) fn is_released(namespace: &Namespace, plan: &InstallPlan) -> bool {
    let all = namespace.subscriptions.iter().chain(&namespace.held).map(|one| &**one);
    plan.phase() == InstallPlanPhase::Failed
        && approval::is_released(plan, all.filter(|one| policy::selects_versions(one)))
}

/// Whether the Subscription waits for its InstallPlan, and for no other. Its spec counts only afterwards, as in
/// v0.
pub(crate) fn is_pending(plan: Option<&InstallPlan>, subscription: &Subscription) -> bool {
    let status = subscription.status.as_ref();
    status.is_some_and(|status| {
        status.install_plan_ref.is_some()
            && status.state == SubscriptionState::UpgradePending
            && !may_choose_again(plan, subscription)
    })
}

/// What a Subscription declares about versions may have changed since its plan was made, and of several that
/// ask for one plan some may have gone; while it waits for approval, another plan may take its place. So it may when
/// the plan is approved and held, or has failed, and brings what the Subscription does not accept any more: of itself
/// it would never be done.
fn may_choose_again(plan: Option<&InstallPlan>, subscription: &Subscription) -> bool {
    plan.is_some_and(|plan| match plan.phase() {
        InstallPlanPhase::RequiresApproval if plan.waits_for_approval() => {
            policy::selects_versions(subscription) || Requesters::of(plan).is_some()
        }
        InstallPlanPhase::RequiresApproval | InstallPlanPhase::Failed => {
            versions::hold(subscription, subscription.status.as_ref(), plan).is_some()
        }
        InstallPlanPhase::None
        | InstallPlanPhase::Planning
        | InstallPlanPhase::Installing
        | InstallPlanPhase::Complete => false,
    })
}

fn wrong_groups(namespace: &Namespace) -> ResolutionDecision {
    let count = namespace.groups.len();
    let message = format!("found {count} operatorGroups, expected 1");
    let hint = match count {
        0 => format!("create an OperatorGroup in namespace {}", namespace.name),
        _ => format!("delete all OperatorGroups but one in namespace {}", namespace.name),
    };
    let note = EventNote {
        event_type: EventType::Warning,
        reason: RESOLUTION_FAILED.to_owned(),
        message: format!("{message}: nothing is installed for the Subscriptions here; {hint}"),
        uid: None,
        field_path: None,
    };
    ResolutionDecision::WrongGroups {
        message,
        event: Box::new(Effect::event(namespace_target(&namespace.name), note)),
    }
}

/// The Namespace object that events about a resolution are put on.
pub(super) fn namespace_target(name: &str) -> Target {
    Target::cluster(Resource::new("", "v1", "Namespace", "namespaces"), name)
}
