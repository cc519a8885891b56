//! What olm-operator makes of CSVs, in memory: its own decisions are asked again and again until nothing changes.
//!
//! Deployments, CRDs and API services are taken to work as soon as they are written. Certificates are not issued:
//! a word stands for each, and the stages that read them are left out.

mod observe;
mod related;
mod serving;

use std::any::Any;
use std::collections::BTreeSet;

use jiff::Timestamp;
use olm_effect::{CertificateOrder, Issued, IssuedServer};
use olm_lifecycle::csv::stages::{Learning, PackageServer, STAGES, Servers, Stage};
use olm_lifecycle::csv::{Decision, Observed, Request, Step, conclude, decide_with};
use olm_lifecycle::install_plan::execution::Served;
use olm_opgroup::NamespaceSet;
use olm_types::api::{ClusterServiceVersion, CsvPhase, OperatorGroup};

use super::PreviewRequest;
use super::prepare::olm_key;
use super::world::World;

pub(super) use serving::remove_certificates;

/// More rounds than any CSV takes until it has succeeded.
const ROUNDS: usize = 40;

/// Most questions that one pass may ask before it decides; as many as the operator allows.
const QUESTIONS: usize = 4;

/// What stands for a certificate.
const CERTIFICATE: &str = "(certificate)";

/// The stages of a CSV, without those that read certificates and that of the package server.
fn stages() -> Vec<&'static dyn Stage> {
    let is_left_out = |stage: &dyn Any| {
        stage.is::<PackageServer>() || stage.is::<Servers>() || stage.is::<Learning>()
    };
    STAGES.iter().copied().filter(|stage| !is_left_out(*stage as &dyn Any)).collect()
}

/// What is worked on.
pub(super) struct Work<'a> {
    pub(super) asked: &'a PreviewRequest,
    /// Names of the CSVs that something becomes of. What is not concerned is at rest.
    pub(super) csvs: BTreeSet<String>,
}

/// Works until nothing changes. What does not succeed is a problem.
pub(super) fn converge(world: &mut World<'_>, work: &Work<'_>, problems: &mut Vec<String>) {
    for _ in 0..ROUNDS {
        let before = world.writes;
        world.aggregate();
        related::namespaces(world, work);
        related::groups(world, work);
        for csv in &work.csvs {
            pass(world, work, csv);
        }
        related::conditions(world, work);
        related::operators(world, work);
        if world.writes == before {
            break;
        }
    }
    if world.needs.is_empty() {
        problems.extend(work.csvs.iter().filter_map(|csv| unfinished(world, work, csv)));
    }
}

/// Why a CSV that is there has not succeeded.
fn unfinished(world: &World<'_>, work: &Work<'_>, csv: &str) -> Option<String> {
    let key = olm_key(ClusterServiceVersion::KIND, &work.asked.namespace, csv);
    let object: ClusterServiceVersion = serde_json::from_value(world.get(&key)?.clone()).ok()?;
    let status = object.status.clone().unwrap_or_default();
    if matches!(object.phase(), CsvPhase::Succeeded | CsvPhase::Replacing) {
        return None;
    }
    let missing = status.requirement_status.iter().filter(|one| one.status.contains("Not"));
    let missing: Vec<String> =
        missing.map(|one| format!("{} {}: {}", one.kind, one.name, one.message)).collect();
    let (phase, reason) = (object.phase(), status.reason.unwrap_or_default());
    let message = status.message.unwrap_or_default();
    let parts: Vec<String> = std::iter::once(message).chain(missing).collect();
    Some(format!("{csv} does not succeed: {} {reason}: {}", phase.as_str(), parts.join("; ")))
}

/// The namespaces that a group gives its operators; none when it gives nothing.
pub(super) fn targets(
    asked: &PreviewRequest,
    world: &World<'_>,
    group: &OperatorGroup,
) -> Option<NamespaceSet> {
    let work = Work { asked, csvs: BTreeSet::new() };
    observe::namespaces(world, &work).targets(group).ok()
}

fn pass(world: &mut World<'_>, work: &Work<'_>, csv: &str) {
    let Some(mut observed) = observe::observe(world, work, csv) else { return };
    let Some(decision) = decided(world, work.asked.now, &mut observed) else { return };
    let outcomes = world.execute(&decision.effects);
    let conclusion = conclude(&observed, &decision, &outcomes, work.asked.now);
    world.execute(&conclusion.effects);
}

fn decided(world: &mut World<'_>, now: Timestamp, observed: &mut Observed) -> Option<Decision> {
    let stages = stages();
    for _ in 0..QUESTIONS {
        match decide_with(&stages, observed, now) {
            Step::Decided(decision) => return Some(decision),
            Step::Need(request) => fulfil(world, request, observed),
        }
    }
    None
}

fn fulfil(world: &mut World<'_>, request: Request, observed: &mut Observed) {
    match request {
        Request::Served(apis) => {
            for api in apis {
                let is_served = matches!(world.kind(&api), Served::Kind { .. });
                observed.served.insert(api, is_served);
            }
        }
        Request::Certificates(order) => observed.serving.issued = Some(issued(&order)),
        Request::Live(targets) => {
            for target in targets {
                let found = world.live(&target);
                observed.live.insert(target, found);
            }
        }
        Request::Pods(_) => observed.pods = Some(Vec::new()),
    }
}

fn issued(order: &CertificateOrder) -> Issued {
    let server =
        || IssuedServer { certificate: CERTIFICATE.to_owned(), key: CERTIFICATE.to_owned() };
    Issued {
        authority: CERTIFICATE.to_owned(),
        not_after: order.not_after,
        servers: order.servers.keys().map(|secret| (secret.clone(), server())).collect(),
    }
}
