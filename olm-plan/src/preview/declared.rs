//! Approvals that Subscriptions declare in annotations.

use olm_lifecycle::install_plan::is_approval_declared;
use olm_lifecycle::install_plan::request::PlanRequest;
use olm_lifecycle::subscription::resolution::Namespace;
use olm_types::api::InstallPlan;

use super::PreviewRequest;
use crate::settings::Flavour;

/// Whether annotations of Subscriptions approve the plan, which v0 does not know.
pub(super) fn is_declared(
    asked: &PreviewRequest,
    request: &PlanRequest,
    namespace: &Namespace,
) -> bool {
    let plan = InstallPlan { status: Some(request.status()), ..request.object(&namespace.plans) };
    let subscriptions = namespace.subscriptions.iter().chain(&namespace.held);
    asked.settings.flavour != Flavour::V0
        && is_approval_declared(&plan, subscriptions.map(AsRef::as_ref))
}
