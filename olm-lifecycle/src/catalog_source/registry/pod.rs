//! The Pod of a registry server, as v0's common builder makes it (spec catalog-operator 1.4).

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    Container, ContainerPort, EnvVar, GRPCAction, LocalObjectReference, Pod, PodSpec, Probe,
    ResourceRequirements,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_core::ResourceExt;
use olm_types::api::{CatalogSource, GrpcPodConfig};
use olm_types::hash::go_json::EncodeError;
use olm_types::hash::{self, QuantityError};
use olm_types::{annotations, labels};
use serde_json::Value;
use thiserror::Error;

use super::security::{self, read_only};
use super::{PORT, Settings, extract, memory};

/// A container that ends without a message is explained by the end of its log.
pub(super) const FALLBACK_TO_LOGS: &str = "FallbackToLogsOnError";
/// Shape of a Pod's spec, for Go-compatible JSON.
const SHAPE: &str = "core/v1.PodSpec";
/// Seconds that an answer to a probe may take.
const PROBE_TIMEOUT: i32 = 5;

/// Why no Pod can be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PodError {
    /// The spec is not one that the API server would take.
    #[error("spec.grpcPodConfig: {0}")]
    Spec(#[from] EncodeError),
    /// The memory target is no quantity.
    #[error("spec.grpcPodConfig.memoryTarget: {0}")]
    MemoryTarget(QuantityError),
    /// The operator does not know an image for catalogs in ConfigMaps.
    #[error("no image for registry")]
    NoImage,
}

/// What the Pod is made of.
pub(super) struct Inputs<'a> {
    pub(super) catalog: &'a CatalogSource,
    pub(super) settings: &'a Settings,
    /// Name of the container.
    pub(super) container: &'a str,
    /// Image of the container, or of the catalog that is taken out of it.
    pub(super) image: &'a str,
    /// Name of the ServiceAccount.
    pub(super) account: Option<&'a str>,
    /// Pull secrets of the ServiceAccount.
    pub(super) pull_secrets: &'a [LocalObjectReference],
    pub(super) labels: BTreeMap<String, String>,
    /// Seconds before the first readiness probe.
    pub(super) readiness_delay: i32,
    /// Seconds before the first liveness probe.
    pub(super) liveness_delay: i32,
    /// Whether the namespace asks for restricted Pods.
    pub(super) restricted: bool,
}

/// The Pod, without owner. Its hash label covers everything in its spec.
pub(super) fn build(inputs: &Inputs<'_>) -> Result<Pod, PodError> {
    let spec = spec(inputs)?;
    let value = serde_json::to_value(&spec).unwrap_or(Value::Null);
    let hash = hash::deep_hash(&hash::go_json::encode(SHAPE, &value)?);
    let mut all = inputs.labels.clone();
    all.insert(labels::POD_SPEC_HASH.to_owned(), hash);
    let mut notes = inputs.catalog.annotations().clone();
    notes.insert(annotations::SAFE_TO_EVICT.to_owned(), "true".to_owned());
    let metadata = ObjectMeta {
        generate_name: Some(format!("{}-", inputs.catalog.name_any())),
        namespace: inputs.catalog.namespace(),
        labels: Some(all),
        annotations: Some(notes),
        ..ObjectMeta::default()
    };
    Ok(Pod { metadata, spec: Some(spec), status: None })
}

/// The pull policy that v0 gives an image: a digest never changes, a tag may.
pub(crate) fn pull_policy(image: &str) -> &'static str {
    if image.contains('@') { "IfNotPresent" } else { "Always" }
}

fn spec(inputs: &Inputs<'_>) -> Result<PodSpec, PodError> {
    let catalog = inputs.catalog;
    let mut pod = plain(inputs);
    if let Some(config) = &catalog.spec.grpc_pod_config {
        configure(&mut pod, config)?;
        if let Some(content) = &config.extract_content {
            extract::apply(&mut pod, inputs.image, content, inputs.settings);
        }
    }
    security::apply(&mut pod, catalog, inputs.restricted, inputs.settings.user);
    let class = catalog.annotations().get(annotations::PRIORITY_CLASS);
    if let Some(class) = class.filter(|class| !class.is_empty()) {
        pod.priority_class_name = Some(class.clone());
    }
    Ok(pod)
}

fn plain(inputs: &Inputs<'_>) -> PodSpec {
    let linux = BTreeMap::from([("kubernetes.io/os".to_owned(), "linux".to_owned())]);
    let secrets = inputs.pull_secrets;
    PodSpec {
        containers: vec![container(inputs)],
        node_selector: Some(linux),
        service_account_name: inputs.account.map(str::to_owned),
        image_pull_secrets: (!secrets.is_empty()).then(|| secrets.to_vec()),
        ..PodSpec::default()
    }
}

fn container(inputs: &Inputs<'_>) -> Container {
    let request = |resource: &str, amount: &str| (resource.to_owned(), Quantity(amount.to_owned()));
    Container {
        name: inputs.container.to_owned(),
        image: Some(inputs.image.to_owned()),
        image_pull_policy: Some(pull_policy(inputs.image).to_owned()),
        ports: Some(vec![ContainerPort {
            name: Some("grpc".to_owned()),
            container_port: i32::from(PORT),
            ..ContainerPort::default()
        }]),
        resources: Some(ResourceRequirements {
            requests: Some([request("cpu", "10m"), request("memory", "50Mi")].into()),
            ..ResourceRequirements::default()
        }),
        readiness_probe: Some(probe(inputs.readiness_delay)),
        liveness_probe: Some(probe(inputs.liveness_delay)),
        startup_probe: Some(Probe {
            failure_threshold: Some(15),
            period_seconds: Some(10),
            ..probe(0)
        }),
        termination_message_policy: Some(FALLBACK_TO_LOGS.to_owned()),
        security_context: Some(read_only(false)),
        ..Container::default()
    }
}

fn probe(delay: i32) -> Probe {
    Probe {
        grpc: Some(GRPCAction { port: i32::from(PORT), service: None }),
        initial_delay_seconds: (delay > 0).then_some(delay),
        timeout_seconds: Some(PROBE_TIMEOUT),
        ..Probe::default()
    }
}

/// Takes over what a CatalogSource says about its Pod; each of these replaces the default wholly.
fn configure(pod: &mut PodSpec, config: &GrpcPodConfig) -> Result<(), PodError> {
    if let Some(selector) = &config.node_selector {
        pod.node_selector = (!selector.is_empty()).then(|| selector.clone());
    }
    if config.priority_class_name.is_some() {
        pod.priority_class_name.clone_from(&config.priority_class_name);
    }
    if !config.tolerations.is_empty() {
        pod.tolerations = Some(config.tolerations.clone());
    }
    if config.affinity.is_some() {
        pod.affinity.clone_from(&config.affinity);
    }
    if let Some(target) = &config.memory_target {
        let limit = memory::go_limit(&target.0).map_err(PodError::MemoryTarget)?;
        pod.containers.iter_mut().for_each(|container| target_memory(container, target, &limit));
    }
    Ok(())
}

fn target_memory(container: &mut Container, target: &Quantity, limit: &str) {
    let resources = container.resources.get_or_insert_default();
    resources.requests.get_or_insert_default().insert("memory".to_owned(), target.clone());
    container.env.get_or_insert_default().push(EnvVar {
        name: "GOMEMLIMIT".to_owned(),
        value: Some(limit.to_owned()),
        ..EnvVar::default()
    });
}
