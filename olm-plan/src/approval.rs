//! What the approval of an InstallPlan approves: all of its CSVs and objects, and a hash of them.

use std::collections::BTreeMap;

use olm_types::api::{
    Approval, ClusterServiceVersion, InstallPlan, InstallPlanPhase, Subscription,
};
use olm_types::document::{self, Budget, Meter};
use olm_types::hash::sha256_hex;
use serde::Serialize;
use serde_json::{Value, json};

use crate::observed::{Observed, name, namespace};

/// A CSV that a plan installs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Approved {
    /// Name of the CSV.
    pub csv: String,
    /// Its version, where the plan or a catalog says it.
    pub version: Option<String>,
    /// The CSV of the namespace that it replaces.
    pub replaces: Option<String>,
    /// Subscriptions that ask for it.
    pub subscriptions: Vec<String>,
}

/// An approval that may be given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingApproval {
    /// Namespace of the InstallPlan.
    pub namespace: String,
    /// Its name.
    pub install_plan: String,
    /// The state that was looked at; a write that names it fails when the plan has changed since.
    pub resource_version: String,
    /// Every CSV that this approval installs.
    pub approves: Vec<Approved>,
    /// Objects by kind.
    pub objects: BTreeMap<String, usize>,
    /// Hash of what is approved.
    pub plan_hash: String,
}

/// Why nothing can be approved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotApprovable {
    /// No Subscription of the namespace asks for the package.
    NoSubscription,
    /// Its InstallPlan is not there.
    NoPlan,
    /// Its InstallPlan is approved, or needs no approval.
    NothingWaits {
        /// Name of the plan.
        install_plan: String,
    },
    /// The plan that waits is for another version.
    OtherVersion {
        /// CSVs that wait, with versions where they are known.
        waiting: Vec<String>,
    },
}

/// Whether a plan waits for a user.
#[must_use]
pub fn is_pending(plan: &InstallPlan) -> bool {
    plan.spec.approval == Approval::Manual
        && !plan.spec.approved
        && plan.phase() == InstallPlanPhase::RequiresApproval
}

/// The approval of a package's version in a namespace; `version` is a version or the name of a CSV.
///
/// # Errors
/// No plan waits with that version of the package.
pub fn pending(
    observed: &Observed,
    home: &str,
    package: &str,
    version: &str,
) -> Result<PendingApproval, NotApprovable> {
    let of_package =
        |one: &&Subscription| namespace(&one.metadata) == home && one.spec.name == package;
    let subscriptions = observed.subscriptions.iter().filter(of_package);
    let mut why = NotApprovable::NoSubscription;
    for subscription in subscriptions {
        match of_subscription(observed, subscription, version) {
            Ok(approval) => return Ok(approval),
            Err(cause) => why = cause,
        }
    }
    Err(why)
}

fn of_subscription(
    observed: &Observed,
    subscription: &Subscription,
    version: &str,
) -> Result<PendingApproval, NotApprovable> {
    let plan = observed.plan_of(subscription).ok_or(NotApprovable::NoPlan)?;
    if !is_pending(plan) {
        return Err(NotApprovable::NothingWaits { install_plan: name(&plan.metadata).to_owned() });
    }
    let approval = approval(observed, plan);
    let asked = subscription.status.as_ref().and_then(|status| status.current_csv.as_deref());
    let fits = |one: &&Approved| {
        Some(one.csv.as_str()) == asked
            && (one.csv == version || one.version.as_deref() == Some(version))
    };
    if approval.approves.iter().find(fits).is_some() {
        return Ok(approval);
    }
    let waiting = approval.approves.iter().map(|one| match &one.version {
        Some(version) => format!("{} (version {version})", one.csv),
        None => one.csv.clone(),
    });
    Err(NotApprovable::OtherVersion { waiting: waiting.collect() })
}

/// What the approval of a plan approves.
#[must_use]
pub fn approval(observed: &Observed, plan: &InstallPlan) -> PendingApproval {
    let home = namespace(&plan.metadata);
    let names = &plan.spec.cluster_service_version_names;
    let mut objects: BTreeMap<String, usize> = BTreeMap::new();
    for step in plan.status.iter().flat_map(|status| &status.plan) {
        *objects.entry(step.resource.kind.clone()).or_default() += 1;
    }
    PendingApproval {
        namespace: home.to_owned(),
        install_plan: name(&plan.metadata).to_owned(),
        resource_version: plan.metadata.resource_version.clone().unwrap_or_default(),
        approves: names.iter().map(|csv| approved(observed, plan, csv)).collect(),
        objects,
        plan_hash: plan_hash(plan),
    }
}

fn approved(observed: &Observed, plan: &InstallPlan, csv: &str) -> Approved {
    let home = namespace(&plan.metadata);
    let manifest = manifest(plan, csv);
    let text = |path: &str| {
        let found = manifest.as_ref().and_then(|manifest| manifest.pointer(path));
        found.and_then(Value::as_str).map(str::to_owned)
    };
    let replaces = text("/spec/replaces").filter(|old| observed.csv(home, old).is_some());
    let asks = observed.subscriptions.iter().filter(|one| {
        let status = one.status.as_ref();
        let asked = status.and_then(|status| status.current_csv.as_deref());
        namespace(&one.metadata) == home && asked == Some(csv)
    });
    Approved {
        csv: csv.to_owned(),
        version: text("/spec/version").or_else(|| observed.version_of(home, csv)),
        replaces,
        subscriptions: asks.map(|one| name(&one.metadata).to_owned()).collect(),
    }
}

