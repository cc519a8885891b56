//! The status of a CatalogSource (spec catalog-operator 1.2).
//!
//! v0 goes through a chain of steps, each of which may end the sync; for a catalog with an address
//! the chain always ends in the same status, which is computed here at once.

use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use olm_effect::Effect;
use olm_types::api::{
    CatalogSource, CatalogSourceStatus, GrpcConnectionState, RegistryServiceStatus,
};
use olm_types::reasons::catalog_source as reasons;

use super::spec::{Backend, SpecProblem, backend};
use crate::writes::status_write;

/// State of a connection that failed and is tried again.
const TRANSIENT_FAILURE: &str = "TRANSIENT_FAILURE";
/// State of a connection over which the catalog can be read.
const READY: &str = "READY";
/// States of a connection that is about to be one of the others.
const UNDER_WAY: [&str; 2] = ["IDLE", "CONNECTING"];

/// The connection to a registry server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Where it goes.
    pub address: String,
    /// IDLE, CONNECTING, READY, TRANSIENT_FAILURE or SHUTDOWN.
    pub state: String,
    /// Since when it is in that state.
    pub since: Timestamp,
}

/// What is known about a CatalogSource.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The CatalogSource.
    pub catalog: Arc<CatalogSource>,
    /// Its connection, if there is one, or why there cannot be one.
    pub connection: Result<Option<Connection>, String>,
}

/// The write that makes the status true, if it is not.
pub fn decide(observed: &Observed, now: Timestamp) -> Option<Effect> {
    let before = observed.catalog.status.clone().unwrap_or_default();
    let cleared = CatalogSourceStatus { reason: None, message: None, ..before.clone() };
    let status = match backend(&observed.catalog) {
        Err(problem) => invalid(cleared, &problem),
        Ok(Backend::Address(address)) => match &observed.connection {
            Ok(connection) => serving(cleared, &address, connection.as_ref(), now),
            Err(problem) => {
                server_error(cleared, format!("couldn't connect to registry - {problem}"))
            }
        },
        Ok(Backend::Image) => unsupported(cleared, "a catalog image"),
        Ok(Backend::ConfigMap) => unsupported(cleared, "a ConfigMap"),
    };
    let changed = status != before;
    let wanted = CatalogSource { status: Some(status), ..(*observed.catalog).clone() };
    changed.then(|| status_write(&*observed.catalog, &wanted)).flatten()
}

fn invalid(status: CatalogSourceStatus, problem: &SpecProblem) -> CatalogSourceStatus {
    CatalogSourceStatus {
        reason: Some(reasons::SPEC_INVALID_ERROR.to_owned()),
        message: Some(problem.to_string()),
        ..status
    }
}

/// The spec is valid, so it is the registry server that cannot be had.
fn unsupported(status: CatalogSourceStatus, what: &str) -> CatalogSourceStatus {
    let message = format!(
        "couldn't ensure registry server - serving {what} is not supported by this version yet: \
         set spec.sourceType to grpc and spec.address to the host:port of a running registry server"
    );
    server_error(status, message)
}

fn server_error(status: CatalogSourceStatus, message: String) -> CatalogSourceStatus {
    CatalogSourceStatus {
        reason: Some(reasons::REGISTRY_SERVER_ERROR.to_owned()),
        message: Some(message),
        ..status
    }
}

fn serving(
    mut status: CatalogSourceStatus,
    address: &str,
    connection: Option<&Connection>,
    now: Timestamp,
) -> CatalogSourceStatus {
    if status.registry_service.is_none() {
        status.registry_service = Some(RegistryServiceStatus {
            protocol: Some("grpc".to_owned()),
            created_at: Some(Time(now)),
            ..RegistryServiceStatus::default()
        });
    }
    let current = connection.filter(|connection| connection.address == address);
    if let Some(connection) = current {
        status.connection_state =
            Some(connection_state(status.connection_state.take(), connection));
    }
    status
}

/// A failing connection goes back and forth between failing and connecting at each attempt, and
/// after a restart of ours each connection is made anew: what is recorded stays until the attempt
/// has another result, so that neither an unreachable catalog nor a restart causes writes.
fn connection_state(
    recorded: Option<GrpcConnectionState>,
    connection: &Connection,
) -> GrpcConnectionState {
    let wanted = GrpcConnectionState {
        address: Some(connection.address.clone()),
        last_observed_state: connection.state.clone(),
        last_connect: Some(Time(connection.since)),
    };
    let Some(recorded) = recorded.filter(|recorded| recorded.address == wanted.address) else {
        return wanted;
    };
    let known = [READY, TRANSIENT_FAILURE].contains(&recorded.last_observed_state.as_str());
    let undecided = known && UNDER_WAY.contains(&connection.state.as_str());
    let same = recorded.last_observed_state == wanted.last_observed_state;
    if undecided || same { recorded } else { wanted }
}

#[cfg(test)]
mod tests;
