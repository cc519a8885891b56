//! A recording, put into a cluster.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt};
use serde_json::{Value, json};

use super::certificate::{fresh, renamed};
use super::{ADDRESS, text};
use crate::deploy::api_of;
use crate::operators::OLM_NAMESPACE;
use crate::wait;

/// The Service of v0's package server.
const SERVICE: &str = "packageserver-service";

/// Creates the objects, each after its owners, and then gives them what names others: labels, owners
/// and status. Kinds of OLM are served already; the catalog is at `address`.
///
/// # Errors
/// The API server refuses an object; the message names it.
pub async fn restore(client: &Client, recorded: Vec<Value>, address: &str) -> Result<()> {
    let mut names: Vec<(String, String)> = vec![(ADDRESS.to_owned(), address.to_owned())];
    names.extend(fresh(SERVICE, OLM_NAMESPACE)?);
    let known: BTreeSet<String> = recorded.iter().map(uid).collect();
    let mut made = BTreeMap::new();
    let mut left = recorded.clone();
    while !left.is_empty() {
        let (ready, rest): (Vec<_>, Vec<_>) = left.into_iter().partition(|object| {
            owners(object).all(|uid| made.contains_key(uid) || !known.contains(uid))
        });
        if ready.is_empty() {
            bail!("owners of {} objects own each other", rest.len());
        }
        for object in ready {
            let created = create(client, &object, &names).await?;
            names.push((uid(&object), created.clone()));
            made.insert(uid(&object), created);
        }
        left = rest;
    }
    for object in &recorded {
        complete(client, &renamed(object, &names)?).await?;
    }
    Ok(())
}

/// Creates an object and returns its new uid.
async fn create(client: &Client, object: &Value, names: &[(String, String)]) -> Result<String> {
    let mut object = renamed(object, names)?;
    let metadata = object.pointer_mut("/metadata").and_then(Value::as_object_mut);
    let metadata = metadata.context("an object without metadata")?;
    // Labels may name objects that are not there yet; they follow with the status.
    ["annotations", "labels", "uid"].iter().for_each(|field| drop(metadata.remove(*field)));
    let object: DynamicObject = serde_json::from_value(object).context("this is no object")?;
    let api = api_of(client, &object).await?;
    let created = api.create(&PostParams::default(), &object).await;
    let name = object.name_any();
    let created = created.with_context(|| format!("the API server refuses {name}"))?;
    if object.types.as_ref().is_some_and(|types| types.kind == "CustomResourceDefinition") {
        until_served(client, &name).await?;
    }
    created.metadata.uid.with_context(|| format!("{name} has no uid"))
}

/// What may name objects that were created later.
async fn complete(client: &Client, object: &Value) -> Result<()> {
    let typed: DynamicObject = serde_json::from_value(object.clone()).context("no object")?;
    let api = api_of(client, &typed).await?;
    let name = typed.name_any();
    let context = || format!("the API server refuses the rest of {name}");
    let metadata = json!({"metadata": {
        "labels": object.pointer("/metadata/labels"),
        "annotations": object.pointer("/metadata/annotations"),
    }});
    let plain = PatchParams::default();
    api.patch(&name, &plain, &Patch::Merge(&metadata)).await.with_context(context)?;
    if let Some(status) = object.get("status") {
        let status = Patch::Merge(json!({ "status": status }));
        api.patch_status(&name, &plain, &status).await.with_context(context)?;
    }
    Ok(())
}

async fn until_served(client: &Client, name: &str) -> Result<()> {
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    let served = wait::until(&crds, name, "be established", |crd: &CustomResourceDefinition| {
        let conditions = crd.status.iter().flat_map(|status| status.conditions.iter().flatten());
        conditions.into_iter().any(|one| one.type_ == "Established" && one.status == "True")
    });
    served.await.map(drop)
}

fn uid(object: &Value) -> String {
    text(object, "/metadata/uid").to_owned()
}

fn owners(object: &Value) -> impl Iterator<Item = &str> {
    let owners = object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    owners.into_iter().flatten().filter_map(|owner| owner.get("uid").and_then(Value::as_str))
}
