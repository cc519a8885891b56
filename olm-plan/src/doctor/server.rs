//! What concerns the API server: aggregated APIs, webhooks, sizes, and who else is at work.

use std::collections::BTreeSet;

use jiff::Timestamp;
use olm_types::api::InstallPlan;
use olm_types::labels::{OWNER, OWNER_KIND, OWNER_NAMESPACE};
use serde_json::Value;

use super::Found;
use crate::observed::{Observed, namespace};

/// The aggregated API of packages.
const PACKAGES_API: &str = "v1.packages.operators.coreos.com";

/// Bytes of an object from which it is reported; etcd takes 1.5 MiB.
const LARGE: usize = 1 << 20;

/// The packages API does not answer.
pub fn packages_api(observed: &Observed, _: Timestamp) -> Vec<Found> {
    let services =
        of_kind(observed, "APIService").filter(|one| text(one, "/metadata/name") == PACKAGES_API);
    let found = services.filter_map(|service| {
        let conditions = service.pointer("/status/conditions").and_then(Value::as_array)?;
        let available = conditions.iter().find(|one| text(one, "/type") == "Available")?;
        (text(available, "/status") != "True").then(|| {
            let evidence =
                format!("{}: {}", text(available, "/reason"), text(available, "/message"));
            let fix = format!("kubectl describe apiservice {PACKAGES_API}");
            of_cluster("APIService", PACKAGES_API, evidence, fix)
        })
    });
    found.collect()
}

/// Webhooks whose CSV is gone.
pub fn webhook(observed: &Observed, _: Timestamp) -> Vec<Found> {
    let kinds = ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"];
    let all =
        kinds.into_iter().flat_map(|kind| of_kind(observed, kind).map(move |one| (kind, one)));
    let found = all.filter_map(|(kind, object)| {
        let label = |label: &str| {
            let labels = object.pointer("/metadata/labels");
            labels.and_then(|labels| labels.get(label)).and_then(Value::as_str).unwrap_or_default()
        };
        let (csv, home) = (label(OWNER), label(OWNER_NAMESPACE));
        let is_looked_at = observed.home.as_deref().is_none_or(|looked_at| looked_at == home);
        let is_of_csv = label(OWNER_KIND) == "ClusterServiceVersion" && !csv.is_empty();
        if !is_of_csv || !is_looked_at || observed.csv(home, csv).is_some() {
            return None;
        }
        let own = text(object, "/metadata/name");
        let evidence = format!("its CSV {home}/{csv} does not exist");
        Some(of_cluster(
            kind,
            own,
            evidence,
            format!("kubectl delete {} {own}", kind.to_lowercase()),
        ))
    });
    found.collect()
}

/// InstallPlans that soon cannot be written any more.
pub fn size(observed: &Observed, _: Timestamp) -> Vec<Found> {
    let found = observed.install_plans.iter().filter_map(|plan| {
        let steps = plan.status.iter().flat_map(|status| &status.plan);
        let manifests = steps.filter_map(|step| step.resource.manifest.as_ref());
        let bytes: usize = manifests.map(String::len).sum();
        let evidence = format!("its manifests take {bytes} bytes");
        let fix = "ask the author for bundles in images".to_owned();
        (bytes > LARGE).then(|| Found::of(InstallPlan::KIND, &plan.metadata, evidence, fix))
    });
    found.collect()
}

/// OLM in several namespaces.
pub fn two_olms(observed: &Observed, _: Timestamp) -> Vec<Found> {
    let homes: BTreeSet<&str> =
        observed.olm_deployments.iter().map(|one| namespace(&one.metadata)).collect();
    if homes.len() < 2 {
        return Vec::new();
    }
    let names: Vec<&str> = homes.into_iter().collect();
    let evidence = format!("olm-operator is in the namespaces {}", names.join(", "));
    let fix = format!("kubectl -n {} delete deployment olm-operator catalog-operator", names[1]);
    vec![of_cluster("Namespace", names[1], evidence, fix)]
}

fn of_kind<'a>(observed: &'a Observed, kind: &str) -> impl Iterator<Item = &'a Value> {
    observed.others.iter().filter(move |object| text(object, "/kind") == kind)
}

fn text<'a>(object: &'a Value, path: &str) -> &'a str {
    object.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

fn of_cluster(kind: &'static str, name: &str, evidence: String, fix: String) -> Found {
    Found { kind, namespace: String::new(), name: name.to_owned(), evidence, fix }
}
