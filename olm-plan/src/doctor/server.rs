//! What concerns the API server: aggregated APIs, servers that it calls, and who else is at work.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::ByteString;
use olm_types::labels::{OWNER, OWNER_KIND, OWNER_NAMESPACE};
use serde_json::{Value, json};

use super::fix::{kubectl, line, patch};
use super::view::{label, text};
use super::{Fix, Found, View};
use crate::Observed;
use crate::observed::namespace;

/// The aggregated API of packages.
pub(super) const PACKAGES_API: &str = "v1.packages.operators.coreos.com";

/// Kinds of webhook configurations.
const HOOKS: [&str; 2] = ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"];

/// Kinds with servers of operators that the API server calls.
pub(super) const CALLED: [&str; 3] = [HOOKS[0], HOOKS[1], "APIService"];

/// What the API server calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Namespace of the Service.
    pub namespace: String,
    /// Name of the Service.
    pub service: String,
    /// The authorities that are trusted, as PEM.
    pub bundle: String,
}

/// Why the packages API does not answer, as far as its APIService says so.
#[must_use]
pub fn packages_api_away(observed: &Observed) -> Option<String> {
    let mut all = observed.others.iter().filter(|one| text(one, "/kind") == "APIService");
    all.find(|one| text(one, "/metadata/name") == PACKAGES_API).and_then(unavailable)
}

/// The Services that the API server calls for an object: a webhook configuration, an APIService, or a CRD
/// with conversion.
#[must_use]
pub fn servers(object: &Value) -> Vec<Server> {
    let hooks = object.get("webhooks").and_then(Value::as_array).into_iter().flatten();
    let of_hooks = hooks.filter_map(|hook| hook.get("clientConfig"));
    let of_kinds = ["/spec/conversion/webhook/clientConfig", "/spec"];
    let others = of_kinds.iter().filter_map(|path| object.pointer(path));
    let all = of_hooks.chain(others).filter_map(|config| {
        let service = config.get("service")?;
        let bundle = config.get("caBundle").cloned().unwrap_or_default();
        let bundle: ByteString = serde_json::from_value(bundle).unwrap_or_default();
        Some(Server {
            namespace: text(service, "/namespace").to_owned(),
            service: text(service, "/name").to_owned(),
            bundle: String::from_utf8_lossy(&bundle.0).into_owned(),
        })
    });
    all.collect()
}

/// The packages API does not answer.
pub(super) fn packages_api(view: &View<'_>) -> Vec<Found> {
    away(view, |name| name == PACKAGES_API)
}

/// Another aggregated API does not answer.
pub(super) fn other_api(view: &View<'_>) -> Vec<Found> {
    away(view, |name| name != PACKAGES_API)
}

/// Webhooks whose CSV is gone, and CRDs that are converted by a Service that is gone.
pub(super) fn without_server(view: &View<'_>) -> Vec<Found> {
    let hooks = HOOKS.into_iter().flat_map(|kind| view.others(kind).map(move |one| (kind, one)));
    let hooks = hooks.filter_map(|(kind, object)| {
        let (csv, home) = (label(object, OWNER), label(object, OWNER_NAMESPACE));
        let is_of_csv = label(object, OWNER_KIND) == "ClusterServiceVersion" && !csv.is_empty();
        if !is_of_csv || !view.is_looked_at(home) || view.csv(home, csv).is_some() {
            return None;
        }
        let own = text(object, "/metadata/name");
        let evidence = format!("its ClusterServiceVersion {home}/{csv} does not exist");
        Some(Found::of_cluster(kind, own, evidence, kubectl("", &["delete", &resource(kind), own])))
    });
    hooks
        .chain(view.others("CustomResourceDefinition").filter_map(|crd| converted(view, crd)))
        .collect()
}

/// OLM in several namespaces: the younger ones have to go.
pub(super) fn two_olms(view: &View<'_>) -> Vec<Found> {
    let mut homes = BTreeMap::new();
    for deployment in &view.observed.olm_deployments {
        let created = deployment.metadata.creation_timestamp.as_ref().map(|time| time.0);
        let first = homes.entry(namespace(&deployment.metadata)).or_insert(created);
        *first = (*first).min(created);
    }
    let oldest = homes.iter().min_by_key(|(home, created)| (**created, **home));
    let Some(oldest) = oldest.map(|(home, _)| *home) else { return Vec::new() };
    let others: BTreeSet<&str> = homes.keys().copied().filter(|home| *home != oldest).collect();
    let found = others.into_iter().map(|home| {
        let evidence = format!("olm-operator is in {oldest} as well");
        let both = ["delete", "deployment", "olm-operator", "catalog-operator"];
        let fix = kubectl(home, &[&both[..], &["--ignore-not-found"]].concat());
        Found::of_cluster("Namespace", home, evidence, fix)
    });
    found.collect()
}

fn away(view: &View<'_>, is_meant: impl Fn(&str) -> bool) -> Vec<Found> {
    let services = view.others("APIService");
    let services = services.filter(|one| is_meant(text(one, "/metadata/name")));
    let found = services.filter_map(|service| {
        let own = text(service, "/metadata/name");
        let evidence = unavailable(service)?;
        let see = line("", &["describe", "apiservice", own]);
        let wait = format!(
            "see what its Service leads to; no namespace can be deleted until it answers; {see}"
        );
        Some(Found::of_cluster("APIService", own, evidence, Fix::Wait(wait)))
    });
    found.collect()
}

/// Why an APIService is not Available.
fn unavailable(service: &Value) -> Option<String> {
    let conditions = service.pointer("/status/conditions").and_then(Value::as_array)?;
    let available = conditions.iter().find(|one| text(one, "/type") == "Available")?;
    (text(available, "/status") != "True")
        .then(|| format!("{}: {}", text(available, "/reason"), text(available, "/message")))
}

/// A CRD that no CSV owns, and whose objects are converted by a Service that does not exist.
fn converted(view: &View<'_>, crd: &Value) -> Option<Found> {
    let strategy = text(crd, "/spec/conversion/strategy");
    let server = servers(crd).into_iter().find(|_| strategy == "Webhook")?;
    let is_there = view.others("Service").any(|service| {
        text(service, "/metadata/namespace") == server.namespace
            && text(service, "/metadata/name") == server.service
    });
    let own = text(crd, "/metadata/name");
    (!is_there).then(|| {
        let evidence = format!(
            "its objects are converted by Service {}/{}, which does not exist",
            server.namespace, server.service
        );
        let none = json!({"spec": {"conversion": {"strategy": "None", "webhook": null}}});
        let fix = patch("", "customresourcedefinition", own, &none);
        Found::of_cluster("CustomResourceDefinition", own, evidence, fix)
    })
}

fn resource(kind: &str) -> String {
    kind.to_lowercase()
}
