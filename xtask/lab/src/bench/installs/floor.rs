//! The same objects by a plain client, which knows them all before it begins.
//!
//! What an operator of ours had created when the last CSV had succeeded is written first, and only that is waited for;
//! what it creates later, copies for example, follows. CRDs go first and all at once, because the API server takes
//! longest for them; then what Pods need, then Deployments, then everything else, roles before what aggregates them.
//! The owners of objects and their statuses are left out: the owners would be others, and what follows from a status
//! is not waited for.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures::{StreamExt, TryStreamExt, stream, try_join};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DynamicObject, PostParams};
use kube::{Client, Resource};
use olm_testkit::audit::AuditLog;
use olm_testkit::fixture::{Fixture, FixturePaths};
use olm_testkit::progress::Progress;
use olm_testkit::wait;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::play::{LeftObjects, NAMESPACE};
use super::writes::is_counted;

/// How often it is measured.
const TIMES: usize = 3;

/// Requests at a time.
const AT_ONCE: usize = 64;

/// Rest after which everything has converged.
const QUIET: Duration = Duration::from_secs(5);

/// What users wrote, and what Kubernetes makes of other objects.
const NOT_WRITTEN: [&str; 3] = ["ControllerRevision", "ReplicaSet", "Subscription"];

/// Kinds in the order in which they are written; all others follow.
const FIRST: [&str; 6] =
    ["CustomResourceDefinition", "ServiceAccount", "Secret", "ConfigMap", "Deployment", "Service"];

/// Fields of `metadata` that belong to the object in the other cluster.
const OF_THE_OTHER: [&str; 7] = [
    "creationTimestamp",
    "finalizers",
    "generation",
    "managedFields",
    "ownerReferences",
    "resourceVersion",
    "uid",
];

/// What writing them took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Floor {
    /// How many objects.
    pub(super) objects: usize,
    /// Of them, those that were there when all CSVs had succeeded.
    first: usize,
    /// Of them, CRDs and Deployments.
    waited_for: [usize; 2],
    /// Until the last answer of the API server.
    written: Duration,
    /// Until the first are written, all CRDs are Established and all Deployments Available.
    pub(super) ready: Duration,
    /// Writes of all callers until nothing more is written.
    pub(super) writes: usize,
}

impl fmt::Display for Floor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [definitions, deployments] = self.waited_for;
        write!(
            f,
            "floor: {} objects written in {:.2} s; those {} that come before success, {definitions} CRDs \
             Established and {deployments} Deployments Available after {:.2} s; {} writes of all callers",
            self.objects,
            self.written.as_secs_f64(),
            self.first,
            self.ready.as_secs_f64(),
            self.writes
        )
    }
}

/// Measures it a few times, prints each, and gives that in the middle: the API server alone takes up to twice as long in
/// one cluster as in the next.
pub(super) async fn median(left: &LeftObjects, binaries: &Path) -> Result<Floor> {
    let mut all = Vec::new();
    for _ in 0..TIMES {
        let floor = measure(left.clone(), binaries).await?;
        println!("{floor}");
        all.push(floor);
    }
    all.sort_by_key(|floor| floor.ready);
    Ok(all[TIMES / 2])
}

/// Writes the objects into a cluster of its own and waits.
async fn measure(left: LeftObjects, binaries: &Path) -> Result<Floor> {
    let places = FixturePaths::of(binaries, None);
    let fixture = Fixture::start("floor", &places, Progress::to_stderr()).await?;
    let measured = counted(&fixture, left).await;
    fixture.end().await.and(measured)
}

async fn counted(fixture: &Fixture, left: LeftObjects) -> Result<Floor> {
    let mut audit = fixture.audit();
    audit.skip()?;
    let written = write(&fixture.client, left).await?;
    Ok(Floor { writes: writes(audit).await?, ..written })
}

async fn write(client: &Client, left: LeftObjects) -> Result<Floor> {
    let objects = plan(&left);
    let first = objects.iter().filter(|object| left.is_before_success(object)).count();
    let names = ["CustomResourceDefinition", "Deployment"].map(|kind| names(&objects, kind));
    ensure!(!names[1].is_empty(), "the install left no Deployment");
    let mut requests = Vec::new();
    for object in &objects {
        let kind = text(object, "/kind");
        let resource = left.kinds.get(kind).with_context(|| format!("{kind} is not served"))?;
        let request = request(resource, object)?;
        requests.push(async move { create(client, request, object).await });
    }
    let started = Instant::now();
    let writing = async {
        let mut answers = stream::iter(requests).buffered(AT_ONCE);
        answers.by_ref().take(first).try_collect::<()>().await?;
        let needed = started.elapsed();
        answers.try_collect::<()>().await?;
        Ok([needed, started.elapsed()])
    };
    let waiting = async { until_ready(client, &names).await.map(|()| started.elapsed()) };
    let ([needed, written], ready) = try_join!(writing, waiting)?;
    let (waited_for, ready) = (names.each_ref().map(Vec::len), ready.max(needed));
    Ok(Floor { objects: objects.len(), first, waited_for, written, ready, writes: 0 })
}

/// Waits until nothing more is written, and counts writes of all callers.
async fn writes(mut audit: AuditLog) -> Result<usize> {
    let (mut all, deadline) = (0, Instant::now() + wait::TIMEOUT);
    loop {
        sleep(QUIET).await;
        let new = audit.all_writes()?.iter().filter(|write| is_counted(write)).count();
        ensure!(Instant::now() < deadline, "there is no end of writes");
        match new {
            0 => return Ok(all),
            _ => all += new,
        }
    }
}

