//! What the OLM of a cluster has in view of a namespace when it resolves.

use std::sync::Arc;

use olm_lifecycle::install_plan::is_approval_declared;
use olm_lifecycle::install_plan::request::PlanRequest;
use olm_lifecycle::subscription::is_held;
use olm_lifecycle::subscription::readiness::CsvState;
use olm_lifecycle::subscription::resolution::Namespace;
use olm_types::api::{ClusterServiceVersion, InstallPlan, OperatorGroup, Subscription};

use super::PreviewRequest;
use super::world::World;
use crate::observed::name;

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
    let subscriptions = subscriptions.map(|one| Arc::new(asked.settings.as_read(one)));
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

/// Whether annotations of Subscriptions approve the plan.
pub(super) fn is_declared(request: &PlanRequest, namespace: &Namespace) -> bool {
    let plan = InstallPlan { status: Some(request.status()), ..request.object(&namespace.plans) };
    let subscriptions = namespace.subscriptions.iter().chain(&namespace.held);
    is_approval_declared(&plan, subscriptions.map(AsRef::as_ref))
}
