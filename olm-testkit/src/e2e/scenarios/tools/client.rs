//! How a program of others talks to the API server: whole objects as its Go types write them, updates
//! that are tried again on a conflict, and questions until the answer is the awaited one.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::NamespaceResourceScope;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, ListParams, PostParams};
use kube::{Resource, ResourceExt};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::e2e::TestContext;
use crate::wait::TIMEOUT;

/// How often these tools ask.
const ASK: Duration = Duration::from_millis(250);

/// How often client-go's `retry.DefaultBackoff` tries, and how long it waits after the first conflict
/// and how much longer after each further one.
const TRIES: u32 = 4;
const PAUSE: Duration = Duration::from_millis(10);
const LONGER: u32 = 5;

/// A program of others, at work in the namespace of a scenario.
pub(super) struct Tool<'a> {
    pub(super) ctx: &'a TestContext,
    /// The field manager that the API server records.
    manager: &'static str,
}

impl<'a> Tool<'a> {
    /// A program by the name of its binary.
    pub(super) fn new(ctx: &'a TestContext, manager: &'static str) -> Self {
        Self { ctx, manager }
    }

    /// The namespace that is given with `-n`.
    pub(super) fn namespace(&self) -> &'a str {
        &self.ctx.namespace
    }

    /// The objects of a kind in the namespace, whatever fields they have.
    pub(super) fn api<K>(&self) -> Api<DynamicObject>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        let resource = ApiResource::erase::<K>(&());
        Api::namespaced_with(self.ctx.client.clone(), self.namespace(), &resource)
    }

    /// The objects of a kind of the whole cluster.
    pub(super) fn cluster_api<K: Resource<DynamicType = ()>>(&self) -> Api<DynamicObject> {
        Api::all_with(self.ctx.client.clone(), &ApiResource::erase::<K>(&()))
    }

    /// An object of the namespace; `content` is all of it but the metadata.
    pub(super) fn object<K>(&self, name: &str, content: Value) -> DynamicObject
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        let resource = ApiResource::erase::<K>(&());
        DynamicObject::new(name, &resource).within(self.namespace()).data(content)
    }

    /// Creates an object.
    pub(super) async fn create<K>(&self, object: &DynamicObject) -> Result<DynamicObject>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        let made = self.api::<K>().create(&self.writing(), object).await;
        made.with_context(|| format!("cannot create {} {}", K::kind(&()), object.name_any()))
    }

    /// Reads an object, changes it and writes all of it, a few times where others were quicker.
    pub(super) async fn update<K>(
        &self,
        name: &str,
        change: impl Fn(&mut DynamicObject),
    ) -> Result<DynamicObject>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        let api = self.api::<K>();
        for pause in (0..TRIES).map(|try_| PAUSE * LONGER.pow(try_)) {
            let mut object = api.get(name).await?;
            change(&mut object);
            match api.replace(name, &self.writing(), &object).await {
                Err(kube::Error::Api(status)) if status.is_conflict() => sleep(pause).await,
                written => return written.with_context(|| format!("cannot update {name}")),
            }
        }
        bail!("others changed {} {name} before each of {TRIES} updates", K::kind(&()))
    }

    /// The objects of a kind in the namespace.
    pub(super) async fn list<K>(&self) -> Result<Vec<DynamicObject>>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        let list = self.api::<K>().list(&ListParams::default()).await;
        Ok(list.with_context(|| format!("cannot list {}", K::plural(&())))?.items)
    }

    /// Deletes an object that may be gone already.
    pub(super) async fn delete(&self, api: &Api<DynamicObject>, name: &str) -> Result<()> {
        match api.delete(name, &DeleteParams::default()).await {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            deleted => deleted.map(drop).with_context(|| format!("cannot delete {name}")),
        }
    }

    /// Deletes an object that may be gone already, and waits until it is.
    pub(super) async fn delete_and_wait(&self, api: &Api<DynamicObject>, name: &str) -> Result<()> {
        self.delete(api, name).await?;
        let kind = api.resource_url();
        until(api, name, &format!("be gone from {kind}"), |object| object.is_none()).await.map(drop)
    }

    /// Waits until the namespace has no object of a kind.
    pub(super) async fn until_none<K>(&self) -> Result<()>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let left = self.list::<K>().await?;
            if left.is_empty() {
                return Ok(());
            }
            let names: Vec<String> = left.iter().map(ResourceExt::name_any).collect();
            ensure!(Instant::now() < deadline, "{} are left: {names:?}", K::plural(&()));
            sleep(ASK).await;
        }
    }

    fn writing(&self) -> PostParams {
        PostParams { field_manager: Some(self.manager.to_owned()), ..PostParams::default() }
    }
}

/// Asks for an object until it is as awaited, which may be that it is not there.
pub(super) async fn until(
    api: &Api<DynamicObject>,
    name: &str,
    what: &str,
    is_awaited: impl Fn(Option<&DynamicObject>) -> bool,
) -> Result<Option<DynamicObject>> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let object = api.get_opt(name).await.with_context(|| format!("cannot read {name}"))?;
        if is_awaited(object.as_ref()) {
            return Ok(object);
        }
        if Instant::now() > deadline {
            let found = object.map(|object| object.data.to_string());
            bail!("waited {} s for {name} to {what}; there is {found:?}", TIMEOUT.as_secs());
        }
        sleep(ASK).await;
    }
}

/// The text at a JSON pointer into what is beside the metadata; empty where there is none, as Go's
/// types read it.
pub(super) fn text<'o>(object: &'o DynamicObject, pointer: &str) -> &'o str {
    object.data.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The list at a JSON pointer; empty where there is none.
pub(super) fn items<'o>(value: &'o Value, pointer: &str) -> &'o [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
