//! Withdraws APIs from `olm.providedAPIs` that no member provides any more (spec olm-operator
//! 4.4 step 7).

use olm_effect::{Action, Effect, Subresource};
use olm_opgroup::{ApiSet, group_apis, provided_apis};
use olm_types::annotations;
use olm_types::api::{ClusterServiceVersion, CsvPhase};
use olm_types::gvk::format_api_keys;
use serde_json::json;

use super::Observed;
use crate::writes::target_of;

/// The write of the shorter annotation, if there is anything to withdraw. While a member is about
/// to add an API of its own, nothing is withdrawn.
pub(super) fn prune(observed: &Observed) -> Option<Effect> {
    let group = &observed.group;
    if group.spec.static_provided_apis.unwrap_or_default() {
        return None;
    }
    let listed = group_apis(group);
    if observed.members.iter().any(|csv| is_about_to_add(csv, &listed)) {
        return None;
    }
    let provided: ApiSet =
        observed.members.iter().flat_map(|csv| provided_apis(&csv.spec)).collect();
    let kept = &listed & &provided;
    if kept.len() == listed.len() {
        return None;
    }
    let action = Action::MergePatch {
        patch: json!({"metadata": {
            "resourceVersion": group.metadata.resource_version,
            "annotations": {annotations::PROVIDED_APIS: format_api_keys(&kept)},
        }}),
        observed: None,
        subresource: Subresource::Main,
    };
    Some(Effect::new(target_of(group.as_ref()), action))
}

fn is_about_to_add(csv: &ClusterServiceVersion, listed: &ApiSet) -> bool {
    let phase = csv.phase();
    let is_new = matches!(phase, CsvPhase::None | CsvPhase::Pending);
    is_new
        && csv.metadata.deletion_timestamp.is_none()
        && !provided_apis(&csv.spec).is_subset(listed)
}
