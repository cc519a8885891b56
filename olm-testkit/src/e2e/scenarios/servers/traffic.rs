//! Calls that the API server passes on to an operator, one after the other without a pause.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, PostParams};
use kube::core::GroupVersionKind;
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use super::operator::Example;
use crate::e2e::TestContext;
use crate::wait::TIMEOUT;

/// How often the number of calls is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Calls that go on until the end, or until one fails.
pub(super) struct Traffic<'a> {
    ctx: &'a TestContext,
    calls: Arc<AtomicU64>,
    stop: watch::Sender<bool>,
    task: JoinHandle<Result<()>>,
}

impl<'a> Traffic<'a> {
    /// Waits for the first call that succeeds, since the API server may not know of the servers
    /// yet; from then on none may fail.
    pub(super) async fn begin(ctx: &'a TestContext, example: &Example) -> Result<Self> {
        let caller = Caller::new(ctx, example).await?;
        let deadline = Instant::now() + TIMEOUT;
        while let Err(error) = caller.all().await {
            ensure!(Instant::now() < deadline, "the servers never answer: {error:#}");
            sleep(LOOK).await;
        }
        let (calls, (stop, stopped)) = (Arc::<AtomicU64>::default(), watch::channel(false));
        let count = Arc::clone(&calls);
        let task = tokio::spawn(async move {
            while !*stopped.borrow() {
                let failed = || format!("after {} rounds of calls", count.load(Ordering::Relaxed));
                caller.all().await.with_context(failed)?;
                count.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        });
        Ok(Self { ctx, calls, stop, task })
    }

    /// Waits for so many more rounds of calls.
    pub(super) async fn until_called(&mut self, rounds: u64) -> Result<()> {
        let wanted = self.calls.load(Ordering::Relaxed) + rounds;
        let deadline = Instant::now() + TIMEOUT;
        while self.calls.load(Ordering::Relaxed) < wanted {
            if self.task.is_finished() {
                let ended = (&mut self.task).await.context("the calls were cancelled")?;
                return ended.context("a call failed");
            }
            ensure!(Instant::now() < deadline, "calls take for ever");
            sleep(LOOK).await;
        }
        Ok(())
    }

    /// Ends the calls; fails when one has failed. The number of rounds.
    pub(super) async fn end(self) -> Result<u64> {
        // No server listens any more when a call has failed.
        let _ = self.stop.send(true);
        self.ctx.check_servers().await?;
        self.task.await.context("the calls were cancelled")??;
        Ok(self.calls.load(Ordering::Relaxed))
    }
}

/// Makes the calls.
struct Caller {
    client: Client,
    things: ConvertedObjects,
    readings: String,
    /// The kind in the version in which it is not stored, and the one in which it is.
    converted: Option<(ConvertedObjects, String)>,
}

/// The kind of the webhooks in one version.
struct ConvertedObjects {
    resource: ApiResource,
    api: Api<DynamicObject>,
}

impl Caller {
    async fn new(ctx: &TestContext, example: &Example) -> Result<Self> {
        let name = example.kind.name();
        let group = name.split_once('.').map(|(_, group)| group).unwrap_or_default();
        let api = |version: &str| {
            let kind = GroupVersionKind::gvk(group, version, "Thing");
            let resource = ApiResource::from_gvk_with_plural(&kind, "things");
            let api = Api::namespaced_with(ctx.client.clone(), &ctx.namespace, &resource);
            ConvertedObjects { resource, api }
        };
        let readings =
            format!("/apis/{}/v1/namespaces/{}/readings", example.api_group, ctx.namespace);
        let converted = example.converts().then(|| (api("v1"), format!("{group}/v2")));
        let things = api(if example.converts() { "v2" } else { "v1" });
        Ok(Self { client: ctx.client.clone(), things, readings, converted })
    }

    /// Everything once.
    async fn all(&self) -> Result<()> {
        self.admitted().await.context("an object that webhooks admit")?;
        self.denied().await.context("an object that a webhook refuses")?;
        self.read().await.context("a read of the aggregated API")?;
        match &self.converted {
            Some((older, stored)) => {
                converted(&self.things, older, stored).await.context("a read in another version")
            }
            None => Ok(()),
        }
    }

    async fn admitted(&self) -> Result<()> {
        let made = self.things.make("admitted", &[], true).await?;
        let label = made.metadata.labels.as_ref().and_then(|labels| labels.get("admitted"));
        ensure!(label.is_some(), "the mutating webhook was not called");
        Ok(())
    }

    async fn denied(&self) -> Result<()> {
        match self.things.make("denied", &["deny"], true).await {
            Err(kube::Error::Api(status)) if status.message.contains("the label deny") => Ok(()),
            Err(error) => Err(error).context("not for the reason that the webhook gives"),
            Ok(_) => bail!("the validating webhook was not called"),
        }
    }

    async fn read(&self) -> Result<()> {
        let request = http::Request::get(&self.readings).body(Vec::new())?;
        let list: Value = self.client.request(request).await?;
        ensure!(list["kind"] == "ReadingList", "an answer of another server: {list}");
        Ok(())
    }
}

impl ConvertedObjects {
    async fn make(
        &self,
        name: &str,
        labels: &[&str],
        dry_run: bool,
    ) -> kube::Result<DynamicObject> {
        let mut thing = DynamicObject::new(name, &self.resource);
        let labels = labels.iter().map(|label| ((*label).to_owned(), "x".to_owned()));
        thing.metadata.labels = Some(labels.collect());
        self.api.create(&PostParams { dry_run, ..PostParams::default() }, &thing).await
    }
}

/// One object, made in the stored version at first, is read in the other one.
async fn converted(newer: &ConvertedObjects, older: &ConvertedObjects, stored: &str) -> Result<()> {
    if newer.api.get_opt("converted").await?.is_none() {
        newer.make("converted", &[], false).await?;
    }
    let read = older.api.get("converted").await?;
    let annotations = read.metadata.annotations.unwrap_or_default();
    let from = annotations.get("converted-from");
    ensure!(from.is_some_and(|from| from == stored), "the conversion webhook was not called");
    Ok(())
}