/// The manifest of a CSV in the plan's steps; none when it lies in a ConfigMap or cannot be read.
fn manifest(plan: &InstallPlan, csv: &str) -> Option<Value> {
    let mut steps = plan.status.iter().flat_map(|status| &status.plan);
    let step = steps.find(|step| {
        step.resource.kind == ClusterServiceVersion::KIND && step.resource.name == csv
    })?;
    let text = step.resource.manifest.as_ref()?;
    document::json(text.as_bytes(), &mut Meter::in_all(Budget::OBJECT)).ok()
}

/// A hash of everything that an approval approves: the namespace, the CSVs and each step with its
/// manifest, but neither the plan's name nor how far its steps are.
#[must_use]
pub fn plan_hash(plan: &InstallPlan) -> String {
    let steps = plan.status.iter().flat_map(|status| &status.plan);
    let steps: Vec<Value> = steps
        .map(|step| {
            let resource = &step.resource;
            json!([
                step.resolving,
                resource.group,
                resource.version,
                resource.kind,
                resource.name,
                resource.source_namespace,
                resource.source_name,
                resource.manifest
            ])
        })
        .collect();
    let mut names = plan.spec.cluster_service_version_names.clone();
    names.sort();
    let text = json!([namespace(&plan.metadata), names, steps]).to_string();
    sha256_hex(text)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::from_value;

    use super::*;

    fn plan(approved: bool, phase: &str, manifest: &str) -> InstallPlan {
        let step = |kind: &str, name: &str, manifest: &str| {
            json!({"resolving": name, "status": "Unknown", "resource": {"group": "g", "version": "v1",
                "kind": kind, "name": name, "sourceName": "c", "sourceNamespace": "ns",
                "manifest": manifest}})
        };
        from_value(json!({"metadata": {"name": "p", "namespace": "ns", "resourceVersion": "7"},
            "spec": {"approval": "Manual", "approved": approved,
                "clusterServiceVersionNames": ["a.v2", "b.v1"]},
            "status": {"phase": phase, "plan": [
                step("ClusterServiceVersion", "a.v2", manifest), step("Role", "r", "{}")]}}))
        .unwrap()
    }

    fn observed(plan: Option<InstallPlan>) -> Observed {
        let subscription = json!({"metadata": {"name": "s", "namespace": "ns"}, "spec": {"name": "a"},
            "status": {"currentCSV": "a.v2", "installPlanRef": {"name": "p"}}});
        let old = json!({"metadata": {"name": "a.v1", "namespace": "ns"}});
        Observed {
            subscriptions: vec![from_value(subscription).unwrap()],
            csvs: vec![from_value(old).unwrap()],
            install_plans: plan.into_iter().collect(),
            ..Observed::default()
        }
    }

    const MANIFEST: &str = r#"{"spec": {"version": "2.0.0", "replaces": "a.v1"}}"#;

    #[rstest]
    #[case::version("2.0.0")]
    #[case::csv("a.v2")]
    fn an_approval_names_all_that_it_approves(#[case] version: &str) {
        let observed = observed(Some(plan(false, "RequiresApproval", MANIFEST)));
        let found = pending(&observed, "ns", "a", version).unwrap();
        let first = &found.approves[0];
        assert_eq!(first.version.as_deref(), Some("2.0.0"));
        assert_eq!(first.replaces.as_deref(), Some("a.v1"));
        assert_eq!(first.subscriptions, ["s"]);
        assert_eq!(found.approves[1].csv, "b.v1");
        assert_eq!(found.resource_version, "7");
        assert_eq!(found.objects["Role"], 1);
    }

    #[rstest]
    #[case::approved(Some(plan(true, "Installing", MANIFEST)), "a", "2.0.0",
        NotApprovable::NothingWaits { install_plan: "p".into() })]
    #[case::complete(Some(plan(false, "Complete", MANIFEST)), "a", "2.0.0",
        NotApprovable::NothingWaits { install_plan: "p".into() })]
    #[case::no_plan(None, "a", "2.0.0", NotApprovable::NoPlan)]
    #[case::other_package(None, "b", "2.0.0", NotApprovable::NoSubscription)]
    #[case::other_version(Some(plan(false, "RequiresApproval", MANIFEST)), "a", "1.0.0",
        NotApprovable::OtherVersion { waiting: vec!["a.v2 (version 2.0.0)".into(), "b.v1".into()] })]
    #[case::of_another_package(Some(plan(false, "RequiresApproval", MANIFEST)), "a", "b.v1",
        NotApprovable::OtherVersion { waiting: vec!["a.v2 (version 2.0.0)".into(), "b.v1".into()] })]
    fn what_does_not_wait_is_not_approved(
        #[case] plan: Option<InstallPlan>,
        #[case] package: &str,
        #[case] version: &str,
        #[case] expected: NotApprovable,
    ) {
        assert_eq!(pending(&observed(plan), "ns", package, version), Err(expected));
    }

    #[test]
    fn the_hash_follows_what_is_approved_and_nothing_else() {
        let first = plan(false, "RequiresApproval", MANIFEST);
        let mut same = plan(true, "Installing", MANIFEST);
        same.metadata.name = Some("q".to_owned());
        assert_eq!(plan_hash(&first), plan_hash(&same));
        assert_ne!(plan_hash(&first), plan_hash(&plan(false, "RequiresApproval", "{}")));
        let mut more = first.clone();
        more.spec.cluster_service_version_names.push("c.v1".to_owned());
        assert_ne!(plan_hash(&first), plan_hash(&more));
        assert_eq!(plan_hash(&first).len(), 64);
    }
}
