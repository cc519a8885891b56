//! No two groups that share a namespace provide the same API (spec olm-operator 4.5).

use std::collections::HashSet;

use olm_effect::{Action, Effect, Subresource};
use olm_opgroup::{
    ApiReconciliation, ApiSet, GroupSurface, group_apis, provided_apis, reconcile_apis,
};
use olm_types::annotations;
use olm_types::api::{CsvPhase, OperatorGroup};
use olm_types::gvk::format_api_keys;
use olm_types::reasons::csv as reasons;
use serde_json::json;

use super::{Stage, Verdict};
use crate::csv::decision::Decision;
use crate::csv::observed::Observed;
use crate::csv::pass::Pass;
use crate::install::is_ours;
use crate::writes::target_of;

/// Keeps the group's annotation `olm.providedAPIs` true, and stops a CSV whose APIs another group
/// provides.
pub struct ProvidedApis;

impl Stage for ProvidedApis {
    fn judge(&self, pass: &Pass<'_>) -> Verdict {
        let Some(group) = pass.group() else { return Verdict::Continue };
        let observed = pass.observed;
        let provided = provided_apis(&observed.csv.spec);
        let result = reconcile(observed, group, &provided);
        let is_static = group.spec.static_provided_apis.unwrap_or_default();
        let listed = group_apis(group);
        match (result, is_static) {
            (ApiReconciliation::NoConflict, _) => Verdict::Continue,
            (ApiReconciliation::Conflict, _) => Verdict::Stop(refuse(
                observed,
                reasons::INTER_OPERATOR_GROUP_OWNER_CONFLICT,
                "intersecting operatorgroups provide the same apis",
            )),
            (ApiReconciliation::Add | ApiReconciliation::Remove, true) => Verdict::Stop(refuse(
                observed,
                reasons::CANNOT_MODIFY_STATIC_OPERATOR_GROUP_PROVIDED_APIS,
                "static provided api operatorgroup cannot be modified by these apis",
            )),
            (ApiReconciliation::Add, false) => annotate(group, &(&listed | &provided)),
            (ApiReconciliation::Remove, false) => annotate(group, &(&listed - &provided)),
        }
    }
}

fn reconcile(observed: &Observed, group: &OperatorGroup, provided: &ApiSet) -> ApiReconciliation {
    let groups =
        observed.operator_groups.iter().filter(|other| observed.trust.yields_to(group, other));
    // There are as many groups as tenants, and few that list one of these APIs.
    let keys: HashSet<String> = provided.iter().map(ToString::to_string).collect();
    let all: Vec<GroupSurface> = groups
        .filter(|other| may_list(other, &keys))
        .map(|other| GroupSurface::of(other, &observed.namespaces))
        .collect();
    reconcile_apis(provided, &GroupSurface::of(group, &observed.namespaces), &all)
}

/// Whether a group is worth a closer look: its annotation lists one of these, or is written with spaces.
/// Annotation and keys may be as long as objects are large.
fn may_list(group: &OperatorGroup, keys: &HashSet<String>) -> bool {
    let annotations = group.metadata.annotations.as_ref();
    let text = annotations.and_then(|all| all.get(annotations::PROVIDED_APIS));
    text.is_some_and(|text| text.contains(' ') || text.split(',').any(|key| keys.contains(key)))
}

/// Writes the annotation; the change of the group wakes its members for another pass.
fn annotate(group: &OperatorGroup, apis: &ApiSet) -> Verdict {
    let text = format_api_keys(apis);
    let present = group.metadata.annotations.as_ref();
    if present.and_then(|all| all.get(annotations::PROVIDED_APIS)) == Some(&text) {
        return Verdict::Continue;
    }
    let action = Action::MergePatch {
        patch: json!({"metadata": {
            "resourceVersion": group.metadata.resource_version,
            "annotations": {annotations::PROVIDED_APIS: text},
        }}),
        observed: None,
        subresource: Subresource::Main,
    };
    Verdict::Stop(Decision::act(vec![Effect::new(target_of(group), action)]))
}

/// Fails the CSV and removes its Deployments, which must not serve these APIs.
fn refuse(observed: &Observed, reason: &'static str, message: &str) -> Decision {
    let strategy = observed.csv.spec.install.spec.iter();
    let deployments = strategy
        .flat_map(|strategy| &strategy.deployments)
        .filter_map(|entry| observed.deployments.get(&entry.name))
        .filter(|found| is_ours(&observed.csv, &found.metadata))
        .map(|found| Effect::delete(target_of(found.as_ref())));
    Decision::enter(CsvPhase::Failed, reason, message).after(deployments.collect())
}
