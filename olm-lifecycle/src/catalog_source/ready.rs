//! Whether a catalog can be asked, in the conditions that all tools understand (docs/readiness.md has the table).
//!
//! They are part of the one write of the status, and a reason for a write only when their reasons change.

use jiff::Timestamp;
use kube_core::ResourceExt;
use olm_types::api::CatalogSourceStatus;
use olm_types::conditions::readiness::READY as IS_READY;
use olm_types::reasons::catalog_source as reasons;

use super::hosting::PULLS;
use super::hosting::conditions::content_problem;
use super::observed::Observed;
use super::plan::PlannedStatus;
use super::pod_problem::of_pods;
use super::pods::{is_ready, serving};
use super::status::{READY, TRANSIENT_FAILURE};
use crate::readiness::{Readiness, Reported, Why, report, says};

/// Brings the conditions and the observed generation up to date in a status that is otherwise complete; `before`
/// is the one that is stored. v0's definition does not keep the generation: that it is missing is no
/// reason to write.
pub(super) fn note(
    observed: &Observed,
    course: &PlannedStatus,
    before: &CatalogSourceStatus,
    status: &mut CatalogSourceStatus,
    now: Timestamp,
) {
    let changed = status != before;
    let Some(found) = readiness(observed, course, status) else { return };
    let generation = observed.catalog.metadata.generation;
    let is_behind = before.observed_generation.is_some_and(|known| Some(known) != generation);
    let is_reported = says(&status.conditions, &found);
    if changed || is_behind || !is_reported {
        status.observed_generation = generation;
        report(&mut status.conditions, &found, now);
    }
}

/// Nothing while a write is about to bring the catalog back here.
fn readiness(
    observed: &Observed,
    course: &PlannedStatus,
    status: &CatalogSourceStatus,
) -> Option<Readiness> {
    let catalog = observed.catalog.name_any();
    let connecting =
        |text: &str| Readiness::Progressing(Why::new(reasons::CONNECTING, text.to_owned()));
    match course {
        PlannedStatus::Renaming | PlannedStatus::Adopting => return None,
        PlannedStatus::Invalid(problem) => {
            let why = Why::new(reasons::SPEC_INVALID_ERROR, problem.to_string());
            return Some(Readiness::Stalled(why));
        }
        PlannedStatus::Broken(problem) => {
            let why = Why::new(reasons::REGISTRY_SERVER_ERROR, problem.to_string());
            return Some(Readiness::Stalled(why));
        }
        PlannedStatus::Pulling => return Some(pulling(observed, status)),
        PlannedStatus::NoConfigMap(_) | PlannedStatus::Address | PlannedStatus::Server(_) => {}
    }
    let reason = status.reason.as_deref().unwrap_or_default();
    if [reasons::CONFIG_MAP_ERROR, reasons::REGISTRY_SERVER_ERROR].contains(&reason) {
        let message = status.message.clone().unwrap_or_default();
        return Some(Readiness::Progressing(Why::new(reason, message)));
    }
    if let PlannedStatus::Server(server) = course
        && (server.made_pod || (!was_ready(status) && !is_served(observed)))
    {
        let problem = of_pods(&catalog, &observed.server.pods);
        return Some(match problem {
            Some(problem) => Readiness::Progressing(Why::new(reasons::POD_FAILING, problem)),
            None => connecting("the registry server is started"),
        });
    }
    Some(
        connected(observed, status)
            .unwrap_or_else(|| connecting("the registry server is connected to")),
    )
}

/// The operator has nothing of the catalog yet; a Pod that serves meanwhile counts.
fn pulling(observed: &Observed, status: &CatalogSourceStatus) -> Readiness {
    let served = connected(observed, status);
    served.filter(|found| !matches!(found, Readiness::Progressing(_))).unwrap_or_else(|| {
        let hosting = observed.hosting.as_ref();
        let problem = hosting.and_then(|hosting| content_problem(&observed.catalog, hosting));
        let message = problem.map_or_else(|| PULLS.to_owned(), |(_, why)| why);
        Readiness::Progressing(Why::new(reasons::CONNECTING, message))
    })
}

/// A catalog that was ready is so while the connection is: a Pod that fails a probe is none of its concern.
fn was_ready(status: &CatalogSourceStatus) -> bool {
    status.conditions.known(IS_READY).is_some_and(|(status, ..)| status == "True")
}

fn is_served(observed: &Observed) -> bool {
    let catalog = observed.catalog.name_any();
    let mut serving = serving(&catalog, &observed.server.pods).peekable();
    serving.peek().is_none() || serving.any(|pod| is_ready(pod))
}

fn connected(observed: &Observed, status: &CatalogSourceStatus) -> Option<Readiness> {
    let state = status.connection_state.as_ref()?;
    let address = state.address.as_deref().unwrap_or_default();
    match (state.last_observed_state.as_str(), &observed.content.problem) {
        (READY, Some(problem)) => {
            let message = format!("the catalog is refused: {problem}");
            Some(Readiness::Stalled(Why::new(reasons::NOT_READABLE, message)))
        }
        (READY, None) => {
            let message = format!("connected to {address}");
            Some(Readiness::Ready(Why::new(reasons::CONNECTED, message)))
        }
        (TRANSIENT_FAILURE, _) => {
            let message = format!("the registry server at {address} does not answer");
            Some(Readiness::Progressing(Why::new(reasons::UNREACHABLE, message)))
        }
        _ => None,
    }
}

