//! The status of a CatalogSource (spec catalog-operator 1.2).
//!
//! v0 goes through a chain of steps, each of which may write a status and end the sync; here one
//! status is computed from everything that was observed and done, and written once.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube_core::ResourceExt;
use olm_effect::{Effect, Outcome};
use olm_types::api::{
    CatalogSource, CatalogSourceStatus, ConfigMapResourceReference, GrpcConnectionState,
    RegistryServiceStatus,
};
use olm_types::conditions::catalog_source::IMAGE_POLLED;
use olm_types::conditions::set_condition;
use olm_types::reasons::catalog_source as reasons;

use super::observed::{Connection, Observed};
use super::plan::{Plan, PlannedStatus, Server, recorded};
use super::polling::PollStep;
use super::registry::PORT;
use super::{content, hosting, interval, ready, template};
use crate::writes::status_write;

/// State of a connection that failed and is tried again.
pub(super) const TRANSIENT_FAILURE: &str = "TRANSIENT_FAILURE";
/// State of a connection over which the catalog can be read.
pub(super) const READY: &str = "READY";
/// States of a connection that is about to be one of the others.
const UNDER_WAY: [&str; 2] = ["IDLE", "CONNECTING"];
/// Protocol of every registry server.
const PROTOCOL: &str = "grpc";
/// How long after a look at an update Pod the next one comes, should no event come before.
const UPDATE_PENDING: Duration = Duration::from_secs(30);

/// What follows once the writes of a plan were tried.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conclusion {
    /// The write that makes the status true, if it is not.
    pub status: Option<Effect>,
    /// When to look again even if nothing changes.
    pub next: Option<Duration>,
    /// Why to try again soon.
    pub error: Option<String>,
}

/// Turns what came of a plan into a status.
pub fn conclude(
    observed: &Observed,
    plan: &Plan,
    outcomes: &[Outcome],
    now: Timestamp,
) -> Conclusion {
    let catalog = &*observed.catalog;
    let before = recorded(catalog);
    let mut status = CatalogSourceStatus { reason: None, message: None, ..before.clone() };
    let refusal = plan.refusal(outcomes, &catalog.name_any());
    let error = match refusal {
        Some(refusal) => Some(refused(&mut status, &plan.course, refusal)),
        None => succeeded(observed, &plan.course, &mut status, now),
    };
    let version = observed.server_version.as_deref();
    if !matches!(plan.course, PlannedStatus::Renaming) {
        template::note(catalog, version, &mut status.conditions, now);
    }
    connected(observed, &plan.course, &mut status);
    content::note(observed, &mut status, now);
    if let Some(hosting) = &observed.hosting {
        hosting::conditions::note(catalog, hosting, &mut status.conditions, now);
    }
    ready::note(observed, &plan.course, &before, &mut status, now);
    let wanted = CatalogSource { status: Some(status.clone()), ..catalog.clone() };
    let changed = status != before;
    Conclusion {
        status: changed.then(|| status_write(catalog, &wanted)).flatten(),
        next: next(&wanted, &plan.course, now),
        error,
    }
}

fn refused(status: &mut CatalogSourceStatus, course: &PlannedStatus, refusal: String) -> String {
    match course {
        PlannedStatus::Renaming => {}
        PlannedStatus::Adopting => set_error(status, reasons::CONFIG_MAP_ERROR, &refusal),
        _ => {
            let message = format!("couldn't ensure registry server - {refusal}");
            set_error(status, reasons::REGISTRY_SERVER_ERROR, &message);
        }
    }
    refusal
}

/// Gives what is to be tried again.
fn succeeded(
    observed: &Observed,
    course: &PlannedStatus,
    status: &mut CatalogSourceStatus,
    now: Timestamp,
) -> Option<String> {
    match course {
        PlannedStatus::Renaming | PlannedStatus::Adopting => {
            let before = recorded(&observed.catalog);
            (status.reason, status.message) = (before.reason, before.message);
        }
        PlannedStatus::Pulling => {}
        PlannedStatus::Invalid(problem) => {
            set_error(status, reasons::SPEC_INVALID_ERROR, &problem.to_string());
        }
        PlannedStatus::NoConfigMap(problem) => {
            let name = observed.catalog.spec.config_map.as_deref().unwrap_or_default();
            let message = format!("failed to get catalog config map {name}: {problem}");
            set_error(status, reasons::CONFIG_MAP_ERROR, &message);
            return Some(message);
        }
        PlannedStatus::Broken(problem) => {
            let message = format!("couldn't ensure registry server - {problem}");
            set_error(status, reasons::REGISTRY_SERVER_ERROR, &message);
        }
        PlannedStatus::Address => {
            status.registry_service.get_or_insert_with(|| RegistryServiceStatus {
                protocol: Some(PROTOCOL.to_owned()),
                created_at: Some(Time(now)),
                ..RegistryServiceStatus::default()
            });
        }
        PlannedStatus::Server(server) => {
            serving(&observed.catalog, server, status, now);
            config_map(observed, status, now);
        }
    }
    None
}

