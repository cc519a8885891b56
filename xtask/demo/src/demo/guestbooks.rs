//! A user's custom resource: a Guestbook, which must outlive every upgrade.

use anyhow::{Context, Result, ensure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, PostParams};
use kube::core::GroupVersionKind;
use serde_json::json;

use super::install::NAMESPACE;
use super::timeline::Timeline;

const GROUP: &str = "guestbook.demo.olm-rs.dev";
const PLURAL: &str = "guestbooks";
const NAME: &str = "visitors";
const TITLE: &str = "Who was here";

/// Opens a guestbook in one version of its kind.
pub(super) async fn open(timeline: &Timeline, client: &Client, version: &str) -> Result<()> {
    let guestbook = serde_json::from_value(json!({
        "apiVersion": format!("{GROUP}/{version}"),
        "kind": "Guestbook",
        "metadata": {"name": NAME},
        "spec": {"title": TITLE},
    }))?;
    let made = guestbooks(client, version).create(&PostParams::default(), &guestbook).await;
    made.context("cannot use the operator")?;
    timeline.event("Guestbook", format!("{NAME} created as {version}, titled {TITLE:?}"));
    Ok(())
}

/// Reads it in another version, which its kind did not have when it was opened.
pub(super) async fn read(timeline: &Timeline, client: &Client, version: &str) -> Result<()> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let definition = definitions.get(&format!("{PLURAL}.{GROUP}")).await;
    let versions = definition.context("the kind is lost")?.spec.versions;
    let served: Vec<_> =
        versions.iter().filter(|one| one.served).map(|one| one.name.as_str()).collect();
    timeline.event("CRD", format!("{PLURAL}.{GROUP} serves {}", served.join(", ")));
    let found = guestbooks(client, version).get(NAME).await.context("the Guestbook is lost")?;
    let title = found.data.pointer("/spec/title").and_then(|title| title.as_str());
    let title = title.context("the Guestbook has lost its title")?;
    timeline.event("Guestbook", format!("{NAME} is there as {version}, titled {title:?}"));
    ensure!(title == TITLE, "the title has changed");
    Ok(())
}

fn guestbooks(client: &Client, version: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk(GROUP, version, "Guestbook");
    let resource = ApiResource::from_gvk_with_plural(&kind, PLURAL);
    Api::namespaced_with(client.clone(), NAMESPACE, &resource)
}