/// The request that creates an object. It is made before the time begins: this program is not compiled for speed.
fn request(resource: &ApiResource, object: &Value) -> Result<http::Request<Vec<u8>>> {
    let namespace = text(object, "/metadata/namespace");
    let namespace = (!namespace.is_empty()).then_some(namespace);
    let path = DynamicObject::url_path(resource, namespace);
    let body = serde_json::to_vec(object)?;
    Ok(kube::core::Request::new(path).create(&PostParams::default(), body)?)
}

/// The answer is not read further than its status, for the same reason.
async fn create(client: &Client, request: http::Request<Vec<u8>>, object: &Value) -> Result<()> {
    let answer = client.request_text(request).await;
    let refused = || format!("the API server refuses {}", text(object, "/metadata/name"));
    answer.map(drop).with_context(refused)
}

/// The last of them is ready when all are: the time until then is what is measured.
async fn until_ready(client: &Client, [definitions, deployments]: &[Vec<String>; 2]) -> Result<()> {
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    for name in definitions {
        let is_established = |crd: &CustomResourceDefinition| {
            let conditions = crd.status.as_ref().and_then(|status| status.conditions.as_ref());
            conditions.into_iter().flatten().any(|c| c.type_ == "Established" && c.status == "True")
        };
        wait::until(&crds, name, "be established", is_established).await?;
    }
    let api: Api<Deployment> = Api::namespaced(client.clone(), NAMESPACE);
    for name in deployments {
        let is_available = |deployment: &Deployment| {
            let conditions = deployment.status.as_ref().and_then(|one| one.conditions.as_ref());
            conditions.into_iter().flatten().any(|c| c.type_ == "Available" && c.status == "True")
        };
        wait::until(&api, name, "be available", is_available).await?;
    }
    Ok(())
}

/// What is written, in its order.
fn plan(left: &LeftObjects) -> Vec<Value> {
    let is_written = |object: &&Value| !NOT_WRITTEN.contains(&text(object, "/kind"));
    let mut objects: Vec<Value> = left.objects.iter().filter(is_written).cloned().collect();
    objects
        .sort_by_cached_key(|object| (!left.is_before_success(object), rank(object), key(object)));
    objects.iter_mut().for_each(strip);
    objects
}

fn rank(object: &Value) -> usize {
    let kind = text(object, "/kind");
    let first = FIRST.iter().position(|known| *known == kind).unwrap_or(FIRST.len());
    first + usize::from(object.get("aggregationRule").is_some())
}

/// The same order in each run.
fn key(object: &Value) -> [String; 3] {
    ["/kind", "/metadata/namespace", "/metadata/name"].map(|path| text(object, path).to_owned())
}

fn strip(object: &mut Value) {
    remove(object, "/metadata", &OF_THE_OTHER);
    remove(object, "/spec", &["clusterIP", "clusterIPs"]);
    remove(object, "", &["status"]);
    if object.get("aggregationRule").is_some() {
        remove(object, "", &["rules"]);
    }
}

fn remove(object: &mut Value, place: &str, fields: &[&str]) {
    if let Some(Value::Object(found)) = object.pointer_mut(place) {
        fields.iter().for_each(|field| drop(found.remove(*field)));
    }
}

fn names(objects: &[Value], kind: &str) -> Vec<String> {
    let of_kind = objects.iter().filter(|object| text(object, "/kind") == kind);
    of_kind.map(|object| text(object, "/metadata/name").to_owned()).collect()
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use kube::api::GroupVersionKind;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_takes_longest_is_written_first_and_aggregates_last() {
        let object = |kind: &str, name: &str| json!({"kind": kind, "metadata": {"name": name, "uid": "1", "labels": {"a": "b"}}});
        let mut aggregate = object("ClusterRole", "a");
        aggregate["aggregationRule"] = json!({});
        aggregate["rules"] = json!([{"verbs": ["get"]}]);
        let mut service = object("Service", "s");
        service["spec"] = json!({"clusterIP": "127.0.0.1", "ports": []});
        let objects = vec![
            aggregate,
            object("Subscription", "s"),
            object("ClusterRole", "b"),
            object("ReplicaSet", "r"),
            object("Deployment", "d"),
            service,
            object("ServiceAccount", "a"),
            object("ConfigMap", "later"),
            object("CustomResourceDefinition", "c"),
        ];
        let resource = |kind: &str| {
            let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", kind));
            (kind.to_owned(), resource)
        };
        let kinds = objects.iter().map(|object| resource(text(object, "/kind"))).collect();
        let mut left = LeftObjects { objects, kinds, ..LeftObjects::default() };
        let first = [
            "clusterroles a",
            "clusterroles b",
            "deployments d",
            "services s",
            "serviceaccounts a",
            "customresourcedefinitions c",
        ];
        left.before_success = first.map(str::to_owned).into();
        let all = plan(&left);
        let order: Vec<String> = all.iter().map(|object| key(object).concat()).collect();
        let wanted = [
            "CustomResourceDefinitionc",
            "ServiceAccounta",
            "Deploymentd",
            "Services",
            "ClusterRoleb",
            "ClusterRolea",
            "ConfigMaplater",
        ];
        assert_eq!(order, wanted);
        assert_eq!(all[0]["metadata"], json!({"name": "c", "labels": {"a": "b"}}));
        assert_eq!(all[3]["spec"], json!({"ports": []}));
        assert_eq!(all[5].get("rules"), None, "Kubernetes fills them in");
    }
}
