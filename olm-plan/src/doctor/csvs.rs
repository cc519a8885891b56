//! CSVs, their requirements, images and conditions.

use olm_types::api::{
    ClusterServiceVersion, CsvPhase, InstallPlanPhase, OperatorCondition, PackageManifestStatus,
    RequirementStatus, Subscription,
};
use olm_types::conditions::operator_condition::UPGRADEABLE;
use olm_types::reasons::csv as reasons;
use serde_json::{Value, json};

use super::fix::{create, line, patch, removal};
use super::{Fix, Found, View};
use crate::observed::{Observed, name, namespace};
use crate::tree::{deployments, pods, refused_pods, waiting};

/// What OLM says of an account that another CSV owns.
const FOREIGN: &str = "owned by another ClusterServiceVersion";

/// Requirements that are met.
const MET: [&str; 2] = ["Present", "Satisfied"];

/// Why a container waits whose image cannot be pulled.
const NOT_PULLED: [&str; 3] = ["ErrImagePull", "ImagePullBackOff", "InvalidImageName"];

/// CSVs of a chain that are followed.
const LONGEST: usize = 64;

/// Requirements that are named as evidence.
const NAMED: usize = 3;

/// A requirement is not met.
pub(super) fn requirement(view: &View<'_>) -> Vec<Found> {
    of_csvs(view, |csv| {
        let missing: Vec<&RequirementStatus> = missing(csv).collect();
        if missing.is_empty() || has_foreign_account(csv) || is_planned(view, csv) {
            return None;
        }
        let texts = missing
            .iter()
            .take(NAMED)
            .map(|one| format!("{} {}: {}", one.kind, one.name, one.message));
        let mut evidence = texts.collect::<Vec<_>>().join("; ");
        if missing.len() > NAMED {
            evidence.push_str(&format!("; and {} more", missing.len() - NAMED));
        }
        let home = namespace(&csv.metadata);
        let fix = match missing.iter().find_map(|one| provider(view, home, &one.name)) {
            Some(package) => create(&subscription(home, package)),
            None => Fix::AskTheAuthor(
                "ask the author of the operator, or an administrator, for what provides it"
                    .to_owned(),
            ),
        };
        Some((evidence, fix))
    })
}

/// An account belongs to another CSV.
pub(super) fn foreign_account(view: &View<'_>) -> Vec<Found> {
    of_csvs(view, |csv| {
        let account = missing(csv).find(|one| is_foreign(one))?.name.clone();
        let evidence = format!("ServiceAccount {account} is {FOREIGN}");
        Some((evidence, removal(view, csv)))
    })
}

/// An image of a Deployment cannot be pulled.
pub(super) fn image(view: &View<'_>) -> Vec<Found> {
    of_csvs(view, |csv| {
        let (pod, reason) = unpulled(view.observed, csv)?;
        let see = line(namespace(&csv.metadata), &["describe", "pod", &pod]);
        let wait = format!("the kubelet tries again: see that nodes reach the registry; {see}");
        Some((format!("Pod {pod} waits with {reason}"), Fix::Wait(wait)))
    })
}

/// No Pod of a Deployment can be made: the API server refuses them, and OLM only says that it waits for the Deployment.
pub(super) fn pods_refused(view: &View<'_>) -> Vec<Found> {
    of_csvs(view, |csv| {
        let mut all = deployments(view.observed, csv);
        let (deployment, why) = all.find_map(|one| Some((one, refused_pods(one)?)))?;
        let own = name(&deployment.metadata);
        let see = line(namespace(&csv.metadata), &["describe", "deployment", own]);
        let wait = format!(
            "Kubernetes tries again: create the ServiceAccount, or change the quota or the policy, that the message \
             names; {see}"
        );
        Some((format!("no Pod of Deployment {own} can be made: {why}"), Fix::Wait(wait)))
    })
}

/// CSVs in a circle, or one that makes way for none.
pub(super) fn chain(view: &View<'_>) -> Vec<Found> {
    of_csvs(view, |csv| {
        if let Some(circle) = circle(view, csv) {
            let evidence = format!("CSVs replace each other: {}", circle.join(", "));
            return Some((evidence, cut(view, csv, &circle)));
        }
        let (home, own) = (namespace(&csv.metadata), name(&csv.metadata));
        (csv.phase() == CsvPhase::Replacing && !view.is_replaced(csv)).then(|| {
            // OLM looks at a CSV without a phase as at a new one, and leaves what is installed.
            let reset = json!({"status": {"phase": null, "reason": null, "message": null}});
            let words = ["--subresource=status", "--type", "merge", "-p", &reset.to_string()];
            let words = [&["patch", "clusterserviceversion", own][..], &words].concat();
            (
                "it is Replacing, and no CSV replaces it".to_owned(),
                super::fix::kubectl(home, &words),
            )
        })
    })
}

/// The operator forbids an upgrade.
pub(super) fn not_upgradeable(view: &View<'_>) -> Vec<Found> {
    let found = view.observed.operator_conditions.iter().filter_map(|object| {
        let of_spec = object.spec.conditions.iter();
        let of_status = object.status.iter().flat_map(|status| &status.conditions);
        let refuses = of_spec
            .chain(of_status)
            .find(|condition| condition.type_ == UPGRADEABLE && condition.status == "False")?;
        let is_overridden = object.spec.overrides.iter().any(|one| one.type_ == UPGRADEABLE);
        let evidence = format!("Upgradeable is False, {}: {}", refuses.reason, refuses.message);
        let wait =
            "upgrades wait until the operator allows them; spec.overrides goes on nevertheless";
        (!is_overridden).then(|| {
            let fix = Fix::Wait(wait.to_owned());
            Found::of(OperatorCondition::KIND, &object.metadata, evidence, fix)
        })
    });
    found.collect()
}

