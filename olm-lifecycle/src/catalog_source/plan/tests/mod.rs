//! Catalogs that are served by a Pod of ours: the rows of spec catalog-operator 9.8 and 9.9, played
//! on a small cluster that does what the plan says.

mod drift;
mod polls;
mod process;
mod replicas;
mod world;

use std::sync::Arc;

use olm_effect::{Action, Refusal};
use rstest::rstest;
use serde_json::json;

use super::super::observed::Connection;
use super::super::{conclude, is_healthy};
use super::*;
use world::{IMAGE, NOW, of_config_map, of_image};

const EVERYTHING: [&str; 5] = [
    "create NetworkPolicy img-catalog-grpc-server",
    "create NetworkPolicy img-catalog-unpack-bundles",
    "create ServiceAccount img-catalog",
    "create Pod ",
    "create Service img-catalog",
];

#[test]
fn a_catalog_image_gets_everything_in_order() {
    let mut world = of_image();
    assert!(!is_healthy(&world.observed.catalog));
    assert_eq!(world.converge(), EVERYTHING);
    insta::assert_json_snapshot!(world.status(), @r#"
    {
      "registryService": {
        "protocol": "grpc",
        "serviceName": "img-catalog",
        "serviceNamespace": "ns",
        "port": "50051",
        "createdAt": "2026-01-01T12:00:00Z"
      }
    }
    "#);
    assert!(is_healthy(&world.observed.catalog));
}

#[test]
fn an_address_beside_an_image_changes_only_where_it_is_asked() {
    let mut world = of_image();
    world.set_spec(json!({"address": "elsewhere:1"}));
    assert_eq!(world.converge(), EVERYTHING);
    let backend = backend(&world.observed.catalog).unwrap();
    assert_eq!(super::super::dial_address(&world.observed.catalog, &backend), "elsewhere:1");
    world.set_spec(json!({"address": ""}));
    let address = super::super::dial_address(&world.observed.catalog, &backend);
    assert_eq!(address, "img-catalog.ns.svc:50051");
}

/// Whoever may write a CatalogSource may write its status, too (docs/security.md).
#[test]
fn a_forged_status_moves_no_catalog() {
    let world = of_image();
    let mut forged = (*world.observed.catalog).clone();
    let service = json!({"serviceName": "catalog", "serviceNamespace": "olm", "port": "1"});
    let status = json!({"registryService": service});
    forged.status = serde_json::from_value(status).unwrap();
    let backend = backend(&forged).unwrap();
    let address = super::super::dial_address(&forged, &backend);
    assert_eq!(address, "img-catalog.ns.svc:50051");
}

#[test]
fn a_config_map_gets_a_server_that_may_read_it() {
    let mut world = of_config_map();
    assert_eq!(
        world.converge(),
        [
            "create NetworkPolicy img-catalog-grpc-server",
            "create NetworkPolicy img-catalog-unpack-bundles",
            "create ServiceAccount img-catalog-configmap-server",
            "create Role img-catalog-configmap-reader",
            "create RoleBinding img-catalog-server-configmap-reader",
            "create Pod ",
            "create Service img-catalog",
        ]
    );
    let reference = world.status().config_map_reference.unwrap();
    assert_eq!(reference.resource_version.as_deref(), Some("7"));
}

#[test]
fn another_version_of_the_config_map_gets_another_pod() {
    let mut world = of_config_map();
    world.converge();
    let ConfigMapFound::Watched(metadata) = &mut world.observed.config_map else { panic!("lost") };
    metadata.resource_version = Some("8".to_owned());
    assert_eq!(
        world.converge(),
        ["patch NetworkPolicy img-catalog-grpc-server", "delete Pod img-catalog-6", "create Pod "]
    );
    assert_eq!(world.status().config_map_reference.unwrap().resource_version.as_deref(), Some("8"));
}

#[test]
fn a_config_map_is_taken_care_of_first() {
    let mut world = of_config_map();
    let metadata = json!({"uid": "cm", "resourceVersion": "7", "labels": {"a": "b"}});
    world.observed.config_map =
        ConfigMapFound::Unwatched(serde_json::from_value(metadata).unwrap());
    let plan = plan(&world.observed, &world.settings, world.now);
    let [step] = plan.steps.as_slice() else { panic!("{:?}", plan.steps) };
    let Action::MergePatch { patch, .. } = &step.effect.action else { panic!("no patch") };
    insta::assert_json_snapshot!(patch);
    let refused = Outcome::Refused(Refusal {
        code: 403,
        reason: "Forbidden".to_owned(),
        message: "no".to_owned(),
    });
    let conclusion = conclude(&world.observed, &plan, &[refused], world.now);
    let message = "unable to write owner onto catalog source configmap - no";
    assert_eq!(conclusion.error.as_deref(), Some(message));
}

#[test]
fn a_config_map_that_is_missing_is_named() {
    let mut world = of_config_map();
    world.observed.config_map =
        ConfigMapFound::Missing("configmaps \"lists\" not found".to_owned());
    let (writes, conclusion) = world.look();
    let message = "failed to get catalog config map lists: configmaps \"lists\" not found";
    assert_eq!((writes.len(), conclusion.error.as_deref()), (0, Some(message)));
    let status = world.status();
    assert_eq!(status.reason.as_deref(), Some("ConfigMapError"));
    assert_eq!(status.message.as_deref(), Some(message));
    assert_eq!(world.look().1.status, None, "written once");
}

#[rstest]
#[case(
    "Pod",
    "pods \"img-catalog-x7k2p\" is forbidden: exceeded quota",
    "error ensuring pod: img-catalog-: error creating new pod: img-catalog-: pods \"img-catalog-\" is forbidden: exceeded quota"
)]
#[case("Service", "no", "error ensuring service: img-catalog: no")]
#[case("ServiceAccount", "no", "error ensuring service account: img-catalog: no")]
#[case(
    "NetworkPolicy",
    "no",
    "error ensuring grpc server network policy for catalog source img-catalog: no"
)]
fn refusals(#[case] kind: &'static str, #[case] message: &'static str, #[case] reported: &str) {
    let mut world = of_image();
    world.refuse = Some((kind, message));
    let (_, conclusion) = world.look();
    assert_eq!(conclusion.error.as_deref(), Some(reported));
    let status = world.status();
    assert_eq!(status.reason.as_deref(), Some("RegistryServerError"));
    assert_eq!(status.message, Some(format!("couldn't ensure registry server - {reported}")));
    assert!(!is_healthy(&world.observed.catalog));
    assert_eq!(world.look().1.status, None, "written once");
    world.refuse = None;
    world.look();
    assert_eq!(world.status().reason, None);
}

