//! The status of an InstallPlan and its condition `Installed`.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use olm_effect::Effect;
use olm_types::api::{InstallPlan, InstallPlanCondition, InstallPlanStatus};
use olm_types::conditions::install_plan::INSTALLED;
use olm_types::reasons::install_plan as reasons;

use super::Observed;
use crate::writes::status_write;

/// The write of a status, unless it is there already.
pub(super) fn status_effects(observed: &Observed, status: InstallPlanStatus) -> Vec<Effect> {
    let wanted = InstallPlan { status: Some(status), ..(*observed.plan).clone() };
    status_write(&*observed.plan, &wanted).into_iter().collect()
}

/// The status with a failed precondition withdrawn, once it holds again.
pub(super) fn reset(status: &InstallPlanStatus, now: Timestamp) -> InstallPlanStatus {
    let mut status = status.clone();
    let failed = |condition: &InstallPlanCondition| {
        condition.reason.as_deref() == Some(reasons::INSTALL_CHECK_FAILED)
    };
    if status.conditions.iter().any(failed) {
        set_installed(&mut status, "False", Some(reasons::UNKNOWN), None, now);
    }
    status
}

/// Sets the condition `Installed`. Its times change only when something else in it does.
pub(super) fn set_installed(
    status: &mut InstallPlanStatus,
    value: &str,
    reason: Option<&str>,
    message: Option<String>,
    now: Timestamp,
) {
    let position = status
        .conditions
        .iter()
        .position(|condition| condition.type_.as_deref() == Some(INSTALLED));
    let old = position.and_then(|position| status.conditions.get(position)).cloned();
    let mut new = InstallPlanCondition {
        type_: Some(INSTALLED.to_owned()),
        status: Some(value.to_owned()),
        reason: reason.map(str::to_owned),
        message,
        ..old.clone().unwrap_or_default()
    };
    if old.as_ref() == Some(&new) {
        return;
    }
    new.last_update_time = Some(Time(now));
    if old.is_none_or(|old| old.status != new.status) {
        new.last_transition_time = Some(Time(now));
    }
    match position.and_then(|position| status.conditions.get_mut(position)) {
        Some(condition) => *condition = new,
        None => status.conditions.push(new),
    }
}
