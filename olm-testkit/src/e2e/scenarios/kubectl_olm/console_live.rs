//! The events that an open page of the console is sent.

use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout};

use super::console::Served;
use super::program::Program;
use super::subscribe;
use crate::e2e::TestContext;
use crate::wait::TIMEOUT;

/// Pages that are live at once.
const PAGES: usize = 50;

/// How often a place is asked for that is given back.
const ASK: std::time::Duration = std::time::Duration::from_millis(200);

/// What a page is sent, as far as it has come.
struct Events {
    status: StatusCode,
    body: Incoming,
    text: String,
    connection: AbortHandle,
}

/// A Subscription that comes is an event; who may not watch is sent that, and the page after the last as well.
pub(super) async fn events(ctx: Arc<TestContext>) -> Result<()> {
    let program = Program::new(&ctx).await?;
    let served = Served::start(&program, &["console"]).await?;
    let page = served.has("/installed", &["No Subscriptions", "sse-connect=\"/live?"]).await?;
    loads_its_scripts(&served, &page).await?;
    let path = format!("/live?page=installed&namespace={}", ctx.namespace);
    let mut events = Events::open(&served, &path, None).await?;
    events.until("data: live\n").await?;
    let first = events.until("event: changed\n").await?;
    let catalog = format!("/live?page=catalog&namespace={}", ctx.namespace);
    let mut cards = Events::open(&served, &catalog, None).await?;
    cards.until("data: live\n").await?;
    cards.until("event: changed\n").await?;
    let everywhere = format!("/live?page=all-installed&namespace={}", ctx.namespace);
    let mut all = Events::open(&served, &everywhere, None).await?;
    all.until("data: live\n").await?;
    all.until("event: changed\n").await?;
    subscribe(&ctx).await?;
    events.until("event: changed\n").await?;
    cards.until("event: changed\n").await?;
    served.has("/installed", &["kettle"]).await?;
    served.has("/catalog", &["sse-connect=\"/live?page=catalog&"]).await?;
    served.has("/package?name=kettle", &["sse-connect=\"/live?page=package&"]).await?;
    drop((events, cards, all));
    comes_back(&served, &path, &first).await?;
    may_not_watch(&ctx, &program, [&path, &catalog, &everywhere]).await?;
    too_many(&served, &path).await
}

/// Scripts are of this server, and are kept under addresses that change with them.
async fn loads_its_scripts(served: &Served, page: &str) -> Result<()> {
    let scripts = page.split("<script src=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let scripts: Vec<&str> = scripts.collect();
    ensure!(scripts.len() == 3, "{scripts:?}");
    for script in scripts {
        let answer = served.get(script).await?;
        ensure!(answer.status == 200 && !answer.body.is_empty(), "{script}: {}", answer.status);
        let kept = answer.headers["cache-control"].to_str()?;
        ensure!(kept.ends_with("immutable"), "{script}: {kept}");
        ensure!(answer.headers["x-content-type-options"] == "nosniff", "{script}");
    }
    let policy = served.get("/installed").await?.headers["content-security-policy"].clone();
    let policy = policy.to_str()?;
    ensure!(policy.contains("script-src 'self';") && !policy.contains("unsafe"), "{policy}");
    Ok(())
}

/// A browser that has lost its events says which was the last, and is sent what has changed since.
async fn comes_back(served: &Served, path: &str, last: &str) -> Result<()> {
    let id = last.split("id: ").nth(1).and_then(|rest| rest.lines().next());
    let mut events = Events::open(served, path, id).await?;
    events.until("event: changed\n").await.map(drop)
}

/// Who may not watch is sent what, and nothing after that.
async fn may_not_watch(
    ctx: &TestContext,
    program: &Program,
    [path, catalog, everywhere]: [&str; 3],
) -> Result<()> {
    let user = format!("{}-stranger", ctx.namespace);
    let served = Served::start(program, &["console", "--as", &user]).await?;
    let mut events = Events::open(&served, path, None).await?;
    let kinds = "subscriptions, installplans, clusterserviceversions, catalogsources";
    events.until(&format!("data: not live: may not watch {kinds} in {}\n", ctx.namespace)).await?;
    events.until("event: end\n").await?;
    events.ends().await?;
    let mut events = Events::open(&served, catalog, None).await?;
    events.until("may not watch global catalogsources\n").await?;
    events.until("event: end\n").await?;
    let mut events = Events::open(&served, everywhere, None).await?;
    events.until(&format!("data: not live: may not watch {kinds} in all namespaces\n")).await?;
    events.until("event: end\n").await.map(drop)
}

/// The page after the last is refused with the reason, until another one is closed.
async fn too_many(served: &Served, path: &str) -> Result<()> {
    let mut open = Vec::new();
    for _ in 0..PAGES {
        open.push(Events::place(served, path).await?);
    }
    let mut more = Events::open(served, path, None).await?;
    ensure!(more.status == 503, "page {PAGES}: {}", more.status);
    more.until("too many open pages").await?;
    served.has("/installed", &["kettle"]).await?;
    open.clear();
    Events::place(served, path).await.map(drop)
}

impl Events {
    async fn open(served: &Served, path: &str, last: Option<&str>) -> Result<Self> {
        let mut request =
            Request::get(path).header("host", &served.host).header("cookie", &served.cookie);
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let stream = TcpStream::connect(&served.host).await.context("nothing listens")?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let connection = tokio::spawn(connection).abort_handle();
        let asked = sender.send_request(request.body(Empty::<Bytes>::new())?);
        let response = timeout(TIMEOUT, asked).await.context("no answer")??;
        let (head, body) = response.into_parts();
        Ok(Self { status: head.status, body, text: String::new(), connection })
    }

    /// The same, as soon as there is a place: those of pages that were closed are given back within moments.
    async fn place(served: &Served, path: &str) -> Result<Self> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let events = Self::open(served, path, None).await?;
            if events.status == 200 {
                return Ok(events);
            }
            ensure!(Instant::now() < deadline, "no place is given back: {}", events.status);
            sleep(ASK).await;
        }
    }

    /// Waits until this was sent, and takes all up to there, with the rest of its event.
    async fn until(&mut self, part: &str) -> Result<String> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let found = self.text.find(part).map(|place| place + part.len());
            if let Some(end) = found {
                let rest = self.text[end..].find("\n\n").map_or(self.text.len(), |more| end + more);
                let later = self.text.split_off(rest);
                return Ok(std::mem::replace(&mut self.text, later));
            }
            let frame = tokio::time::timeout_at(deadline, self.body.frame()).await;
            let frame = frame.with_context(|| format!("no {part:?} after {:?}", self.text))?;
            let Some(frame) = frame else { bail!("the end in place of {part:?}: {:?}", self.text) };
            let data = frame?.into_data().unwrap_or_default();
            self.text.push_str(std::str::from_utf8(&data)?);
        }
    }

    /// Waits until nothing comes any more.
    async fn ends(&mut self) -> Result<()> {
        let end = timeout(TIMEOUT, self.body.frame()).await.context("it does not end")?;
        ensure!(end.is_none(), "{end:?}");
        Ok(())
    }
}

/// A page that is closed.
impl Drop for Events {
    fn drop(&mut self) {
        self.connection.abort();
    }
}
