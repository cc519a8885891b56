//! What the API server has sent to those who watch Subscriptions, by its own count.

use anyhow::{Context, Result, ensure};
use kube::Client;
use olm_testkit::wait;

use crate::metrics::sum;

/// How the count of events that were sent begins.
const SENT: &str =
    "apiserver_watch_events_total{group=\"operators.coreos.com\",resource=\"subscriptions\",";

/// How the count of those who watch all namespaces begins; of these is who is waited for.
const WATCHERS: &str = "apiserver_longrunning_requests{component=\"apiserver\",\
    group=\"operators.coreos.com\",resource=\"subscriptions\",scope=\"cluster\",subresource=\"\",\
    verb=\"WATCH\",";

/// Events of Subscriptions since a moment.
pub(super) struct SentEvents<'a> {
    client: &'a Client,
    before: f64,
}

impl<'a> SentEvents<'a> {
    /// Counts from now on.
    pub(super) async fn from_now(client: &'a Client) -> Result<Self> {
        let before = sum(&read(client).await?, SENT);
        Ok(Self { client, before })
    }

    /// Waits until every watcher was sent that many events: who reads none meanwhile finds all of them at once.
    pub(super) async fn until_each_watcher_has(&self, events: usize) -> Result<()> {
        wait::until_ok("was sent to every watcher of Subscriptions", || async move {
            let metrics = read(self.client).await?;
            let (sent, watchers) = (sum(&metrics, SENT) - self.before, sum(&metrics, WATCHERS));
            ensure!(watchers > 0.0, "Subscriptions have no watcher");
            let all = f64::from(u32::try_from(events)?) * watchers;
            ensure!(sent >= all, "{sent} events of {all} to {watchers} watchers");
            Ok::<_, anyhow::Error>(())
        })
        .await
    }
}

async fn read(client: &Client) -> Result<String> {
    let request = http::Request::get("/metrics").body(Vec::new()).context("bad request")?;
    client.request_text(request).await.context("cannot read the metrics of the API server")
}
