//! Images that were shown as gained or lost, and those that came and went.

use std::collections::BTreeSet;

use anyhow::Result;
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt};
use olm_types::api::ClusterServiceVersion;
use olm_types::labels::COPIED_FROM;
use serde_json::Value;

/// What a line says about an image that came or went, and was not shown so.
const HIDDEN: &str = " was not shown as ";

/// Images that Deployments of the namespace run, and those that its CSVs name beside them.
///
/// # Errors
/// The API server does not answer.
pub async fn there(client: &Client, home: &str) -> Result<BTreeSet<String>> {
    let api: Api<Deployment> = Api::namespaced(client.clone(), home);
    let mut there = BTreeSet::new();
    for deployment in api.list(&ListParams::default()).await? {
        let pod = deployment.spec.and_then(|spec| spec.template.spec).unwrap_or_default();
        let all = pod.containers.into_iter().chain(pod.init_containers.into_iter().flatten());
        there.extend(all.filter_map(|container| container.image));
    }
    let api: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), home);
    let own = api
        .list(&ListParams::default())
        .await?
        .into_iter()
        .filter(|csv| !csv.labels().contains_key(COPIED_FROM));
    let related = own.flat_map(|csv| csv.spec.related_images).map(|one| one.image);
    there.extend(related.filter(|image| !image.is_empty()));
    Ok(there)
}

/// Lines for images that came or went otherwise than the plan shows.
#[must_use]
pub fn differences(
    plan: &Value,
    before: &BTreeSet<String>,
    after: &BTreeSet<String>,
) -> Vec<String> {
    let shown = |field: &str| -> BTreeSet<String> {
        let list = plan["images"][field].as_array().into_iter().flatten();
        list.filter_map(|one| one.as_str().map(str::to_owned)).collect()
    };
    let mut lines = Vec::new();
    for (field, done) in [("gained", after - before), ("lost", before - after)] {
        let shown = shown(field);
        let hidden = done.difference(&shown);
        lines.extend(hidden.map(|image| format!("images: {image}{HIDDEN}{field}")));
        let missing = shown.difference(&done);
        lines.extend(missing.map(|image| format!("images: {image} was shown as {field}")));
    }
    lines
}

/// Whether a line is about an image that came or went, and was not shown so.
#[must_use]
pub fn is_hidden(line: &str) -> bool {
    line.contains(HIDDEN)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn images_are_compared_both_ways() {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let (before, after) = (set(&["old", "stays"]), set(&["new", "stays"]));
        let as_shown = json!({"images": {"gained": ["new"], "lost": ["old"]}});
        assert_eq!(differences(&as_shown, &before, &after), [""; 0]);
        let other = json!({"images": {"gained": ["other"], "lost": ["old"]}});
        let lines = ["images: new was not shown as gained", "images: other was shown as gained"];
        assert_eq!(differences(&other, &before, &after), lines);
        assert_eq!(lines.map(is_hidden), [true, false]);
    }
}
