//! The ServiceAccount that a group names: its members are installed with the rights of that account
//! (spec olm-operator 4.8).

pub mod attenuation;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ObjectReference, ServiceAccount};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube_core::ResourceExt;
use olm_effect::{Action, Effect, Target};
use olm_types::api::{OperatorGroup, OperatorGroupStatus};
use olm_types::conditions::operator_group::SERVICE_ACCOUNT;
use olm_types::labels::{MANAGED, MANAGED_VALUE};
use olm_types::reasons::operator_group::SERVICE_ACCOUNT_NOT_FOUND;
use serde_json::json;

use super::Observed;
use super::status::note_condition;
use crate::writes::resource_of;
use attenuation::named_account as named;

/// Field manager of the label on the account; v0's.
const FIELD_MANAGER: &str = "operator-lifecycle-manager";

/// Makes condition and reference say what became of the account; a remark when it is missing.
pub(super) fn follow(
    observed: &Observed,
    status: &mut OperatorGroupStatus,
    now: &Time,
) -> Option<String> {
    let account = observed.service_account.as_deref();
    let missing = named(&observed.group).filter(|_| account.is_none());
    let reported =
        missing.map(|name| (SERVICE_ACCOUNT_NOT_FOUND, format!("ServiceAccount {name} not found")));
    note_condition(status, SERVICE_ACCOUNT, reported, now);
    status.service_account_ref = named(&observed.group).and(account).map(reference);
    missing.map(|name| {
        let not_found = format!("serviceaccounts {name:?} not found");
        format!("failed to get service account, sa={name} {not_found}")
    })
}

/// The label by which OLM's filtered watches see the account; nothing when it is there.
pub(super) fn label(observed: &Observed) -> Option<Effect> {
    named(&observed.group)?;
    let account = observed.service_account.as_deref()?;
    if account.labels().get(MANAGED).is_some_and(|value| value == MANAGED_VALUE) {
        return None;
    }
    let (name, namespace) = (account.name_any(), account.namespace().unwrap_or_default());
    let object = json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": name, "namespace": namespace, "labels": {MANAGED: MANAGED_VALUE}},
    });
    let target = Target::namespaced(resource_of::<ServiceAccount>(), &namespace, &name);
    let manager = FIELD_MANAGER.to_owned();
    Some(Effect::new(target, Action::Apply { object, manager, force: false }))
}

fn reference(account: &ServiceAccount) -> ObjectReference {
    ObjectReference {
        kind: Some("ServiceAccount".to_owned()),
        api_version: Some("v1".to_owned()),
        namespace: account.namespace(),
        name: account.metadata.name.clone(),
        uid: account.uid(),
        resource_version: account.resource_version(),
        ..ObjectReference::default()
    }
}

/// Whether a change of the account concerns the group.
pub fn names_account(group: &OperatorGroup, account: &str) -> bool {
    named(group) == Some(account)
        || group.status.as_ref().is_some_and(|status| {
            let reference = status.service_account_ref.as_ref();
            reference.is_some_and(|reference| reference.name.as_deref() == Some(account))
        })
}

/// The moment as a status says it: whole seconds.
pub(super) fn status_time(now: Timestamp) -> Time {
    Time(Timestamp::from_second(now.as_second()).unwrap_or(now))
}
