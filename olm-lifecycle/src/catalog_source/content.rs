//! What the status says about the content of a catalog: nothing while resolution uses what the
//! catalog holds now, else since when it does not and what it uses instead.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube_core::ResourceExt;
use olm_types::api::{CatalogSourceStatus, GrpcConnectionState};
use olm_types::conditions::catalog_source::{CONTENT_CURRENT, PACKAGES_SHOWN};
use olm_types::conditions::set_condition;
use olm_types::reasons::catalog_source as reasons;

use super::hosting::conditions::content_problem;
use super::observed::{Content, Observed};
use super::pod_problem::of_pods;
use super::status::TRANSIENT_FAILURE;

/// Sets or removes the conditions.
pub(super) fn note(observed: &Observed, status: &mut CatalogSourceStatus, now: Timestamp) {
    let pods = of_pods(&observed.catalog.name_any(), &observed.server.pods);
    let state = status.connection_state.as_ref();
    let hosted = observed.hosting.as_ref();
    let hosted = hosted.and_then(|hosting| content_problem(&observed.catalog, hosting));
    let problem = match hosted {
        Some((reason, what)) => {
            Some((reason, format!("{what}; {}", consequence(&observed.content))))
        }
        None => problem(&observed.content, pods, state),
    };
    let hidden = observed.content.hidden.clone().map(|hidden| (reasons::TOO_LARGE, hidden));
    note_one(CONTENT_CURRENT, problem, &mut status.conditions, now);
    note_one(PACKAGES_SHOWN, hidden, &mut status.conditions, now);
}

/// A condition is there while there is a reason for it.
pub(super) fn note_one(
    kind: &str,
    problem: Option<(&str, String)>,
    conditions: &mut Vec<Condition>,
    now: Timestamp,
) {
    match problem {
        None => conditions.retain(|known| known.type_ != kind),
        Some((reason, message)) => set_condition(
            conditions,
            Condition {
                type_: kind.to_owned(),
                status: "False".to_owned(),
                reason: reason.to_owned(),
                message,
                last_transition_time: Time(now),
                observed_generation: None,
            },
        ),
    }
}

/// A catalog that was never read and does not answer is judged by its connection alone, as in v0,
/// unless its Pod says why.
fn problem(
    content: &Content,
    pods: Option<String>,
    state: Option<&GrpcConnectionState>,
) -> Option<(&'static str, String)> {
    let fails = state.is_some_and(|state| state.last_observed_state == TRANSIENT_FAILURE);
    let (reason, what) = match (pods.filter(|_| fails), &content.problem, content.read_at) {
        (Some(pods), _, _) => (reasons::POD_FAILING, pods),
        (None, Some(problem), _) => {
            (reasons::NOT_READABLE, format!("the catalog is refused: {problem}"))
        }
        (None, None, Some(_)) if fails => {
            (reasons::UNREACHABLE, "the registry server does not answer".to_owned())
        }
        (None, None, _) => return None,
    };
    Some((reason, format!("{what}; {}", consequence(content))))
}

fn consequence(content: &Content) -> String {
    let Content { read_at, entries, blocks, .. } = content;
    match read_at {
        Some(at) if *blocks => {
            format!("nothing is resolved with what was read at {at} (--unhealthy-catalogs=block)")
        }
        Some(at) => {
            format!("what was read at {at} stays in use ({entries} channel entries)")
        }
        None => "nothing was read before, so none of its packages can be chosen".to_owned(),
    }
}
