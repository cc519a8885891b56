//! CSVs, their requirements, images, certificates and conditions.

use jiff::{SignedDuration, Timestamp};
use olm_types::api::{ClusterServiceVersion, CsvPhase, OperatorCondition, RequirementStatus};
use olm_types::conditions::operator_condition::UPGRADEABLE;
use olm_types::reasons::csv as reasons;

use super::Found;
use super::groups::{EXPLAINED, message};
use crate::observed::{Observed, name, namespace};
use crate::tree::{deployments, pods, waiting};

/// What OLM says of an account that another CSV owns.
const FOREIGN: &str = "owned by another ClusterServiceVersion";

/// Requirements that are met.
const MET: [&str; 2] = ["Present", "Satisfied"];

/// Why a container waits whose image cannot be pulled.
const NOT_PULLED: [&str; 3] = ["ErrImagePull", "ImagePullBackOff", "InvalidImageName"];

/// How long a certificate may be due before that is reported.
const OVERDUE: SignedDuration = SignedDuration::from_hours(1);

/// A requirement is not met.
pub fn requirement(observed: &Observed, _: Timestamp) -> Vec<Found> {
    of_csvs(observed, |csv| {
        let missing: Vec<&RequirementStatus> = missing(csv).collect();
        if missing.is_empty() || has_foreign_account(csv) {
            return None;
        }
        let texts = missing.iter().map(|one| format!("{} {}: {}", one.kind, one.name, one.message));
        let evidence = texts.collect::<Vec<_>>().join("; ");
        Some((evidence, "install what provides it, or grant the rights".to_owned()))
    })
}

/// An account belongs to another CSV.
pub fn foreign_account(observed: &Observed, _: Timestamp) -> Vec<Found> {
    of_csvs(observed, |csv| {
        let mut foreign = missing(csv).filter(|one| is_foreign(one));
        let account = foreign.next()?.name.clone();
        let evidence = format!("ServiceAccount {account} is {FOREIGN}");
        Some((evidence, "install one of the operators in another namespace".to_owned()))
    })
}

/// An image of a Deployment cannot be pulled.
pub fn image(observed: &Observed, _: Timestamp) -> Vec<Found> {
    of_csvs(observed, |csv| {
        let home = namespace(&csv.metadata);
        let (pod, reason) = unpulled(observed, csv)?;
        let evidence = format!("Pod {pod} waits with {reason}");
        Some((evidence, format!("kubectl -n {home} describe pod {pod}")))
    })
}

/// CSVs in a circle, or one that makes way for none.
pub fn chain(observed: &Observed, _: Timestamp) -> Vec<Found> {
    of_csvs(observed, |csv| {
        let (home, own) = (namespace(&csv.metadata), name(&csv.metadata));
        let fix = format!("kubectl -n {home} delete clusterserviceversion {own}");
        if let Some(circle) = circle(observed, csv) {
            return Some((format!("it replaces itself: {}", circle.join(", ")), fix));
        }
        let phase = csv.status.as_ref().map(|status| status.phase);
        let is_named = observed.own_csvs().any(|other| {
            namespace(&other.metadata) == home && other.spec.replaces.as_deref() == Some(own)
        });
        (phase == Some(CsvPhase::Replacing) && !is_named)
            .then(|| ("it is Replacing, and no CSV replaces it".to_owned(), fix))
    })
}

/// A certificate should have been rotated.
pub fn certificate(observed: &Observed, now: Timestamp) -> Vec<Found> {
    of_csvs(observed, |csv| {
        let due = csv.status.as_ref()?.certs_rotate_at.as_ref()?.0;
        (due.duration_until(now) > OVERDUE).then(|| {
            let evidence = format!("its certificates should have been rotated at {due}");
            (evidence, "see whether olm-operator runs and may write Secrets".to_owned())
        })
    })
}

