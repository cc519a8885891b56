//! Every change that a take-over may make, by object and field, with its reason.
//!
//! What no row covers is unexplained, and a row that covers nothing in either direction is out of date:
//! `cargo xtask take-over` fails on both.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::{ImageCatalog, PACKAGE_SERVER};
use crate::dump::{Difference, Key};

/// Changes that are accepted for one reason.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Accepted {
    /// Which objects.
    objects: Objects,
    /// Which of their fields.
    fields: &'static [Field],
    /// Why.
    reason: &'static str,
}

/// Which objects a row is about.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Objects {
    /// Those that the manifests of both apply.
    Applied,
    /// Those of a kind whose names have this part.
    Of(&'static str, &'static str),
    /// Those of every kind whose names have this part.
    Named(&'static str),
}

/// Which fields a row is about.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Field {
    /// The object as a whole: it is new, or gone.
    Whole,
    /// Those whose paths begin so.
    Under(&'static str),
    /// Those that are called so, at every depth.
    Called(&'static str),
    /// Those that are called so, and all below them.
    Through(&'static str),
}

use Field::{Called, Through, Under, Whole};
use Objects::{Applied, Named, Of};

const MANIFESTS: &str = "the manifests of whoever takes over apply it";
const SERVER: &str =
    "v0's package server is a CSV with what OLM makes for it; here catalog-operator serves";
const REQUIREMENTS: &str = "v0 keeps the requirements of the last failure";
const READINESS: &str = "how ready an object is, is said to tools of all kinds; v0 does not say it";
const MEMBERS: &str = "an Operator shows what it consists of, with the repairs of that";

/// What `kubectl apply` and the manifests write on objects of every kind.
const WRITTEN: Field = Under("metadata.annotations");

/// The rows; the first that covers a change is its reason.
const ACCEPTED: [Accepted; 22] = [
    row(Named(PACKAGE_SERVER), &[Whole], SERVER),
    row(
        Of("Service", "packageserver-service"),
        &[WRITTEN, Under("metadata.labels.app"), Under("metadata.ownerReferences"), Under("spec")],
        SERVER,
    ),
    row(
        Of("APIService", "packages.operators.coreos.com"),
        &[WRITTEN, Under("metadata.labels.olm.owner"), Under("status.conditions")],
        SERVER,
    ),
    row(Of("Secret", PACKAGE_SERVER), &[Under("metadata.ownerReferences")], SERVER),
    row(Applied, &[Whole], MANIFESTS),
    row(Of("ClusterRole", "operator-lifecycle-manager"), &[WRITTEN, Under("rules")], MANIFESTS),
    row(
        Of("Deployment", "olm-operator"),
        &[WRITTEN, Under("metadata.labels"), Under("spec"), Under("status.conditions")],
        MANIFESTS,
    ),
    row(
        Of("Deployment", "catalog-operator"),
        &[WRITTEN, Under("metadata.labels"), Under("spec"), Under("status.conditions")],
        MANIFESTS,
    ),
    row(
        Of("Namespace", "operator"),
        &[WRITTEN, Under("metadata.labels.pod-security.kubernetes.io")],
        MANIFESTS,
    ),
    row(Of("OLMConfig", "cluster"), &[WRITTEN, Under("spec")], MANIFESTS),
    row(Of("OperatorGroup", "global-operators"), &[WRITTEN], MANIFESTS),
    row(
        Of("CustomResourceDefinition", "operators.coreos.com"),
        &[WRITTEN, Called("description")],
        MANIFESTS,
    ),
    row(
        Of("CustomResourceDefinition", "operators.coreos.com"),
        &[Called("x-kubernetes-preserve-unknown-fields")],
        "v0's definitions cut off labels of volumeClaimTemplate",
    ),
    row(
        Of("ReplicaSet", "-operator-"),
        &[
            Under("metadata.annotations.deployment.kubernetes.io"),
            Under("spec.replicas"),
            Under("status"),
            Whole,
        ],
        "it belongs to a Deployment of the manifests",
    ),
    row(
        Named("olm-operators"),
        &[Under("aggregationRule"), Under("rules"), Under("metadata.annotations.olm.providedAPIs")],
        "the package server was a member of this OperatorGroup",
    ),
    row(
        Of("ClusterRole", ""),
        &[Under("metadata.ownerReferences[")],
        "v0 spells the kind of the owner so that no garbage collector finds it",
    ),
    row(Of("ClusterServiceVersion", ""), &[Under("status.requirementStatus")], REQUIREMENTS),
    row(Of("Operator", ""), &[Under("status.components")], MEMBERS),
    row(
        Of("Subscription", ""),
        &[Under("status.conditions")],
        "v0 leaves InstallPlanPending on Subscriptions that OLM made, and does not say what is ready",
    ),
    row(Of("Subscription", ""), &[Under("status.observedGeneration")], READINESS),
    row(
        Of("CatalogSource", ""),
        &[Under("status.conditions"), Under("status.observedGeneration")],
        READINESS,
    ),
    row(
        Of("CustomResourceDefinition", "operators.coreos.com"),
        &[Through("observedGeneration")],
        READINESS,
    ),
];

/// What v0 changes as well where ours have served the catalog by image themselves.
static SERVED: Accepted = row(
    Of("Service", ImageCatalog::NAME),
    &[Under("spec.selector"), Under("metadata.labels.olm.service-spec-hash")],
    "ours led the Service of the catalog to themselves; in v0 it selects the catalog's Pod",
);

const fn row(objects: Objects, fields: &'static [Field], reason: &'static str) -> Accepted {
    Accepted { objects, fields, reason }
}

/// What a take-over changed.
#[derive(Debug, Default)]
pub struct Changes {
    /// With the row that explains it.
    pub accepted: Vec<(Difference, &'static Accepted)>,
    /// What no row covers.
    pub unexplained: Vec<Difference>,
}

impl Changes {
    /// Looks for the reason of each; `applied` are the objects of the manifests.
    pub(super) fn explain(all: Vec<Difference>, applied: &BTreeSet<Key>) -> Self {
        let mut changes = Self::default();
        for one in all {
            match ACCEPTED.iter().find(|row| row.covers(&one, applied)) {
                Some(row) => changes.accepted.push((one, row)),
                None => changes.unexplained.push(one),
            }
        }
        changes
    }

    /// The same where ours have served the catalog by image.
    #[must_use]
    pub fn after_serving(mut self) -> Self {
        let (served, unexplained) =
            self.unexplained.into_iter().partition(|one| SERVED.covers(one, &BTreeSet::new()));
        let served: Vec<Difference> = served;
        self.accepted.extend(served.into_iter().map(|one| (one, &SERVED)));
        Self { unexplained, ..self }
    }

    /// The rows that cover nothing in any of these.
    pub fn out_of_date(all: &[&Self]) -> Vec<&'static Accepted> {
        let used: BTreeSet<_> =
            all.iter().flat_map(|one| &one.accepted).map(|(_, row)| *row).collect();
        ACCEPTED.iter().filter(|row| !used.contains(row)).collect()
    }
}

impl Accepted {
    fn covers(&self, one: &Difference, applied: &BTreeSet<Key>) -> bool {
        let Key { kind, name, .. } = &one.object;
        let is_of = match self.objects {
            Applied => applied.contains(&one.object),
            Of(of, part) => *kind == of && name.contains(part),
            Named(part) => name.contains(part),
        };
        is_of && self.fields.iter().any(|field| field.covers(&one.path.to_plain()))
    }
}

impl fmt::Display for Accepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.objects {
            Applied => f.write_str("objects of the manifests")?,
            Of(kind, "") => f.write_str(kind)?,
            Of(kind, part) => write!(f, "{kind} …{part}…")?,
            Named(part) => write!(f, "…{part}…")?,
        }
        for field in self.fields {
            match field {
                Whole => f.write_str(", as a whole")?,
                Under(path) => write!(f, ", {path}…")?,
                Called(name) | Through(name) => write!(f, ", every {name}")?,
            }
        }
        write!(f, ": {}", self.reason)
    }
}

