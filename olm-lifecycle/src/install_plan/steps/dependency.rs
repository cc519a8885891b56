//! The Subscription that is generated for a bundle without a Subscription of its own.

use olm_types::api::Step;
use olm_types::bundle::Entry;
use serde::Serialize;

use super::{BundleError, StepSink, text};

/// `<package>-<channel>-<catalog>-<catalog namespace>`.
pub fn subscription_name(entry: &Entry) -> String {
    format!(
        "{}-{}-{}-{}",
        entry.package, entry.channel, entry.catalog.name, entry.catalog.namespace
    )
}

/// The step that creates the Subscription of a dependency: automatic, starting at `entry`.
pub(crate) fn subscription_step(entry: &Entry, namespace: &str) -> Result<Step, BundleError> {
    let name = subscription_name(entry);
    let shape = Subscription {
        kind: "Subscription",
        api_version: "operators.coreos.com/v1alpha1",
        metadata: Metadata { name: &name, namespace },
        spec: Spec {
            source: &entry.catalog.name,
            source_namespace: &entry.catalog.namespace,
            name: &entry.package,
            channel: &entry.channel,
            starting_csv: &entry.name,
            install_plan_approval: "Automatic",
        },
        status: Status { last_updated: None },
    };
    let mut sink = StepSink::new(&entry.name, &entry.catalog);
    let manifest = text::shaped(&shape)?;
    sink.push(["operators.coreos.com", "v1alpha1", "Subscription", &name], manifest)?;
    sink.steps.pop().ok_or(BundleError::MissingKind(name))
}

/// Fields in Go's order, like every manifest of a plan.
#[derive(Serialize)]
struct Subscription<'a> {
    kind: &'static str,
    #[serde(rename = "apiVersion")]
    api_version: &'static str,
    metadata: Metadata<'a>,
    spec: Spec<'a>,
    status: Status,
}

#[derive(Serialize)]
struct Metadata<'a> {
    name: &'a str,
    namespace: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Spec<'a> {
    source: &'a str,
    source_namespace: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    channel: &'a str,
    #[serde(rename = "startingCSV")]
    starting_csv: &'a str,
    install_plan_approval: &'static str,
}

/// v0 prints the unset time of an empty status.
#[derive(Serialize)]
struct Status {
    #[serde(rename = "lastUpdated")]
    last_updated: Option<()>,
}
