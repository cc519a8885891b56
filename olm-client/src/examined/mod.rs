//! What the doctor reads: lists first, several at a time and in pages, then what they say that matters.
//!
//! Of each object no more is kept than the checks look at, so that a thousand namespaces take little memory.

mod cluster_lists;
mod details;
mod lists;
mod orphaned_crds;
mod packages;
pub(crate) mod pages;
pub(crate) mod slim;

use anyhow::Result;
use jiff::Timestamp;
use olm_plan::Observed;
use olm_plan::doctor::{Report, examine, wanted};
use olm_plan::observed::Plural;

use crate::cluster::{Cluster, cause, is_not_found};

/// Requests that are under way at once.
const AT_ONCE: usize = 16;

/// Reads a namespace, or all of them, and makes every check. `before` is for the time before an
/// installation or a take-over: then a cluster without OLM's kinds is no error.
///
/// # Errors
/// OLM is not installed, or Subscriptions cannot be read, or not in time. What else cannot be read is skipped
/// in the report.
pub async fn examination(cluster: &Cluster, home: Option<&str>, before: bool) -> Result<Report> {
    let reading = Reading { cluster, home, before };
    let mut observed = Observed { home: home.map(str::to_owned), ..Observed::default() };
    let plans = reading.lists(&mut observed).await?;
    reading.cluster_lists(&mut observed).await;
    let wanted = wanted(&observed, &plans);
    reading.details(&wanted, &mut observed).await;
    reading.packages(&wanted, &mut observed).await;
    reading.orphaned_crds(&wanted.orphaned_crds, &mut observed).await;
    if before {
        reading.rights(&mut observed).await;
    }
    Ok(examine(&observed, before, Timestamp::now()))
}

/// What is read, and how.
#[derive(Clone, Copy)]
struct Reading<'a> {
    cluster: &'a Cluster,
    home: Option<&'a str>,
    before: bool,
}

impl Reading<'_> {
    /// What was read; nothing, and a note of why, where it may not be, or was not answered in time.
    fn noted<T: Default>(&self, read: Result<T>, kind: Plural, observed: &mut Observed) -> T {
        read.unwrap_or_else(|error| {
            // A kind that there is not yet has no objects.
            if !(self.before && is_not_found(&error)) {
                observed.unread.insert(kind, cause(&error));
            }
            T::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::stub;

    /// Half of the kinds that are read.
    const SERVED: [&str; 4] =
        ["subscriptions", "clusterserviceversions", "installplans", "catalogsources"];

    /// A cluster that has a Subscription and its catalog, and serves these kinds alone.
    fn cluster(served: &'static [&'static str]) -> Cluster {
        stub::cluster(move |address| {
            let path = address.split('?').next().unwrap();
            let kind = served.iter().find(|kind| path.ends_with(&format!("/{kind}")))?;
            Some(json!({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": items(kind)}))
        })
    }

    fn items(kind: &str) -> Value {
        let api = "operators.coreos.com/v1alpha1";
        match kind {
            "subscriptions" => json!([{"apiVersion": api, "kind": "Subscription",
                "metadata": {"name": "kettle", "namespace": "ns"},
                "spec": {"name": "kettle", "source": "kitchen", "sourceNamespace": "olm"}}]),
            "catalogsources" => json!([{"apiVersion": api, "kind": "CatalogSource",
                "metadata": {"name": "kitchen", "namespace": "olm"},
                "spec": {"sourceType": "grpc", "image": "kitchen:1"},
                "status": {"connectionState": {"lastObservedState": "READY"}}}]),
            _ => json!([]),
        }
    }

    /// That there is no OperatorGroup is not known, and nothing says so.
    #[tokio::test]
    async fn where_half_of_the_kinds_are_missing_the_rest_is_looked_at() {
        let cluster = cluster(&SERVED);
        let report = examination(&cluster, Some("ns"), false).await.unwrap();
        let skipped: Vec<&str> = report.skipped.iter().map(|one| one.code).collect();
        for (code, expected) in [
            ("OLM001", false),
            ("OLM002", true),
            ("OLM009", true),
            ("OLM013", false),
            ("OLM021", true),
            ("OLM028", true),
        ] {
            assert_eq!(skipped.contains(&code), expected, "{code}: {skipped:?}");
        }
        assert!(report.findings.is_empty(), "{:?}", report.findings);
        let observed = cluster.observe(Some("ns"), true).await.unwrap();
        assert_eq!((observed.subscriptions.len(), observed.catalog_sources.len()), (1, 1));
        for kind in ["operatorgroups", "operatorconditions", "pods", "packagemanifests"] {
            assert!(observed.unread.contains_key(kind), "{kind}: {:?}", observed.unread);
        }
    }

    #[tokio::test]
    async fn a_cluster_without_subscriptions_has_no_olm() {
        let cluster = cluster(&["clusterserviceversions"]);
        let error = examination(&cluster, None, false).await.unwrap_err();
        assert!(format!("{error:#}").contains("OLM is not installed"), "{error:#}");
    }
}
