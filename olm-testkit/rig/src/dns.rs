//! The DNS of the cluster: CoreDNS in a pod.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Api, DynamicObject};
use serde::Deserialize as _;
use tokio::time::{Instant, sleep};

use super::images;
use super::network::Addresses;
use olm_testkit::deploy;
use olm_testkit::process::Running;

/// Objects with two places to fill in.
const MANIFESTS: &str = include_str!("dns.yaml");

/// How long the first pod of a cluster may take.
const LIMIT: Duration = Duration::from_secs(120);

/// Applies the objects.
pub(super) async fn apply(client: &kube::Client, addresses: Addresses) -> Result<()> {
    for object in objects(addresses)? {
        deploy::apply_object(client, &object).await?;
    }
    Ok(())
}

/// Waits until names are answered.
pub(super) async fn wait(client: &kube::Client, needed: &mut [Running]) -> Result<()> {
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), "kube-system");
    let deadline = Instant::now() + LIMIT;
    loop {
        needed.iter_mut().try_for_each(Running::check)?;
        let found = deployments.get("coredns").await.context("cannot read a Deployment")?;
        if found.status.and_then(|status| status.available_replicas).unwrap_or(0) > 0 {
            return Ok(());
        }
        if Instant::now() > deadline {
            bail!("the pod of the cluster DNS is not ready after {LIMIT:?}");
        }
        sleep(Duration::from_millis(100)).await;
    }
}

fn objects(addresses: Addresses) -> Result<Vec<DynamicObject>> {
    let text = MANIFESTS
        .replace("COREDNS_IMAGE", &images::coredns_name())
        .replace("DNS_ADDRESS", &addresses.dns());
    let documents = yaml_serde::Deserializer::from_str(&text);
    let objects: Result<Vec<_>, _> = documents.map(DynamicObject::deserialize).collect();
    objects.context("the manifests of the cluster DNS are not readable")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_and_the_image_are_filled_in() {
        let addresses = Addresses::of(serde_json::from_value(96.into()).unwrap());
        let objects = objects(addresses).unwrap();
        let find = |kind: &str| {
            let of_kind = |object: &&DynamicObject| object.types.as_ref().unwrap().kind == kind;
            objects.iter().find(of_kind).unwrap().data["spec"].clone()
        };
        assert_eq!(find("Service")["clusterIP"], "10.96.64.10");
        let image = &find("Deployment")["template"]["spec"]["containers"][0]["image"];
        assert_eq!(image, &serde_json::Value::from(images::coredns_name()));
    }
}