/// A status without what is said about readiness.
#[cfg(test)]
pub(super) fn without(mut status: CatalogSourceStatus) -> CatalogSourceStatus {
    use olm_types::conditions::readiness::ALL;
    status.conditions.retain(|condition| !ALL.contains(&condition.type_.as_str()));
    CatalogSourceStatus { observed_generation: None, ..status }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use olm_types::api::{CatalogSource, GrpcConnectionState};
    use olm_types::conditions::readiness::{RECONCILING, STALLED};
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::super::observed::Content;
    use super::super::spec::SpecProblem;
    use super::*;

    fn observed(status: Value, problem: Option<&str>) -> Observed {
        let catalog: CatalogSource = serde_json::from_value(json!({
            "metadata": {"name": "c", "namespace": "ns", "generation": 3},
            "spec": {"sourceType": "grpc", "address": "there:50051"}, "status": status,
        }))
        .unwrap();
        let content = Content { problem: problem.map(str::to_owned), ..Content::default() };
        Observed {
            catalog: Arc::new(catalog),
            connection: Ok(None),
            acting_since: Timestamp::UNIX_EPOCH,
            server: Default::default(),
            config_map: Default::default(),
            content,
            digest: None,
            server_version: None,
            hosting: None,
        }
    }

    fn with_state(state: &str) -> CatalogSourceStatus {
        CatalogSourceStatus {
            connection_state: Some(GrpcConnectionState {
                address: Some("there:50051".to_owned()),
                last_observed_state: state.to_owned(),
                ..GrpcConnectionState::default()
            }),
            ..CatalogSourceStatus::default()
        }
    }

    /// `Ready=True Connected`, and what is there besides.
    fn reported(status: &CatalogSourceStatus) -> String {
        let conditions = &status.conditions;
        let reported = [IS_READY, RECONCILING, STALLED].iter().filter_map(|kind| {
            let (status, reason, _) = conditions.known(kind)?;
            Some(format!("{kind}={status} {reason}"))
        });
        reported.collect::<Vec<_>>().join(", ")
    }

    fn noted(
        course: &PlannedStatus,
        mut status: CatalogSourceStatus,
        problem: Option<&str>,
    ) -> String {
        let observed = observed(Value::Null, problem);
        note(
            &observed,
            course,
            &CatalogSourceStatus::default(),
            &mut status,
            Timestamp::UNIX_EPOCH,
        );
        reported(&status)
    }

    #[rstest]
    #[case::ready("READY", None, "Ready=True Connected")]
    #[case::connecting("CONNECTING", None, "Ready=False Connecting, Reconciling=True Connecting")]
    #[case::idle("IDLE", None, "Ready=False Connecting, Reconciling=True Connecting")]
    #[case::away(
        "TRANSIENT_FAILURE",
        None,
        "Ready=False CatalogUnreachable, Reconciling=True CatalogUnreachable"
    )]
    #[case::refused(
        "READY",
        Some("no channel"),
        "Ready=False CatalogNotReadable, Stalled=True CatalogNotReadable"
    )]
    fn connections(#[case] state: &str, #[case] problem: Option<&str>, #[case] expected: &str) {
        assert_eq!(noted(&PlannedStatus::Address, with_state(state), problem), expected);
    }

    #[rstest]
    #[case::by_no_server("", "Ready=False Connecting, Reconciling=True Connecting")]
    #[case::by_no_server_yet(
        "TRANSIENT_FAILURE",
        "Ready=False Connecting, Reconciling=True Connecting"
    )]
    #[case::by_a_pod("READY", "Ready=True Connected")]
    fn served_while_the_operator_pulls(#[case] state: &str, #[case] expected: &str) {
        assert_eq!(noted(&PlannedStatus::Pulling, with_state(state), None), expected);
    }

    #[test]
    fn what_only_a_change_of_the_spec_helps_is_stalled() {
        let invalid = PlannedStatus::Invalid(SpecProblem::UnknownType("nope".to_owned()));
        let expected = "Ready=False SpecInvalidError, Stalled=True SpecInvalidError";
        assert_eq!(noted(&invalid, with_state("READY"), None), expected);
        let missing = PlannedStatus::NoConfigMap("not found".to_owned());
        let reason = Some(reasons::CONFIG_MAP_ERROR.to_owned());
        let status = CatalogSourceStatus { reason, ..CatalogSourceStatus::default() };
        let expected = "Ready=False ConfigMapError, Reconciling=True ConfigMapError";
        assert_eq!(noted(&missing, status, None), expected, "it may come");
    }

    /// v0's definition drops the generation; ours keeps it, and a new spec is seen in it.
    #[rstest]
    #[case::v0(None, None)]
    #[case::ours(Some(3), Some(3))]
    #[case::ours_with_a_new_spec(Some(2), Some(3))]
    fn a_generation_that_is_not_kept_is_not_written_for_ever(
        #[case] kept: Option<i64>,
        #[case] expected: Option<i64>,
    ) {
        let observed = observed(Value::Null, None);
        let mut status = with_state("READY");
        let before = CatalogSourceStatus::default();
        note(&observed, &PlannedStatus::Address, &before, &mut status, Timestamp::UNIX_EPOCH);
        assert_eq!(status.observed_generation, Some(3), "written along");
        let before = CatalogSourceStatus { observed_generation: kept, ..status };
        let mut again = before.clone();
        note(&observed, &PlannedStatus::Address, &before, &mut again, Timestamp::UNIX_EPOCH);
        assert_eq!(again.observed_generation, expected);
    }
}