/// The first Pod of a CSV's Deployments whose image cannot be pulled, and why it waits.
pub(super) fn unpulled(
    observed: &Observed,
    csv: &ClusterServiceVersion,
) -> Option<(String, String)> {
    if csv.status.as_ref().is_some_and(|status| status.phase == CsvPhase::Succeeded) {
        return None;
    }
    let of_csv = deployments(observed, csv).flat_map(|one| pods(observed, one));
    let mut waits = of_csv.filter_map(|pod| {
        let reason = waiting(pod).filter(|reason| NOT_PULLED.contains(&reason.as_str()))?;
        Some((name(&pod.metadata).to_owned(), reason))
    });
    waits.next()
}

/// The findings of a check that looks at one CSV at a time.
pub(super) fn of_csvs(
    view: &View<'_>,
    check: impl Fn(&ClusterServiceVersion) -> Option<(String, Fix)>,
) -> Vec<Found> {
    let found = view.csvs().filter_map(|csv| {
        let (evidence, fix) = check(csv)?;
        Some(Found::of(ClusterServiceVersion::KIND, &csv.metadata, evidence, fix))
    });
    found.collect()
}

/// Requirements that a Pending CSV lacks.
pub(super) fn missing(csv: &ClusterServiceVersion) -> impl Iterator<Item = &RequirementStatus> {
    let status = csv.status.as_ref().filter(|status| {
        status.phase == CsvPhase::Pending
            && status.reason.as_deref() == Some(reasons::REQUIREMENTS_NOT_MET)
    });
    let all = status.into_iter().flat_map(|status| &status.requirement_status);
    all.filter(|one| !MET.contains(&one.status.as_str()))
}

/// Whether the InstallPlan that brings a CSV is not done: what it lacks may come with it.
fn is_planned(view: &View<'_>, csv: &ClusterServiceVersion) -> bool {
    let plan = view.subscription_of(csv).and_then(|one| view.plan_of(one));
    plan.is_some_and(|plan| plan.phase() != InstallPlanPhase::Complete)
}

fn has_foreign_account(csv: &ClusterServiceVersion) -> bool {
    missing(csv).any(is_foreign)
}

fn is_foreign(one: &RequirementStatus) -> bool {
    let of_dependents = one.dependents.iter().filter_map(|dependent| dependent.message.as_deref());
    of_dependents.chain([one.message.as_str()]).any(|message| message.contains(FOREIGN))
}

/// A package that the namespace sees and whose default channel owns a CRD.
fn provider<'a>(view: &View<'a>, home: &str, crd: &str) -> Option<&'a PackageManifestStatus> {
    let visible = view.observed.visible_packages.get(home)?;
    let owns = |package: &PackageManifestStatus| {
        let default = package.channels.iter().find(|it| it.name == package.default_channel);
        let head = default.and_then(|channel| channel.current_csv_desc.as_ref());
        let crds = head.and_then(|head| head.customresourcedefinitions.as_ref());
        crds.is_some_and(|crds| crds.owned.iter().any(|own| own.name == crd))
    };
    let mut packages = view.observed.packages.iter().filter_map(|it| it.status.as_ref());
    packages.find(|package| {
        let is_offered = visible.iter().any(|one| {
            one.package == package.package_name
                && one.catalog == package.catalog_source
                && one.catalog_namespace == package.catalog_source_namespace
        });
        is_offered && owns(package)
    })
}

/// A Subscription for a package, which follows its default channel.
fn subscription(home: &str, package: &PackageManifestStatus) -> Value {
    json!({"apiVersion": Subscription::API_VERSION, "kind": Subscription::KIND,
        "metadata": {"name": package.package_name, "namespace": home},
        "spec": {"name": package.package_name, "channel": package.default_channel,
            "source": package.catalog_source, "sourceNamespace": package.catalog_source_namespace}})
}

/// The names from a CSV along `spec.replaces` back to it; each circle is reported once, for the first
/// of its names.
pub(super) fn circle(view: &View<'_>, csv: &ClusterServiceVersion) -> Option<Vec<String>> {
    let (home, own) = (namespace(&csv.metadata), name(&csv.metadata));
    let mut seen = vec![own.to_owned()];
    let mut next = csv.spec.replaces.clone()?;
    while next != own {
        // One with a smaller name reports the circle. A longer chain is none that people make.
        if next.as_str() < own || seen.len() > LONGEST || seen.contains(&next) {
            return None;
        }
        let replaced = view.csv(home, &next)?.spec.replaces.clone()?;
        seen.push(std::mem::replace(&mut next, replaced));
    }
    Some(seen)
}

/// Ends a circle: the CSV that a Subscription asks for, otherwise the last by name, stays, and the one that
/// would replace it does so no longer.
fn cut(view: &View<'_>, csv: &ClusterServiceVersion, circle: &[String]) -> Fix {
    let home = namespace(&csv.metadata);
    let is_asked_for =
        |own: &&String| view.csv(home, own).is_some_and(|csv| view.subscription_of(csv).is_some());
    let last = circle.iter().filter(is_asked_for).max().or(circle.iter().max());
    let replaces =
        |own: &&String| view.csv(home, own).is_some_and(|csv| csv.spec.replaces.as_ref() == last);
    let replacing = circle.iter().find(replaces).map_or(name(&csv.metadata), String::as_str);
    patch(home, "clusterserviceversion", replacing, &json!({"spec": {"replaces": null}}))
}
