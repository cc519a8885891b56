//! The Pod of an unpack Job.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    Capabilities, ConfigMap, Container, EmptyDirVolumeSource, EnvVar, LocalObjectReference,
    PodSecurityContext, PodSpec, ResourceRequirements, SeccompProfile, SecurityContext, Toleration,
    Volume, VolumeMount,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube_core::ResourceExt;

use super::{Images, Order};
use crate::catalog_source::registry::pull_policy;

/// Volume with the copy of the bundle.
const BUNDLE: &str = "bundle";
/// Volume with the copying program.
const UTIL: &str = "util";
/// Says to `opm` which image the bundle is from.
const IMAGE_VARIABLE: &str = "CONTAINER_IMAGE";
/// Nodes of every architecture that bundles are for may be tainted with it.
const ARCHITECTURES: [&str; 4] = ["amd64", "arm64", "ppc64le", "s390x"];
/// How long the Pod stays on a node that is not there, in seconds.
const TIMEOUT: i64 = 120;

pub(super) fn spec(config_map: &ConfigMap, order: &Order, images: &Images) -> PodSpec {
    let secrets = order.secrets.iter().map(|name| LocalObjectReference { name: name.clone() });
    let secrets: Vec<_> = secrets.collect();
    PodSpec {
        containers: vec![extract(config_map, order, images)],
        image_pull_secrets: Some(secrets).filter(|secrets| !secrets.is_empty()),
        init_containers: Some(vec![util(images), pull(order)]),
        node_selector: Some(BTreeMap::from([("kubernetes.io/os".to_owned(), "linux".to_owned())])),
        restart_policy: Some("Never".to_owned()),
        security_context: Some(security(images)),
        service_account_name: Some(config_map.name_any()),
        tolerations: Some(tolerations()),
        volumes: Some(vec![volume(BUNDLE), volume(UTIL)]),
        ..PodSpec::default()
    }
}

/// Brings the copying program.
fn util(images: &Images) -> Container {
    Container {
        command: words(&["/bin/cp", "-Rv", "/bin/cpb", "/util/cpb"]),
        ..container(UTIL, &images.util, &[UTIL])
    }
}

/// Copies the bundle out of its own image.
fn pull(order: &Order) -> Container {
    Container {
        command: words(&["/util/cpb", "/bundle"]),
        image_pull_policy: Some(pull_policy(&order.image).to_owned()),
        ..container("pull", &order.image, &[BUNDLE, UTIL])
    }
}

/// Writes the copy into the ConfigMap.
fn extract(config_map: &ConfigMap, order: &Order, images: &Images) -> Container {
    let namespace = config_map.namespace().unwrap_or_default();
    let name = config_map.name_any();
    let command = [
        "opm", "alpha", "bundle", "extract", "-m", "/bundle/", "-n", &namespace, "-c", &name, "-z",
    ];
    let image = EnvVar {
        name: IMAGE_VARIABLE.to_owned(),
        value: Some(order.image.clone()),
        ..EnvVar::default()
    };
    Container {
        command: words(&command),
        env: Some(vec![image]),
        ..container("extract", &images.opm, &[BUNDLE])
    }
}

/// What all three have in common.
fn container(name: &str, image: &str, volumes: &[&str]) -> Container {
    let mount = |volume: &&str| VolumeMount {
        name: (*volume).to_owned(),
        mount_path: format!("/{volume}"),
        ..VolumeMount::default()
    };
    let requests = [("cpu", "10m"), ("memory", "50Mi")]
        .map(|(resource, amount)| (resource.to_owned(), Quantity(amount.to_owned())));
    Container {
        name: name.to_owned(),
        image: Some(image.to_owned()),
        resources: Some(ResourceRequirements {
            requests: Some(requests.into()),
            ..ResourceRequirements::default()
        }),
        security_context: Some(SecurityContext {
            allow_privilege_escalation: Some(false),
            capabilities: Some(Capabilities {
                drop: Some(vec!["ALL".to_owned()]),
                ..Capabilities::default()
            }),
            read_only_root_filesystem: Some(true),
            ..SecurityContext::default()
        }),
        termination_message_policy: Some("FallbackToLogsOnError".to_owned()),
        volume_mounts: Some(volumes.iter().map(mount).collect()),
        ..Container::default()
    }
}

fn security(images: &Images) -> PodSecurityContext {
    let user = images.user.filter(|user| *user > 0);
    PodSecurityContext {
        run_as_non_root: user.map(|_| true),
        run_as_user: user,
        seccomp_profile: Some(SeccompProfile {
            type_: "RuntimeDefault".to_owned(),
            ..SeccompProfile::default()
        }),
        ..PodSecurityContext::default()
    }
}

fn tolerations() -> Vec<Toleration> {
    let architecture = |name: &str| Toleration {
        key: Some("kubernetes.io/arch".to_owned()),
        operator: Some("Equal".to_owned()),
        value: Some(name.to_owned()),
        ..Toleration::default()
    };
    let exists = |key: &str, effect: &str, seconds: Option<i64>| Toleration {
        key: Some(key.to_owned()),
        operator: Some("Exists".to_owned()),
        effect: Some(effect.to_owned()),
        toleration_seconds: seconds,
        ..Toleration::default()
    };
    let nodes = [
        exists("node-role.kubernetes.io/master", "NoSchedule", None),
        exists("node.kubernetes.io/unreachable", "NoExecute", Some(TIMEOUT)),
        exists("node.kubernetes.io/not-ready", "NoExecute", Some(TIMEOUT)),
    ];
    ARCHITECTURES.map(architecture).into_iter().chain(nodes).collect()
}

fn volume(name: &str) -> Volume {
    Volume {
        name: name.to_owned(),
        empty_dir: Some(EmptyDirVolumeSource::default()),
        ..Volume::default()
    }
}

fn words(words: &[&str]) -> Option<Vec<String>> {
    Some(words.iter().map(|word| (*word).to_owned()).collect())
}
