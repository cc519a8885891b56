//! Builders of what is in the catalog's namespace.

use k8s_openapi::api::batch::v1::{Job, JobCondition, JobStatus};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use olm_types::api::{BundleLookup, CatalogSource};
use olm_types::bundle::{BundleContent, CatalogKey, Deprecations, Entry, Property};
use olm_types::hash::unpack_name;
use serde_json::{Value, json};

use super::job::{Images, Order, job};
use super::*;
use crate::install_plan::steps::bundle_lookup;

pub(super) fn catalog() -> CatalogSource {
    let object = json!({
        "metadata": {"name": "src-a", "namespace": "ns-a", "uid": "uid-src-a"},
        "spec": {"sourceType": "grpc", "secrets": ["my-secret"]},
    });
    serde_json::from_value(object).unwrap()
}

/// The ConfigMap as the API server has it.
pub(super) fn config_map() -> ConfigMap {
    let mut config_map = objects::config_map(&catalog(), &unpack_name(IMAGE));
    config_map.metadata.uid = Some("uid-cm".to_owned());
    config_map
}

pub(super) fn images() -> Images {
    Images { opm: "opm-image".to_owned(), util: "util-image".to_owned(), user: Some(1001) }
}

pub(super) fn order() -> Order {
    Order {
        image: IMAGE.to_owned(),
        secrets: vec!["my-secret".to_owned()],
        timeout: Some(Duration::from_secs(120)),
    }
}

pub(super) fn wanted() -> Job {
    job(&config_map(), &order(), &images())
}

/// A Job of the bundle as the API server has it, with more than was asked for.
pub(super) fn live(name: &str, created: i64) -> Job {
    let mut job = wanted();
    job.metadata.name = Some(name.to_owned());
    job.metadata.uid = Some(format!("uid-{name}"));
    job.metadata.creation_timestamp = Some(Time(at(created)));
    let spec = job.spec.as_mut().unwrap();
    spec.parallelism = Some(1);
    let template = spec.template.metadata.as_mut().unwrap();
    template.labels.get_or_insert_default().insert("job-name".to_owned(), name.to_owned());
    job
}

pub(super) fn with_condition(mut job: Job, kind: &str, reason: &str, since: i64) -> Job {
    let condition = JobCondition {
        type_: kind.to_owned(),
        status: "True".to_owned(),
        reason: Some(reason.to_owned()),
        message: Some(format!("{reason} message")),
        last_transition_time: Some(Time(at(since))),
        ..JobCondition::default()
    };
    job.status = Some(JobStatus { conditions: Some(vec![condition]), ..JobStatus::default() });
    job
}

/// A Job that failed at that second.
pub(super) fn failed(name: &str, second: i64) -> Job {
    with_condition(live(name, second - 1), "Failed", "BackoffLimitExceeded", second)
}

/// A Pod of the Job `job`.
pub(super) fn pod(job: &str, status: Value) -> Arc<Pod> {
    let object = json!({
        "metadata": {"name": format!("{job}-pod"), "namespace": "ns-a", "labels": {"job-name": job}},
        "status": status,
    });
    Arc::new(serde_json::from_value(object).unwrap())
}

pub(super) fn entry(name: &str) -> Arc<Entry> {
    let value = json!({"packageName": "a", "version": "1.0.0"}).to_string();
    Arc::new(Entry {
        name: name.into(),
        package: "a".into(),
        channel: "stable".into(),
        catalog: CatalogKey::new("ns-a", "src-a"),
        version: None,
        replaces: None,
        skips: Vec::new(),
        skip_range: None,
        in_default_channel: true,
        properties: [Property { kind: "olm.package".into(), value: value.into() }].into(),
        content: BundleContent::Image(IMAGE.into()),
        deprecations: Deprecations::default(),
    })
}

pub(super) fn lookup() -> BundleLookup {
    bundle_lookup(&entry("a.v1"), IMAGE, Some("a.v0")).unwrap()
}

/// What the image of [`entry`] holds.
pub(super) fn bundle(name: &str) -> UnpackedBundle {
    let csv = json!({
        "apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
        "metadata": {"name": name}, "spec": {"replaces": "other"},
    });
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "conf"}});
    UnpackedBundle {
        csv_name: name.to_owned(),
        csv_json: csv.to_string(),
        objects: vec![csv.to_string(), config.to_string()],
    }
}
