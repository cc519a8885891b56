//! A kind with many objects, and two versions of its operator.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use kube::api::{Api, ApiResource, DynamicObject, ListParams, PostParams};
use kube::core::GroupVersionKind;
use olm_testkit::builders::{Crd, csv};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::scale::namespaces::LoadNamespace;
use crate::scale::published::Published;

/// The first CSV and its replacement.
pub(super) const CSVS: [&str; 2] = ["store.v1.0.0", "store.v2.0.0"];

/// Objects that are created at the same time.
const SIDE_BY_SIDE: usize = 32;

/// Until a kind is served.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Between two looks whether it is.
const LOOK: Duration = Duration::from_millis(200);

/// Bytes of text in each object.
const TEXT: usize = 1024;

const GROUP: &str = "scale.example.com";

/// The first version: objects may hold anything.
pub(super) fn old() -> Published {
    let csv = csv(CSVS[0], "1.0.0").owns(&kind());
    Published { package: "store", csv, crds: vec![kind().manifest()] }
}

/// Its replacement: objects have to fit a schema, so every one of them is looked at.
pub(super) fn new() -> Published {
    let csv = csv(CSVS[1], "2.0.0").owns(&kind()).replaces(CSVS[0]);
    Published { package: "store", csv, crds: vec![stricter()] }
}

/// Creates so many objects, once their kind is served.
pub(super) async fn fill(home: &LoadNamespace, objects: usize) -> Result<()> {
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk(GROUP, "v1", "Crate"));
    let api: Api<DynamicObject> = Api::namespaced_with(home.client.clone(), &home.name, &kind);
    served(&api).await?;
    let text = "x".repeat(TEXT);
    let create = |number: usize| {
        let mut object = DynamicObject::new(&format!("crate-{number}"), &kind);
        object.data = json!({"spec": {"size": number % 100, "text": text}});
        let api = api.clone();
        async move { api.create(&PostParams::default(), &object).await.map(drop) }
    };
    let all = stream::iter((0..objects).map(create)).buffer_unordered(SIDE_BY_SIDE);
    all.try_collect::<()>().await.context("cannot create an object")
}

/// Waits until the kind is served. The API server takes its time after it accepted a CRD.
async fn served(api: &Api<DynamicObject>) -> Result<()> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        match api.list(&ListParams::default().limit(1)).await {
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            listed => return listed.map(drop).context("cannot list objects"),
        }
        ensure!(Instant::now() < deadline, "the kind is not served after {TIMEOUT:?}");
        sleep(LOOK).await;
    }
}

/// The kind in its first version.
pub(super) fn kind() -> Crd {
    Crd::new(GROUP, "v1", "Crate")
}

fn stricter() -> Value {
    let mut crd = kind().manifest();
    if let Some(schema) = crd.pointer_mut("/spec/versions/0/schema/openAPIV3Schema") {
        let size = json!({"type": "integer", "maximum": 1000});
        let text = json!({"type": "string", "maxLength": 4096});
        let spec = json!({"type": "object", "properties": {"size": size, "text": text}});
        *schema = json!({"type": "object", "properties": {"spec": spec}});
    }
    crd
}
