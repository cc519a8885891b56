//! The Job that unpacks a bundle image (spec catalog-operator 5).
//!
//! Its Pod has three containers: one brings a copying program, one runs that program inside the
//! bundle image, the last writes what was copied into the ConfigMap.

mod pod;

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::batch::v1::{Job, JobSpec};
use k8s_openapi::api::core::v1::{ConfigMap, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_core::ResourceExt;
use olm_types::labels::{BUNDLE_UNPACK_REF, MANAGED, MANAGED_VALUE};

use super::objects;

/// How long a finished Job stays, in seconds: with it goes the memory of its failure, so that the
/// bundle is tried again.
const KEPT_SECONDS: i32 = 300;

/// How often its Pod may fail: about a minute with the pauses between.
const PODS: i32 = 3;

/// What every unpack Job of this operator has in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Images {
    /// Has `opm` (`--opmImage`).
    pub opm: String,
    /// Has `/bin/cp` and `/bin/cpb` (`--util-image`).
    pub util: String,
    /// User of all containers (`--set-workload-user-id`); nothing to leave it to the images.
    pub user: Option<i64>,
}

/// What is unpacked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// The bundle image.
    pub image: String,
    /// Names of pull secrets, in the order of the CatalogSource.
    pub secrets: Vec<String>,
    /// How long it may take; nothing for no limit.
    pub timeout: Option<Duration>,
}

/// The Job that unpacks `order` into the ConfigMap, whose name it has.
pub fn job(config_map: &ConfigMap, order: &Order, images: &Images) -> Job {
    let name = config_map.name_any();
    let labels = labels(&name);
    let template = PodTemplateSpec {
        metadata: Some(ObjectMeta {
            name: Some(name),
            labels: Some(labels.clone()),
            ..ObjectMeta::default()
        }),
        spec: Some(pod::spec(config_map, order, images)),
    };
    Job {
        metadata: ObjectMeta { labels: Some(labels), ..objects::owned(config_map) },
        spec: Some(JobSpec {
            active_deadline_seconds: order.timeout.map(whole_seconds),
            backoff_limit: Some(PODS),
            template,
            ttl_seconds_after_finished: Some(KEPT_SECONDS),
            ..JobSpec::default()
        }),
        status: None,
    }
}

/// The same Job under a name that the API server makes of it, for one more try.
pub fn another(job: Job) -> Job {
    let metadata =
        ObjectMeta { generate_name: job.metadata.name.clone(), name: None, ..job.metadata.clone() };
    Job { metadata, ..job }
}

fn labels(name: &str) -> BTreeMap<String, String> {
    BTreeMap::from([
        (MANAGED.to_owned(), MANAGED_VALUE.to_owned()),
        (BUNDLE_UNPACK_REF.to_owned(), name.to_owned()),
    ])
}

fn whole_seconds(time: Duration) -> i64 {
    i64::try_from(time.as_secs()).unwrap_or(i64::MAX)
}
