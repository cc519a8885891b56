//! What a cluster held when a scenario failed: objects, events and logs.
//!
//! Whatever cannot be read is said in its place: evidence that is incomplete is better than none.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::{Event, Pod};
use kube::api::{Api, ListParams, LogParams};
use kube::{Client, ResourceExt};

use super::{Provider, TestContext};
use crate::dump::{self, Kinds};

/// The last bytes of a container's log that are kept.
const ENOUGH: i64 = 2 << 20;

/// Writes everything into a folder.
pub(super) async fn collect(ctx: &TestContext, provider: &dyn Provider, folder: &Path) {
    let reported = |result: Result<String>| result.unwrap_or_else(|error| format!("{error:#}\n"));
    let client = &ctx.client;
    let logs = provider.logs().await.into_iter();
    let mut files: Vec<_> = logs.map(|(name, log)| (format!("olm-{name}.log"), log)).collect();
    for (namespace, end) in namespaces(ctx, provider) {
        let namespace = namespace.as_str();
        files.push((format!("objects{end}.yaml"), reported(objects(client, namespace).await)));
        files.push((format!("events{end}.txt"), reported(events(client, namespace).await)));
        let logs = pod_logs(client, namespace, "").await;
        let logs =
            logs.unwrap_or_else(|error| vec![(format!("pods{end}"), format!("{error:#}\n"))]);
        files.extend(logs.into_iter().map(|(name, log)| (format!("{name}.log"), log)));
    }
    if let Err(error) = write(folder, &files) {
        eprintln!("what is known about a failure cannot be kept: {error:#}");
    }
}

/// The namespaces that a scenario has to do with, and how names of files about them end.
fn namespaces(ctx: &TestContext, provider: &dyn Provider) -> Vec<(String, String)> {
    let own = [ctx.namespace.clone()].into_iter().chain(provider.beside(&ctx.namespace));
    let own = own.map(|namespace| {
        let end = namespace.strip_prefix(&ctx.namespace).unwrap_or_default().to_owned();
        (namespace, end)
    });
    let olm = ctx.facts().olm_namespace.clone().map(|namespace| (namespace, "-olm".to_owned()));
    own.chain(olm).collect()
}

/// The logs of every container of a namespace's Pods with these labels, by Pod and container. A
/// container that was started again has its earlier log, too.
pub(super) async fn pod_logs(
    client: &Client,
    namespace: &str,
    labels: &str,
) -> Result<Vec<(String, String)>> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let list =
        pods.list(&ListParams::default().labels(labels)).await.context("cannot list Pods")?;
    let mut logs = Vec::new();
    for (pod, container) in list.iter().flat_map(containers) {
        for (previous, end) in [(true, "-previous"), (false, "")] {
            let log = log(&pods, &pod, &container, previous).await;
            logs.extend(log.map(|log| (format!("{pod}-{container}{end}"), log)));
        }
    }
    Ok(logs)
}

/// The names of a Pod and of each of its containers.
fn containers(pod: &Pod) -> Vec<(String, String)> {
    let containers = pod.spec.iter().flat_map(|spec| &spec.containers);
    containers.map(|container| (pod.name_any(), container.name.clone())).collect()
}

/// Nothing where a container did not run before.
async fn log(pods: &Api<Pod>, pod: &str, container: &str, previous: bool) -> Option<String> {
    let params = LogParams {
        container: Some(container.to_owned()),
        limit_bytes: Some(ENOUGH),
        previous,
        ..LogParams::default()
    };
    match pods.logs(pod, &params).await {
        Ok(log) => Some(log),
        Err(_) if previous => None,
        Err(error) => Some(format!("{error}\n")),
    }
}

async fn objects(client: &Client, namespace: &str) -> Result<String> {
    let kinds = Kinds::discover(client).await?;
    let mut objects = kinds.objects_in(client, namespace).await?;
    for object in &mut objects {
        // A report may be shown to others.
        if object["kind"] == "Secret" {
            object["data"] = "not shown".into();
        }
    }
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let pods = pods.list(&ListParams::default()).await.context("cannot list Pods")?;
    let documents = objects.iter().map(dump::yaml).chain(pods.iter().map(dump::yaml));
    Ok(documents.map(|document| format!("---\n{document}")).collect())
}

async fn events(client: &Client, namespace: &str) -> Result<String> {
    let events: Api<Event> = Api::namespaced(client.clone(), namespace);
    let mut list = events.list(&ListParams::default()).await.context("cannot list events")?.items;
    list.sort_by_key(|event| event.last_timestamp.clone());
    let lines = list.iter().map(|event| {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let about = &event.involved_object;
        let time = event.last_timestamp.as_ref().map(|time| time.0.to_string());
        format!(
            "{} {} {} {}: {}\n",
            time.unwrap_or_default(),
            text(&about.kind),
            text(&about.name),
            text(&event.reason),
            text(&event.message)
        )
    });
    Ok(lines.collect())
}

fn write(folder: &Path, files: &[(String, String)]) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for (name, content) in files {
        let path = folder.join(name);
        fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