impl Field {
    fn covers(&self, path: &str) -> bool {
        match self {
            Whole => path.is_empty(),
            Under(beginning) => path.starts_with(beginning),
            Called(name) => path.rsplit('.').next() == Some(name),
            Through(name) => path.split('.').any(|part| part == *name),
        }
    }
}

/// Each row with what it covers: object and fields. Whole definitions are counted.
impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows: BTreeMap<_, BTreeMap<_, Vec<_>>> = BTreeMap::new();
        for (one, row) in &self.accepted {
            rows.entry(*row).or_default().entry(&one.object).or_default().push(one);
        }
        let (accepted, unexplained) = (self.accepted.len(), self.unexplained.len());
        writeln!(f, "  {accepted} accepted changes, {unexplained} unexplained")?;
        for (row, objects) in rows {
            writeln!(f, "    {row}")?;
            for (object, changes) in objects {
                writeln!(f, "      {object}: {}", fields(&changes))?;
            }
        }
        self.unexplained.iter().try_for_each(|one| writeln!(f, "    unexplained: {one}"))
    }
}

/// Most fields of one object that are named.
const NAMED: usize = 12;

fn fields(changes: &[&Difference]) -> String {
    if let [Difference { path, expected, .. }] = changes
        && path.0.is_empty()
    {
        return if expected.is_some() { "gone" } else { "new" }.to_owned();
    }
    let named = changes.iter().take(NAMED).map(|one| one.path.to_string());
    let named: Vec<String> = named.collect();
    match changes.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => format!("{}, and {more} fields more", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(kind: &str, name: &str, path: &str) -> Difference {
        let object = Key { kind: kind.to_owned(), namespace: String::new(), name: name.to_owned() };
        let path = crate::dump::Path(path.split_terminator('.').map(str::to_owned).collect());
        Difference { object, path, expected: Some("a".into()), found: None }
    }

    #[test]
    fn each_change_has_a_reason_or_is_unexplained() {
        let applied = [change("Deployment", "catalog-operator", "").object].into();
        let all = vec![
            change("Deployment", "catalog-operator", "spec.replicas"),
            change("Deployment", "tea", "spec.replicas"),
            change("ClusterServiceVersion", "tea.v1", "status.requirementStatus.[a].status"),
            change("ClusterServiceVersion", "tea.v1", "status.phase"),
            change("ClusterServiceVersion", "packageserver", ""),
        ];
        let changes = Changes::explain(all, &applied);
        let lost: Vec<String> = changes.unexplained.iter().map(ToString::to_string).collect();
        assert_eq!(lost.len(), 2, "{lost:?}");
        let text = changes.to_string();
        assert!(text.starts_with("  3 accepted changes, 2 unexplained\n"), "{text}");
        assert!(text.contains("ClusterServiceVersion packageserver: gone"), "{text}");
        assert!(text.contains("Deployment catalog-operator: spec.replicas"), "{text}");
    }

    #[test]
    fn rows_that_cover_nothing_are_out_of_date() {
        let used =
            Changes::explain(vec![change("Operator", "tea", "status.components")], &[].into());
        assert_eq!(Changes::out_of_date(&[&used]).len(), ACCEPTED.len() - 1);
    }
}
