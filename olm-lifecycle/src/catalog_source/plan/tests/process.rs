//! Catalogs that the operator serves itself: the way there, the way back, and what happens on it.

use std::sync::Arc;

use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube_core::ResourceExt;
use olm_types::conditions::catalog_source::{CONTENT_CURRENT, IMAGE_POLLED, SERVED_IN_PROCESS};
use rstest::rstest;
use serde_json::{Value, json};

use super::super::super::hosting::{HostedContent, Hosting, PullFailure, Record, Replica, record};
use super::super::super::observed::Content;
use super::EVERYTHING;
use super::world::{IMAGE, NOW, World, of_image};

const AROUND: [&str; 3] = [
    "create NetworkPolicy img-catalog-grpc-server",
    "create NetworkPolicy img-catalog-unpack-bundles",
    "create ServiceAccount img-catalog",
];

impl World {
    pub(super) fn hosting(&mut self) -> &mut Hosting {
        self.observed.hosting.as_mut().unwrap()
    }

    pub(super) fn pulled(&mut self, digest: &str) {
        let (image, digest) = (IMAGE.to_owned(), digest.to_owned());
        let pulled_at = NOW.parse().unwrap();
        let hosting = self.hosting();
        hosting.content = Some(HostedContent { image, digest, folder: None, pulled_at });
        hosting.port = Some(50_107);
        hosting.failure = None;
    }

    fn fails(&mut self, reason: &'static str, digest: Option<&str>, attempts: u32) {
        let at = self.now;
        self.hosting().failure = Some(PullFailure {
            image: IMAGE.to_owned(),
            digest: digest.map(str::to_owned),
            reason,
            message: "the registry says no".to_owned(),
            attempts,
            at,
            retry_after: 0,
        });
    }

    /// Kubernetes makes endpoints of the Pods that the Service selects.
    fn endpoints(&mut self, ready: bool) {
        let slice = json!({
            "metadata": {"name": "img-catalog-x7k2p", "labels": {"kubernetes.io/service-name": "img-catalog"}},
            "addressType": "IPv4",
            "endpoints": [{"addresses": ["10.0.0.9"], "conditions": {"ready": ready}}],
        });
        let slice: EndpointSlice = serde_json::from_value(slice).unwrap();
        self.hosting().foreign.push(Arc::new(slice));
    }

    pub(super) fn seconds(&mut self, seconds: u64) {
        self.now += std::time::Duration::from_secs(seconds);
    }

    fn selector(&self) -> Value {
        self.get("Service", "img-catalog")["spec"]["selector"].clone()
    }

    fn condition(&self, kind: &str) -> Option<(String, String)> {
        let conditions = self.status().conditions;
        let found = conditions.into_iter().find(|condition| condition.type_ == kind)?;
        Some((found.reason, found.message))
    }
}

pub(super) fn replica(address: &str, ready: bool, terminating: bool) -> Replica {
    let (address, node) = (address.parse().unwrap(), Some("n".to_owned()));
    let (namespace, name) = ("olm".to_owned(), "operator".to_owned());
    Replica { address, node, ready, terminating, serves: true, namespace, name }
}

/// A catalog whose image is being pulled.
fn asked() -> World {
    let mut world = of_image();
    let replicas = vec![replica("10.0.0.7", true, false)];
    world.observed.hosting = Some(Hosting { asked: true, replicas, ..Hosting::default() });
    world
}

/// One that is served.
pub(super) fn hosted() -> World {
    let mut world = asked();
    world.pulled("sha256:a");
    world.writes();
    world.converge();
    world
}

/// One that a Pod serves, of an operator that may serve it.
pub(super) fn by_pod() -> World {
    let mut world = asked();
    world.hosting().asked = false;
    world.converge();
    world.runs("img-catalog-4", "r@sha256:a");
    world.endpoints(true);
    world
}