/// The operator forbids an upgrade.
pub fn not_upgradeable(observed: &Observed, _: Timestamp) -> Vec<Found> {
    let found = observed.operator_conditions.iter().filter_map(|object| {
        let of_spec = object.spec.conditions.iter();
        let of_status = object.status.iter().flat_map(|status| &status.conditions);
        let refuses = of_spec
            .chain(of_status)
            .find(|condition| condition.type_ == UPGRADEABLE && condition.status == "False")?;
        let is_overridden = object.spec.overrides.iter().any(|one| one.type_ == UPGRADEABLE);
        let evidence = format!("{}: {}", refuses.reason, refuses.message);
        let (home, own) = (namespace(&object.metadata), name(&object.metadata));
        let fix = format!("kubectl -n {home} edit operatorcondition {own}, field spec.overrides");
        (!is_overridden)
            .then(|| Found::of(OperatorCondition::KIND, &object.metadata, evidence, fix))
    });
    found.collect()
}

/// A CSV has failed for a reason without a code of its own.
pub fn failed(observed: &Observed, _: Timestamp) -> Vec<Found> {
    of_csvs(observed, |csv| {
        let status = csv.status.as_ref().filter(|status| status.phase == CsvPhase::Failed)?;
        let reason = status.reason.clone().unwrap_or_default();
        let is_explained = EXPLAINED.contains(&reason.as_str())
            || unpulled(observed, csv).is_some()
            || circle(observed, csv).is_some();
        let fix = format!("kubectl -n {} get pods", namespace(&csv.metadata));
        (!is_explained).then(|| (format!("{reason}: {}", message(csv)), fix))
    })
}

fn of_csvs(
    observed: &Observed,
    check: impl Fn(&ClusterServiceVersion) -> Option<(String, String)>,
) -> Vec<Found> {
    let found = observed.own_csvs().filter_map(|csv| {
        let (evidence, fix) = check(csv)?;
        Some(Found::of(ClusterServiceVersion::KIND, &csv.metadata, evidence, fix))
    });
    found.collect()
}

/// Requirements that a Pending CSV lacks.
fn missing(csv: &ClusterServiceVersion) -> impl Iterator<Item = &RequirementStatus> {
    let status = csv.status.as_ref().filter(|status| {
        status.phase == CsvPhase::Pending
            && status.reason.as_deref() == Some(reasons::REQUIREMENTS_NOT_MET)
    });
    let all = status.into_iter().flat_map(|status| &status.requirement_status);
    all.filter(|one| !MET.contains(&one.status.as_str()))
}

fn has_foreign_account(csv: &ClusterServiceVersion) -> bool {
    missing(csv).any(is_foreign)
}

fn is_foreign(one: &RequirementStatus) -> bool {
    let of_dependents = one.dependents.iter().filter_map(|dependent| dependent.message.as_deref());
    of_dependents.chain([one.message.as_str()]).any(|message| message.contains(FOREIGN))
}

/// The first Pod of a CSV's Deployments whose image cannot be pulled, and why it waits.
fn unpulled(observed: &Observed, csv: &ClusterServiceVersion) -> Option<(String, String)> {
    let of_csv = deployments(observed, csv).flat_map(|one| pods(observed, one));
    let mut waits = of_csv.filter_map(|pod| {
        let reason = waiting(pod).filter(|reason| NOT_PULLED.contains(&reason.as_str()))?;
        Some((name(&pod.metadata).to_owned(), reason))
    });
    waits.next()
}

/// The names from a CSV along `spec.replaces` back to it; each circle is reported once, for the first
/// of its names.
fn circle(observed: &Observed, csv: &ClusterServiceVersion) -> Option<Vec<String>> {
    let (home, own) = (namespace(&csv.metadata), name(&csv.metadata));
    let mut seen = vec![own.to_owned()];
    let mut next = csv.spec.replaces.clone()?;
    while next != own {
        if seen.contains(&next) {
            return None;
        }
        let replaced = observed.csv(home, &next)?.spec.replaces.clone()?;
        seen.push(std::mem::replace(&mut next, replaced));
    }
    (seen.iter().min().map(String::as_str) == Some(own)).then_some(seen)
}