fn serving(
    catalog: &CatalogSource,
    server: &Server,
    status: &mut CatalogSourceStatus,
    now: Timestamp,
) {
    let wanted = RegistryServiceStatus {
        protocol: Some(PROTOCOL.to_owned()),
        service_name: Some(server.service.clone()),
        service_namespace: catalog.namespace(),
        port: Some(PORT.to_string()),
        created_at: Some(Time(now)),
    };
    let reported = status.registry_service.as_ref().is_some_and(|reported| {
        RegistryServiceStatus { created_at: reported.created_at.clone(), ..wanted.clone() }
            == *reported
    });
    if server.made_pod || !reported {
        status.registry_service = Some(wanted);
    }
    if let Some(problem) = interval::polling(catalog).and_then(|interval| interval.problem) {
        set_error(status, reasons::INVALID_INTERVAL_ERROR, &problem);
    }
    polled(&server.poll, status, now);
    if server.in_process.is_some_and(|process| process.recorded) {
        status.latest_image_registry_poll = Some(Time(now));
    }
}

fn polled(step: &PollStep, status: &mut CatalogSourceStatus, now: Timestamp) {
    if matches!(step, PollStep::Look | PollStep::Unchanged) {
        status.latest_image_registry_poll = Some(Time(now));
    }
    match step {
        PollStep::Failed(message) => set_condition(
            &mut status.conditions,
            Condition {
                type_: IMAGE_POLLED.to_owned(),
                status: "False".to_owned(),
                reason: reasons::UPDATE_POD_FAILED.to_owned(),
                message: message.clone(),
                last_transition_time: Time(now),
                observed_generation: None,
            },
        ),
        // Who did not look lately knows nothing new.
        PollStep::Rest | PollStep::Pending => {}
        PollStep::Look | PollStep::Unchanged | PollStep::Same | PollStep::Promote(..) => {
            status.conditions.retain(|known| known.type_ != IMAGE_POLLED);
        }
    }
}

fn config_map(observed: &Observed, status: &mut CatalogSourceStatus, now: Timestamp) {
    let Some(metadata) = observed.config_map.metadata() else { return };
    let reported = status.config_map_reference.as_ref().is_some_and(|reported| {
        reported.uid == metadata.uid && reported.resource_version == metadata.resource_version
    });
    if reported {
        return;
    }
    status.config_map_reference = Some(ConfigMapResourceReference {
        name: observed.catalog.spec.config_map.clone().unwrap_or_default(),
        namespace: observed.catalog.namespace().unwrap_or_default(),
        uid: metadata.uid.clone(),
        resource_version: metadata.resource_version.clone(),
        last_update_time: Some(Time(now)),
    });
}

/// Shows the connection, if the spec allows one.
fn connected(observed: &Observed, course: &PlannedStatus, status: &mut CatalogSourceStatus) {
    if matches!(course, PlannedStatus::Invalid(_)) {
        return;
    }
    match &observed.connection {
        Ok(Some(connection)) => {
            let recorded = status.connection_state.take();
            let acting_since = observed.acting_since;
            status.connection_state = Some(connection_state(recorded, connection, acting_since));
        }
        Ok(None) => {}
        Err(problem) => {
            let message = format!("couldn't connect to registry - {problem}");
            set_error(status, reasons::REGISTRY_SERVER_ERROR, &message);
        }
    }
}

/// A failing connection goes back and forth between failing and connecting at each attempt, and
/// after a restart of ours each connection is made anew: what is recorded stays until the attempt
/// has a result. So an unreachable catalog causes no writes, and a restart causes one, which says
/// when this operator connected.
fn connection_state(
    recorded: Option<GrpcConnectionState>,
    connection: &Connection,
    acting_since: Timestamp,
) -> GrpcConnectionState {
    let acting_since = whole_seconds(acting_since);
    let wanted = GrpcConnectionState {
        address: Some(connection.address.clone()),
        last_observed_state: connection.state.clone(),
        last_connect: Some(Time(connection.since.max(acting_since))),
    };
    let Some(recorded) = recorded.filter(|recorded| recorded.address == wanted.address) else {
        return wanted;
    };
    let known = [READY, TRANSIENT_FAILURE].contains(&recorded.last_observed_state.as_str());
    let under_way = UNDER_WAY.contains(&connection.state.as_str());
    let same = recorded.last_observed_state == wanted.last_observed_state;
    let ours = recorded.last_connect.as_ref().is_some_and(|time| time.0 >= acting_since);
    if (known && under_way) || (same && (ours || under_way)) { recorded } else { wanted }
}

/// As the API server keeps times: one that is compared with a recorded one must not be later by less.
fn whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

fn next(catalog: &CatalogSource, course: &PlannedStatus, now: Timestamp) -> Option<Duration> {
    let PlannedStatus::Server(server) = course else { return None };
    if let Some(process) = server.in_process {
        return process.beside;
    }
    let interval = interval::polling(catalog)?;
    let look = interval::next_look(catalog, &interval, now);
    match server.poll {
        PollStep::Look | PollStep::Pending => Some(look.min(UPDATE_PENDING)),
        _ => Some(look),
    }
}

fn set_error(status: &mut CatalogSourceStatus, reason: &str, message: &str) {
    status.reason = Some(reason.to_owned());
    status.message = Some(message.to_owned());
}

#[cfg(test)]
mod tests;