#[test]
fn a_new_catalog_gets_no_pod() {
    let mut world = asked();
    assert_eq!(world.converge(), AROUND, "while it is pulled");
    world.pulled("sha256:a");
    assert_eq!(world.writes(), ["create Service img-catalog"]);
    assert_eq!(world.writes(), ["create EndpointSlice img-catalog-olm-rs"]);
    assert!(world.converge().is_empty());
    assert_eq!(world.selector(), json!(null));
    insta::assert_json_snapshot!(world.status(), @r#"
    {
      "latestImageRegistryPoll": "2026-01-01T12:00:00Z",
      "registryService": {
        "protocol": "grpc",
        "serviceName": "img-catalog",
        "serviceNamespace": "ns",
        "port": "50051",
        "createdAt": "2026-01-01T12:00:00Z"
      }
    }
    "#);
}

#[test]
fn a_slice_leads_to_the_operator_and_says_what_it_serves() {
    let world = hosted();
    insta::assert_json_snapshot!(world.get("EndpointSlice", ""), @r#"
    {
      "addressType": "IPv4",
      "apiVersion": "discovery.k8s.io/v1",
      "endpoints": [
        {
          "addresses": [
            "10.0.0.7"
          ],
          "conditions": {
            "ready": true,
            "serving": true,
            "terminating": false
          },
          "nodeName": "n",
          "targetRef": {
            "kind": "Pod",
            "name": "operator",
            "namespace": "olm"
          }
        }
      ],
      "kind": "EndpointSlice",
      "metadata": {
        "annotations": {
          "olm-rs.dev/catalog-digest": "sha256:a",
          "olm-rs.dev/catalog-image": "quay.io/a/catalog:v1"
        },
        "creationTimestamp": "2026-01-01T12:00:00Z",
        "labels": {
          "endpointslice.kubernetes.io/managed-by": "catalog-operator.olm-rs.dev",
          "kubernetes.io/service-name": "img-catalog",
          "olm.catalogSource": "img-catalog",
          "olm.managed": "true"
        },
        "name": "img-catalog-olm-rs",
        "namespace": "ns",
        "ownerReferences": [
          {
            "apiVersion": "v1",
            "blockOwnerDeletion": false,
            "controller": false,
            "kind": "Service",
            "name": "img-catalog",
            "uid": "uid-4"
          }
        ],
        "uid": "uid-5"
      },
      "ports": [
        {
          "name": "grpc",
          "port": 50107,
          "protocol": "TCP"
        }
      ]
    }
    "#);
}

/// The digest is recorded, and that is all; looks that find the same write nothing.
#[test]
fn newer_content_is_recorded_once() {
    let mut world = hosted();
    world.wait(15);
    assert!(world.converge().is_empty());
    world.pulled("sha256:b");
    assert_eq!(world.converge(), ["patch EndpointSlice img-catalog-olm-rs"]);
    let slice = world.hosting().slice.clone().unwrap();
    let (image, digest) = (IMAGE.to_owned(), "sha256:b".to_owned());
    assert_eq!(record(&slice), Some(Record { image, digest, port: Some(50_107) }));
    let polled = world.status().latest_image_registry_poll.unwrap();
    assert_eq!(polled.0, world.now);
}

/// The Service has an endpoint that answers at every step.
#[test]
fn from_a_pod_to_the_operator() {
    let mut world = by_pod();
    let hash = |world: &World| {
        world.get("Service", "img-catalog")["metadata"]["labels"]["olm.service-spec-hash"].clone()
    };
    let of_v0 = hash(&world);
    world.hosting().asked = true;
    assert!(world.converge().is_empty(), "the Pod serves while the image is pulled");
    world.pulled("sha256:a");
    assert_eq!(world.writes(), ["create EndpointSlice img-catalog-olm-rs"]);
    assert_eq!(world.writes(), ["patch Service img-catalog", "delete Endpoints img-catalog"]);
    assert_eq!(world.selector(), json!({}));
    assert!(of_v0.is_string() && hash(&world) != of_v0, "OLM v0 sees that it is none of its own");
    let stale = ["delete Endpoints img-catalog", "delete EndpointSlice img-catalog-x7k2p"];
    assert_eq!(world.writes(), stale);
    let (writes, conclusion) = world.look();
    assert!(writes.is_empty(), "nodes have to learn of it first");
    assert_eq!(conclusion.next.map(|next| next.as_secs()), Some(5));
    world.seconds(5);
    assert_eq!(world.converge(), ["delete Pod img-catalog-4"]);
}

#[test]
fn back_from_the_operator_to_a_pod() {
    let before = by_pod();
    let service = |world: &World| {
        let mut service = world.get("Service", "img-catalog");
        service["metadata"]["uid"] = json!(null);
        service
    };
    let mut world = hosted();
    world.hosting().asked = false;
    assert_eq!(world.writes(), ["create Pod "]);
    assert!(world.converge().is_empty(), "the operator serves until the Pod does");
    let pod = world.observed.server.pods[0].name_any();
    world.runs(&pod, "r@sha256:a");
    assert_eq!(world.converge(), ["patch Service img-catalog"]);
    assert_eq!(service(&world), service(&before), "as OLM v0 has it");
    world.endpoints(false);
    assert!(world.converge().is_empty(), "no endpoint of the Pod is ready");
    world.hosting().foreign.clear();
    world.endpoints(true);
    assert_eq!(world.converge(), ["delete EndpointSlice img-catalog-olm-rs"]);
}

/// The operator was started with `--catalogs=pod`: what it left is put right at once.
#[test]
fn an_operator_that_serves_nothing_gives_the_service_back() {
    let mut world = hosted();
    world.observed.hosting = None;
    let expected =
        ["create Pod ", "patch Service img-catalog", "delete EndpointSlice img-catalog-olm-rs"];
    assert_eq!(world.converge(), expected);
    assert_eq!(world.selector(), by_pod().selector());
}

#[test]
fn where_the_node_may_pull_a_pod_takes_over_until_the_operator_can() {
    let mut world = asked();
    world.converge();
    world.fails("ImageUnauthorized", None, 1);
    assert_eq!(world.converge(), EVERYTHING[3..]);
    let (reason, message) = world.condition(SERVED_IN_PROCESS).unwrap();
    assert_eq!(reason, "ImageUnauthorized");
    assert_eq!(message, "the registry says no; a Pod serves the catalog, as in OLM v0");
    world.pulled("sha256:a");
    world.writes();
    assert_eq!(world.condition(SERVED_IN_PROCESS), None);
}

#[test]
fn what_is_not_what_its_digest_says_is_run_by_no_pod() {
    let mut world = asked();
    world.converge();
    world.fails("DigestMismatch", Some("sha256:x"), 9);
    assert!(world.converge().is_empty());
    let (reason, message) = world.condition(CONTENT_CURRENT).unwrap();
    assert_eq!(reason, "DigestMismatch");
    assert!(message.starts_with("the registry says no; nothing was read before"), "{message}");
}

/// The folder of the Pod before was an emptyDir, and the registry is away.
#[test]
fn what_was_lost_with_a_pod_is_said() {
    let mut world = hosted();
    world.hosting().content = None;
    world.fails("RegistryUnavailable", None, 9);
    assert!(world.converge().is_empty(), "no Pod is made, and the Service waits");
    let (reason, message) = world.condition(CONTENT_CURRENT).unwrap();
    assert_eq!(reason, "RegistryUnavailable");
    let expected = "the registry says no; nothing of it is on the disk: an emptyDir is lost with its Pod, \
        a PersistentVolumeClaim (deploy/process-pvc, ";
    assert!(message.starts_with(expected), "{message}");
}

/// What is there stays; the status says since when, once.
#[rstest]
#[case::away(
    "RegistryUnavailable",
    None,
    IMAGE_POLLED,
    "the registry says no; what was pulled at 2026-01-01T12:00:00Z (sha256:a) stays in use"
)]
#[case::invalid(
    "CatalogInvalid",
    Some("sha256:b"),
    CONTENT_CURRENT,
    "the registry says no; what was read at 2026-01-01T12:00:01Z stays in use (3 channel entries)"
)]
#[case::disk_full(
    "StorageFailed",
    Some("sha256:b"),
    CONTENT_CURRENT,
    "the registry says no; what was read at 2026-01-01T12:00:01Z stays in use (3 channel entries)"
)]
fn what_is_there_stays(
    #[case] reason: &'static str,
    #[case] digest: Option<&str>,
    #[case] condition: &str,
    #[case] message: &str,
) {
    let mut world = hosted();
    let read_at = Some("2026-01-01T12:00:01Z".parse().unwrap());
    world.observed.content = Content { read_at, entries: 3, ..Content::default() };
    for attempts in 1..4 {
        world.wait(1);
        world.fails(reason, digest, attempts);
        assert!(world.writes().is_empty());
        let expected = Some((reason.to_owned(), message.to_owned()));
        assert_eq!(world.condition(condition), expected);
        assert_eq!(world.look().1.status, None, "written once");
    }
    world.pulled("sha256:a");
    world.look();
    assert_eq!(world.status().conditions, []);
}

#[test]
fn settings_of_pods_without_effect_are_named() {
    let mut world = hosted();
    world.set_spec(json!({"grpcPodConfig": {
        "nodeSelector": {"a": "b"}, "memoryTarget": "50Mi", "extractContent": {"catalogDir": "/configs"},
    }}));
    world.converge();
    let (reason, message) = world.condition("PodSettingsUsed").unwrap();
    assert_eq!(reason, "ServedInProcess");
    assert_eq!(
        message,
        "the operator serves the catalog itself, without a Pod: spec.grpcPodConfig.nodeSelector, \
         spec.grpcPodConfig.memoryTarget has no effect"
    );
}