#[test]
fn a_name_that_is_taken_is_reported() {
    let world = of_image();
    let plan = plan(&world.observed, &world.settings, world.now);
    let taken = vec![Outcome::AlreadyExists; plan.steps.len()];
    let conclusion = conclude(&world.observed, &plan, &taken, world.now);
    let expected = "error ensuring grpc server network policy for catalog source img-catalog: \
                    networkpolicies \"img-catalog-grpc-server\" already exists";
    assert_eq!(conclusion.error.as_deref(), Some(expected));
}

#[test]
fn a_wrong_record_of_the_service_is_put_right() {
    let mut world = of_image();
    world.converge();
    let mut catalog = (*world.observed.catalog).clone();
    let status = catalog.status.as_mut().unwrap();
    status.registry_service.as_mut().unwrap().service_name = Some("other".to_owned());
    world.observed.catalog = Arc::new(catalog);
    let address = "..svc:".to_owned();
    let at = |address: &str| Connection {
        address: address.to_owned(),
        state: "READY".to_owned(),
        since: NOW.parse().unwrap(),
    };
    world.observed.connection = Ok(Some(at(&address)));
    world.look();
    world.observed.connection = Ok(Some(at("img-catalog.ns.svc:50051")));
    assert!(world.converge().is_empty());
    let status = world.status();
    assert_eq!(status.registry_service.unwrap().service_name.as_deref(), Some("img-catalog"));
    let address = status.connection_state.unwrap().address;
    assert_eq!(address.as_deref(), Some("img-catalog.ns.svc:50051"));
}

#[test]
fn what_cannot_be_built_is_reported_and_waits_for_the_spec() {
    let mut world = of_image();
    world.set_spec(json!({"grpcPodConfig": {"memoryTarget": "much"}}));
    let (writes, conclusion) = world.look();
    assert_eq!((writes.len(), conclusion.error), (0, None));
    let message = world.status().message.unwrap();
    assert!(message.starts_with(
        "couldn't ensure registry server - spec.grpcPodConfig.memoryTarget: \"much\""
    ));
}

#[test]
fn a_pod_that_does_not_come_up_says_why() {
    let mut world = of_image();
    world.converge();
    let state = |state: &str| Connection {
        address: "img-catalog.ns.svc:50051".to_owned(),
        state: state.to_owned(),
        since: NOW.parse().unwrap(),
    };
    world.observed.connection = Ok(Some(state("TRANSIENT_FAILURE")));
    let waiting = json!({"waiting": {"reason": "ErrImagePull", "message": "not found"}});
    let container = json!({"name": "registry-server", "image": IMAGE, "state": waiting,
        "imageID": "", "ready": false, "restartCount": 0});
    world.change("Pod", "img-catalog-4", json!({"status": {"containerStatuses": [container]}}));
    assert!(world.converge().is_empty());
    let [condition] = world.status().conditions.try_into().unwrap();
    assert_eq!(condition.reason, "RegistryPodFailing");
    assert_eq!(
        condition.message,
        "container registry-server of Pod img-catalog-4 cannot pull its \
        image quay.io/a/catalog:v1: see whether it exists, and spec.secrets; nothing was read before, so \
        none of its packages can be chosen"
    );
    world.runs("img-catalog-4", "r@sha256:new");
    world.observed.connection = Ok(Some(state("READY")));
    world.look();
    assert!(world.status().conditions.is_empty());
}
