//! What the OLM of a cluster has in view of a namespace when it resolves.

use std::sync::Arc;

use olm_lifecycle::install_plan::is_approval_declared;
use olm_lifecycle::install_plan::request::PlanRequest;
use olm_lifecycle::subscription::is_held;
use olm_lifecycle::subscription::readiness::CsvState;
use olm_lifecycle::subscription::resolution::Namespace;
use olm_types::annotations::OURS;
use olm_types::api::{ClusterServiceVersion, InstallPlan, OperatorGroup, Subscription};

use super::PreviewRequest;
use super::world::World;
use crate::observed::name;
use crate::settings::Flavour;

/// The namespace of a preview, with the CSVs that are its own.
pub(super) fn namespace(
    asked: &PreviewRequest,
    world: &World<'_>,
    csvs: &[ClusterServiceVersion],
) -> Namespace {
    let home = Some(asked.namespace.as_str());
    let subscriptions: Vec<Subscription> = world.typed(Subscription::KIND, home);
    let plans: Vec<InstallPlan> = world.typed(InstallPlan::KIND, home);
    let groups: Vec<OperatorGroup> = world.typed(OperatorGroup::KIND, home);
    let is_asked = |one: &Subscription| one.metadata.deletion_timestamp.is_none();
    let subscriptions = subscriptions.into_iter().filter(is_asked);
    let subscriptions = subscriptions.map(|one| Arc::new(as_read(asked, one)));
    let (held, subscriptions) = subscriptions.partition(|one: &Arc<Subscription>| is_held(one));
    Namespace {
        name: asked.namespace.clone(),
        subscriptions,
        held,
        plans: plans.into_iter().map(Arc::new).collect(),
        csvs: csvs
            .iter()
            .map(|csv| (name(&csv.metadata).to_owned(), CsvState::from(csv)))
            .collect(),
        groups: groups.into_iter().map(Arc::new).collect(),
    }
}

/// A Subscription as the OLM of the cluster reads it: v0 knows no annotation of olm-rs.
pub(super) fn as_read(asked: &PreviewRequest, mut subscription: Subscription) -> Subscription {
    if asked.settings.flavour == Flavour::V0
        && let Some(annotations) = &mut subscription.metadata.annotations
    {
        annotations.retain(|key, _| !key.starts_with(OURS));
    }
    subscription
}

/// Whether annotations of Subscriptions approve the plan.
pub(super) fn is_declared(request: &PlanRequest, namespace: &Namespace) -> bool {
    let plan = InstallPlan { status: Some(request.status()), ..request.object(&namespace.plans) };
    let subscriptions = namespace.subscriptions.iter().chain(&namespace.held);
    is_approval_declared(&plan, subscriptions.map(AsRef::as_ref))
}
